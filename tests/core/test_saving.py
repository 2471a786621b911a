"""Checkpoints that describe themselves, and every way in which they can be wrong."""

import json
from pathlib import Path

import pytest
import torch
from conftest import TASKS, awaken, tiny_backbone, tiny_config
from transformers import T5ForConditionalGeneration

import hyperlab as hl


def saved(folder: Path) -> Path:
    model = awaken(hl.adapt(tiny_backbone(), "hyperformer++", TASKS, reduction_factor=8))
    return model.save(folder)


def test_backbone_is_found_again_by_its_name(tmp_path: Path, batch: dict) -> None:
    tiny_backbone().save_pretrained(tmp_path / "backbone")
    model = awaken(hl.adapt(str(tmp_path / "backbone"), "hyperformer", TASKS, reduction_factor=8)).eval()
    model.save(tmp_path / "run")
    again = hl.load(tmp_path / "run")
    assert again.source.name == str(tmp_path / "backbone")
    assert again.method == model.method and again.tasks == TASKS
    assert torch.equal(again(**batch, task="rte").logits, model(**batch, task="rte").logits)
    assert not any("backbone.shared" in f or "SelfAttention" in f for f in again.trained_tensors())


def test_description_holds_everything_needed(tmp_path: Path) -> None:
    record = json.loads((saved(tmp_path) / "config.json").read_text())["hyperlab"]
    assert record["method"] == "hyperformer++" and record["tasks"] == TASKS
    assert record["options"]["reduction_factor"] == 8 and record["options"]["embedding_width"] == 64
    assert record["backbone"]["shape"]["d_model"] == 48 and {"torch", "transformers"} <= record["versions"].keys()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["config.json", record["weights"]["file"]]


@pytest.mark.parametrize("cut", [0, 1, 100, 5000])
def test_truncated_weights_are_refused(tmp_path: Path, cut: int) -> None:
    [weights] = saved(tmp_path).glob("*.safetensors")
    content = weights.read_bytes()
    weights.write_bytes(content[:cut] if cut in (0, 1) else content[:-cut])
    with pytest.raises(ValueError, match=r"truncated or overwritten: expected \d+ bytes, found \d+"):
        hl.load(tmp_path, backbone=tiny_backbone())


def test_wrong_backbones_are_refused(tmp_path: Path) -> None:
    saved(tmp_path)
    with pytest.raises(ValueError, match=r"d_model 48 \(this backbone: 32\)"):
        hl.load(tmp_path, backbone=tiny_backbone(d_model=32))
    torch.manual_seed(7)
    other = T5ForConditionalGeneration(tiny_config())
    with pytest.raises(ValueError, match="was trained on other weights"):
        hl.load(tmp_path, backbone=other)
    hl.adapt(other, "adapter", "rte")  # a refused backbone is free again


def test_no_such_checkpoint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(FileNotFoundError, match="neither a folder here nor a repository on the hub"):
        hl.load(str(tmp_path / "nowhere"))
    with pytest.raises(FileNotFoundError, match="holds no checkpoint"):
        hl.load(tmp_path)


def test_unknown_names_are_refused_with_what_is_known(batch: dict) -> None:
    model = hl.adapt(tiny_backbone(), "adapter-dagger", TASKS, reduction_factor=8)
    for task, message in {
        "mnli": "unknown task 'mnli': known are cola, rte, sst2",
        "rtee": "did you mean 'rte'",
        ("mnli", "qqp", "rte", "rte", "rte", "rte"): "unknown task 'mnli'",
    }.items():
        with pytest.raises(ValueError, match=message):
            model(**batch, task=task if isinstance(task, str) else list(task))
    with pytest.raises(ValueError, match="unknown task 'qnli'"):
        model(**batch, task={"qnli": 0.5, "mnli": 0.5})
    with pytest.raises(ValueError, match="unknown option of adapter-dagger 'reduction'.*did you mean 'reduction_factor'"):
        hl.adapt(tiny_backbone(), "adapter-dagger", TASKS, reduction=8)
    with pytest.raises(ValueError, match="unknown method 'hyperforme'.*did you mean 'hyperformer'"):
        hl.adapt(tiny_backbone(), "hyperforme", TASKS)
    with pytest.raises(TypeError, match="option 'reduction_factor' of adapter: expected a whole number, received '8'"):
        hl.adapt(tiny_backbone(), "adapter", TASKS, reduction_factor="8")


def test_a_failed_write_leaves_the_earlier_checkpoint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, batch: dict) -> None:
    model = awaken(hl.adapt(tiny_backbone(), "hyperformer++", TASKS, reduction_factor=8)).eval()
    model.save(tmp_path)
    before = model(**batch, task="rte").logits
    awaken(model)

    def full_disk(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("hyperlab.core.files.os.replace", full_disk)
        with pytest.raises(OSError, match="No space left"):
            model.save(tmp_path)
    assert not list(tmp_path.glob(".*part"))
    assert torch.equal(hl.load(tmp_path, backbone=tiny_backbone())(**batch, task="rte").logits, before)
