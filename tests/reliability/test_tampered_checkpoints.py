"""Checkpoints, backbones, options and inputs that are not what they should be are refused, by name."""

import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file

import hyperlab as hl
from conftest import SMALL, TASKS, awaken, tiny_backbone
from hyperlab.core.files import asset, fault_of, write_manifest
from hyperlab.core.model import fill
from hyperlab.nano.toy import toy_backbone, toy_tasks, toy_tokenizer

Weights = dict[str, torch.Tensor]


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    model = awaken(hl.adapt(tiny_backbone(num_layers=1), "hyperformer++", TASKS, **SMALL["hyperformer++"]))
    return model.save(tmp_path / "saved")


def rewrite(folder: Path, change: Callable[[Weights, dict[str, Any]], Any]) -> Path:
    "Change weights and description of a checkpoint, with digests that fit."
    config = json.loads((folder / "config.json").read_text())
    record = config["hyperlab"]
    path = folder / record["weights"]["file"]
    tensors = load_file(path)
    change(tensors, record)
    save_file({name: t.contiguous() for name, t in tensors.items()}, path)
    content = path.read_bytes()
    if isinstance(record.get("weights"), dict):
        record["weights"] |= {"sha256": hashlib.sha256(content).hexdigest(), "bytes": len(content)}
    (folder / "config.json").write_text(json.dumps(config))
    return folder


def refused(folder: Path, told: str, error: type[Exception] = ValueError) -> None:
    "Loading raises, and the backbone that was handed over is left as it was."
    backbone = tiny_backbone(num_layers=1)
    with pytest.raises(error, match=told):
        hl.load(folder, backbone=backbone)
    hl.adapt(backbone, "full", TASKS).detach()


TENSOR = "rule.task_embedding.weight"
WRONG_WEIGHTS: dict[str, tuple[Callable[[torch.Tensor], torch.Tensor], str]] = {
    "scalar": (lambda w: torch.tensor(0.5), r"received \(\)"),
    "one number": (lambda w: w[:1, :1], r"received \(1, 1\)"),
    "one row": (lambda w: w[:1], r"received \(1, 12\)"),
    "one column": (lambda w: w[:, :1], r"received \(3, 1\)"),
    "a dimension more": (lambda w: w[None], r"received \(1, 3, 12\)"),
    "transposed": (lambda w: w.t(), r"received \(12, 3\)"),
    "empty": (lambda w: w[:0], r"received \(0, 12\)"),
    "integers": (lambda w: w.long(), "received torch.int64"),
    "bytes": (lambda w: w.to(torch.uint8), "received torch.uint8"),
    "truth values": (lambda w: w > 0, "received torch.bool"),
    "NaN": (lambda w: w * torch.nan, "received NaN or infinite"),
    "one NaN": (lambda w: w.index_put((torch.tensor([1]), torch.tensor([2])), torch.tensor(torch.nan)), "received NaN or infinite"),
    "infinite": (lambda w: w / 0, "received NaN or infinite"),
}


@pytest.mark.parametrize("wrong", WRONG_WEIGHTS)
def test_weights_of_another_kind_are_refused_by_name(wrong: str, saved: Path) -> None:
    change, told = WRONG_WEIGHTS[wrong]
    rewrite(saved, lambda tensors, _: tensors.update({TENSOR: change(tensors[TENSOR])}))
    refused(saved, f"weight '{TENSOR}': expected .*{told}")


@pytest.mark.parametrize("wrong", ["scalar", "one NaN", "integers"])
def test_trained_weights_of_the_backbone_are_checked_too(wrong: str, saved: Path) -> None:
    name = "backbone.encoder.final_layer_norm.weight"
    made = {"scalar": torch.tensor(1.0), "one NaN": torch.full((48,), torch.nan), "integers": torch.ones(48).long()}[wrong]
    rewrite(saved, lambda tensors, _: tensors.update({name: made}))
    refused(saved, f"weight '{name}': expected")


def test_every_tensor_of_every_method_is_checked(tmp_path: Path) -> None:
    for method in hl.available_methods():
        model = awaken(hl.adapt(tiny_backbone(num_layers=1), method, TASKS, **SMALL.get(method, {})))
        for name, tensor in model.trained_tensors().items():
            if tensor.numel() > 1:
                with pytest.raises(ValueError, match=name.replace(".", r"\.") + ".*expected shape"):
                    fill(model, model.trained_tensors() | {name: tensor.flatten()[0]})
        model.save(tmp_path / method)
        hl.load(tmp_path / method, backbone=tiny_backbone(num_layers=1))


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float64])
def test_other_precisions_load_as_before(dtype: torch.dtype, saved: Path, batch: dict) -> None:
    expected = hl.load(saved, backbone=tiny_backbone(num_layers=1))(**batch, task="rte").logits
    rewrite(saved, lambda tensors, _: tensors.update({name: t.to(dtype) for name, t in tensors.items()}))
    found = hl.load(saved, backbone=tiny_backbone(num_layers=1))
    assert found.rule.task_embedding.weight.dtype is torch.float32
    torch.testing.assert_close(found(**batch, task="rte").logits, expected, atol=0.2, rtol=0.1)
    half = hl.load(saved, backbone=tiny_backbone(num_layers=1).to(torch.bfloat16))
    assert half.rule.task_embedding.weight.dtype is torch.bfloat16


DESCRIPTIONS: dict[str, tuple[Callable[[dict[str, Any]], Any], str]] = {
    "more tasks": (lambda r: r["tasks"].append("more"), r"expected shape \(4, 12\), received \(3, 12\)"),
    "one task": (lambda r: r.update(tasks=["rte"]), r"expected shape \(1, 12\), received \(3, 12\)"),
    "no tasks": (lambda r: r.update(tasks=[]), "expected at least one task name"),
    "tasks no list": (lambda r: r.update(tasks="rte"), "expected 'tasks' as list"),
    "task names that are none": (lambda r: r.update(tasks=[1, 2, 3]), "expected at least one task name"),
    "a task twice": (lambda r: r.update(tasks=["a", "a", "b"]), "must differ"),
    "other width": (lambda r: r["options"].update(task_width=13), r"expected shape \(16, 29\), received \(16, 28\)"),
    "absurd width": (lambda r: r["options"].update(task_width=10**11), "expected shape|describe no"),
    "more absurd width": (lambda r: r["options"].update(task_width=10**30), "expected shape|describe no"),
    "absurd heads": (lambda r: r["options"].update(embedding_width=10**12, projector_width=10**12), "expected shape|describe no"),
    "no width": (lambda r: r["options"].update(task_width=0), "expected 1 or more, received 0"),
    "options no record": (lambda r: r.update(options=[]), "expected 'options' as dict"),
    "no method": (lambda r: r.pop("method"), "expected 'method' as str, received no method"),
    "unknown method": (lambda r: r.update(method="hyperformer+"), "unknown method"),
    "no backbone": (lambda r: r.pop("backbone"), "expected 'backbone' as dict"),
    "no shape": (lambda r: r["backbone"].pop("shape"), "expected 'shape' as dict"),
    "no weights": (lambda r: r.pop("weights"), "expected 'weights' as dict"),
}


@pytest.mark.parametrize("wrong", DESCRIPTIONS)
def test_descriptions_that_do_not_fit_are_refused(wrong: str, saved: Path) -> None:
    change, told = DESCRIPTIONS[wrong]
    rewrite(saved, lambda _, record: change(record))
    refused(saved, told)


@pytest.mark.parametrize("name", ["../outside.safetensors", "/etc/hostname", "a/b", "..", ".", "", "a\\b", 3, None])
def test_weights_lie_in_the_folder_of_their_checkpoint(name: Any, saved: Path) -> None:
    outside = saved.parent / "outside.safetensors"
    config = json.loads((saved / "config.json").read_text())
    weights = config["hyperlab"]["weights"]
    shutil.copy(saved / weights["file"], outside)
    weights["file"] = name
    (saved / "config.json").write_text(json.dumps(config))
    refused(saved, "expected the bare name of a file|expected 'file' as str")


def test_a_file_that_is_no_weights_is_refused(saved: Path) -> None:
    config = json.loads((saved / "config.json").read_text())
    content = b"\xff" * 100
    (saved / "weights-x.safetensors").write_bytes(content)
    config["hyperlab"]["weights"] = {"file": "weights-x.safetensors", "bytes": 100, "sha256": hashlib.sha256(content).hexdigest()}
    (saved / "config.json").write_text(json.dumps(config))
    refused(saved, "holds no weights")


MANIFESTS = ["", "null", "[]", "{}", "3", '"files"', '{"files": {}}', '{"files": []}', '{"files": null}', '{"files": {"a": null}}',
             '{"files": {"a": {}}}', '{"files": {"a": {"bytes": 1}}}', '{"files": {"../a": {"bytes": 1, "sha256": ""}}}',
             "[" * 10**5, "{" * 50, "\x00"]


@pytest.mark.parametrize("text", MANIFESTS, ids=range(len(MANIFESTS)))
def test_malformed_manifests_are_passed_over(text: str, tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"1")
    write_manifest(tmp_path)
    assert fault_of(tmp_path) is None
    (tmp_path / "manifest.json").write_text(text)
    assert "manifest.json is damaged" in str(fault_of(tmp_path))
    (tmp_path / "manifest.json").write_bytes(b"\xff\xfe")
    assert "manifest.json is damaged" in str(fault_of(tmp_path))


@pytest.mark.parametrize("place", ["", " ", Path()])
def test_a_checkpoint_needs_a_folder(place: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    model = hl.adapt(tiny_backbone(num_layers=1), "bitfit", TASKS)
    with pytest.raises(ValueError, match="expected a folder for the checkpoint"):
        model.save(place)
    assert not list(tmp_path.iterdir())


@pytest.fixture
def backbone_folder(tmp_path: Path) -> Path:
    return Path(shutil.copytree(asset("nano", "backbone"), tmp_path / "backbone"))


def test_a_backbone_that_lacks_tensors_is_refused(backbone_folder: Path) -> None:
    hl.adapt(backbone_folder, "full", "rte")  # whole, with tied embeddings
    path = backbone_folder / "model.safetensors"
    tensors = load_file(path)
    lost = ["decoder.block.1.layer.2.DenseReluDense.wo.weight", "encoder.final_layer_norm.weight"]
    save_file({n: t for n, t in tensors.items() if n not in lost}, path, metadata={"format": "pt"})
    with pytest.raises(ValueError, match=f"lacks {lost[0]}, {lost[1]}"):
        hl.adapt(backbone_folder, "full", "rte")


SHAPES = {
    "more layers": ({"num_layers": 6}, r"lacks encoder\.block\.4"),
    "more decoder layers": ({"num_decoder_layers": 3}, r"lacks decoder\.block\.2"),
    "fewer layers": ({"num_layers": 3}, r"does not describe: encoder\.block\.3"),
    "absurd layers": ({"num_layers": 10**9}, "num_layers expected from 1"),
    "absurd width": ({"d_model": 10**12}, "d_model expected from 1"),
    "large width": ({"d_ff": 10**6}, "parameters, its files have"),
    "large vocabulary": ({"vocab_size": 10**7}, "parameters, its files have"),
    "negative": ({"num_heads": -2}, "num_heads expected from 1"),
    "zero": ({"d_kv": 0}, "d_kv expected from 1"),
}


@pytest.mark.parametrize("wrong", SHAPES)
def test_a_configuration_that_does_not_fit_its_weights_is_refused(wrong: str, backbone_folder: Path) -> None:
    change, told = SHAPES[wrong]
    path = backbone_folder / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with pytest.raises(ValueError, match=told):
        hl.adapt(backbone_folder, "full", "rte")


NO_NAMES = [[], "", ",", "a,,b", [""], [" "], ["a", " "], ["a,b"], ["a "], [" a"], ["a\n"], ["a", "a"], 5, None, [1], [None], {}]


@pytest.mark.parametrize("names", NO_NAMES)
def test_task_names_that_are_none_are_refused(names: Any) -> None:
    with pytest.raises(ValueError, match="expected .*task name.*received|must differ"):
        hl.adapt(tiny_backbone(num_layers=1), "bitfit", names)


def test_added_tasks_need_names_too(batch: dict) -> None:
    model = hl.adapt(tiny_backbone(num_layers=1), "bitfit", "a, b")
    assert model.tasks == ["a", "b"]
    for name in ("", " ", "c,d", "c ", " c", 5, None):
        with pytest.raises(ValueError, match=r"expected .*task name.*received"):
            model.add_task(name)
        with pytest.raises(ValueError, match=r"expected .*task name.*received"):
            model.mix(name, {"a": 1.0})
    assert model.tasks == ["a", "b"]
    for task in (5, 1.5, [1, 2, 3, 4, 5, 6], [None] * 6, object(), {"a"}):
        with pytest.raises(TypeError, match="task: expected a task name, a mixture"):
            model(**batch, task=task)


@pytest.mark.parametrize("inputs", [[], (), 5, 1.5, [1, 2], [None], ["a", 3], {"input_ids": [1]}, b"text", [["a"]]], ids=repr)
def test_inputs_that_are_no_texts_are_refused(inputs: Any) -> None:
    model = hl.adapt(toy_backbone(), "bitfit", toy_tasks(), tokenizer=toy_tokenizer())
    for ask in (model.generate, model.tokenize):
        with pytest.raises(TypeError, match="expected a text, a list of texts, or token ids as a tensor, received"):
            ask(inputs, **({} if ask == model.tokenize else {"task": model.tasks[0]}))


@pytest.mark.parametrize("shape", [(0, 3), (2, 0), (3,), (1, 1, 1), (1, 3)])
def test_token_ids_of_another_shape_are_refused(shape: tuple[int, ...]) -> None:
    ids = torch.ones(shape) if shape == (1, 3) else torch.ones(shape).long()
    model = hl.adapt(tiny_backbone(num_layers=1), "bitfit", TASKS)
    with pytest.raises(ValueError, match="expected token ids of shape"):
        model.generate(ids, task="rte")


OPTIONS: list[tuple[str, dict[str, Any]]] = [
    ("hyperformer++", {"task_width": 0}),
    ("hyperformer++", {"embedding_width": -4}),
    ("hyperformer++", {"projector_width": 0}),
    ("hyperformer++", {"reduction_factor": 0}),
    ("hyperformer++", {"reduction_factor": -1}),
    ("hyperformer++", {"places": []}),
    ("hyperformer++", {"stacks": ()}),
    ("hyperformer++", {"layers": []}),
    ("adapter-dagger", {"reduction_factor": 0}),
    ("hyperdecoder", {"encoder_size": 0}),
    ("hyperdecoder", {"hypernetwork_width": 0}),
    ("hyperdecoder", {"layer_width": -1}),
    ("task-hypernet", {"hypernetwork_width": -2}),
    ("hypergrid", {"rows": 0}),
    ("hypergrid", {"columns": -4}),
    ("polytropon", {"skills": 0}),
    ("polytropon", {"temperature": float("nan")}),
    ("prompt-tuning", {"length": 0}),
    ("compacter", {"n": 0}),
    ("compacter", {"rank": 0}),
    ("compacter", {"rule_std": float("inf")}),
    ("intrinsic-said", {"dimension": -5}),
]


@pytest.mark.parametrize(("method", "options"), OPTIONS, ids=lambda value: str(value))
def test_options_that_no_rule_can_be_built_with_are_refused(method: str, options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=f"option '{next(iter(options))}' of {method.replace('+', '.')}: expected .*received"):
        hl.adapt(tiny_backbone(num_layers=1), method, TASKS, **options)
    made = type(hl.get_method(method))(**{k: tuple(v) if isinstance(v, list) else v for k, v in options.items()})
    with pytest.raises(ValueError, match=r"expected .*received"):
        hl.adapt(tiny_backbone(num_layers=1), made, TASKS)


@pytest.mark.parametrize("features", ["given", torch.zeros(3, 0), torch.full((3, 2), torch.nan), torch.zeros(2, 4)])
def test_task_features_are_given_or_refused(features: Any) -> None:
    with pytest.raises(ValueError, match="features.*expected .*received|expected .*features.*received"):
        hl.adapt(tiny_backbone(num_layers=1), "hyperformer++", TASKS, **(SMALL["hyperformer++"] | {"task_features": features}))


def test_half_precision_is_not_trained(tmp_path: Path) -> None:
    model = hl.adapt(toy_backbone(), "bitfit", toy_tasks(), tokenizer=toy_tokenizer()).half()
    with pytest.raises(ValueError, match=r"expected weights in float32.*received torch\.float16 .*call model\.float\(\)"):
        hl.train(model, run_dir=tmp_path, steps=1, progress=False, report_to="none")
    assert not (tmp_path / "config.json").exists()
