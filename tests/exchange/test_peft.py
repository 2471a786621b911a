"""PEFT reads what we write, and we read what PEFT writes, with the real library on tiny backbones of several families."""

import json
from pathlib import Path

import pytest
import torch
from conftest import SMALL, TASKS, awaken, batch_for, close, tiny_backbone, tiny_family
from peft import LoraConfig, PeftModel, get_peft_model
from transformers import PreTrainedModel

import hyperlab as hl

FAMILIES = ["t5", "llama", "gpt2", "bart", "qwen3"]  # grouped queries in llama and qwen3, Conv1D in gpt2
METHODS = ["lora", "lora-shared", "hyper-lora", "polytropon"]
EVERYWHERE = {"lora": {"projections": ["q", "v", "o", "down"]}, "hyper-lora": {"projections": ["q", "o", "up"]}}


def fresh(family: str) -> PreTrainedModel:
    return tiny_backbone() if family == "t5" else tiny_family(family)


def adapted(family: str, name: str, tasks: list[str] = TASKS) -> hl.AdaptedModel:
    "Moved from the start, less than elsewhere: a product of two large factors would move logits by hundreds."
    model = hl.adapt(fresh(family), name, tasks, **(SMALL.get(name, {}) | EVERYWHERE.get(name, {})))
    return awaken(model).eval()


def logits(model: torch.nn.Module, batch: dict, **options: object) -> torch.Tensor:
    with torch.no_grad():
        return model(**batch, **options).logits


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("name", METHODS)
def test_peft_computes_what_the_model_does(name: str, family: str, batch: dict, tmp_path: Path) -> None:
    model, batch = adapted(family, name), batch_for(fresh(family), batch)
    blend = {"cola": 0.4, "sst2": 0.6}
    for task, folder in (("rte", tmp_path / "rte"), (blend, tmp_path / "blend")):
        certificate = model.export(task, folder)
        assert certificate.differences["float32"] <= 1e-4 and certificate.differences["float64"] <= 1e-10
        assert certificate.largest_effect > 0.1  # without the adapter the logits are elsewhere
        loaded = PeftModel.from_pretrained(fresh(family), folder).eval()
        close("PEFT's logits", logits(loaded, batch), logits(model, batch, task=task))


def test_a_certificate_says_what_was_compared(tmp_path: Path) -> None:
    model = adapted("llama", "hyper-lora")
    model.export("rte", tmp_path / "rte")
    record = json.loads((tmp_path / "rte" / "certificate.json").read_text())
    assert record["tasks"] == {"rte": 1.0} and record["method"] == "hyper-lora" and record["exact"]
    assert record["backbone"]["fingerprint"] == model.description()["backbone"]["fingerprint"]
    assert {"hyperlab", "torch", "transformers", "peft"} == set(record["versions"])
    assert set(record["differences"]) == {"float32", "float64"} and record["probe"]["positions"] > 50


def test_all_tasks_get_a_folder_each(tmp_path: Path) -> None:
    model = adapted("llama", "lora")
    certificates = model.export(None, tmp_path / "all", progress=False)
    assert list(certificates) == TASKS == sorted(p.name for p in (tmp_path / "all").iterdir())
    model.export(["rte"], tmp_path / "some", progress=False)
    assert [p.name for p in (tmp_path / "some").iterdir()] == ["rte"]


def by_peft(family: str, folder: Path, seed: int = 0, **options: object) -> None:
    "An adapter as PEFT makes, moves and saves it."
    torch.manual_seed(seed)
    kind = "SEQ_2_SEQ_LM" if family in ("t5", "bart") else "CAUSAL_LM"
    made = get_peft_model(fresh(family), LoraConfig(task_type=kind, fan_in_fan_out=family == "gpt2", **options))
    for key, parameter in made.named_parameters():
        if "lora_B" in key:
            parameter.data.normal_(std=0.1)
    made.save_pretrained(folder)


LIBRARY = {
    "t5": [{"r": 4, "lora_alpha": 8, "target_modules": ["q", "v"]}, {"r": 2, "lora_alpha": 4, "target_modules": ["wo"]}],
    "llama": [
        {"r": 4, "lora_alpha": 6, "target_modules": ["q_proj", "k_proj"], "use_rslora": True},
        {"r": 2, "target_modules": "all-linear", "rank_pattern": {"down_proj": 3},
         "alpha_pattern": {"layers.1.self_attn.q_proj": 5}},
    ],
    "gpt2": [
        {"r": 3, "target_modules": ["c_attn", "c_proj"]},
        {"r": 2, "target_modules": ["mlp.c_fc"], "layers_to_transform": [1]},
    ],
    "bart": [{"r": 2, "target_modules": ["q_proj", "out_proj", "fc2"]}],
}


@pytest.mark.parametrize("family", LIBRARY)
def test_we_compute_what_peft_does(family: str, batch: dict, tmp_path: Path) -> None:
    for i, options in enumerate(LIBRARY[family]):
        by_peft(family, tmp_path / f"task{i}", i, **options)
    folders = sorted(tmp_path.iterdir())
    model, batch = hl.exchange.import_peft(folders, fresh(family)), batch_for(fresh(family), batch)
    assert model.tasks == [folder.name for folder in folders] and model.method.name == "lora"
    plain = logits(fresh(family), batch)
    for folder in folders:
        theirs = logits(PeftModel.from_pretrained(fresh(family), folder).eval(), batch)
        assert (theirs - plain).abs().max() > 0.01
        close("imported logits", logits(model, batch, task=folder.name), theirs)


@pytest.mark.parametrize("family", ["t5", "llama", "gpt2"])
def test_there_and_back_is_the_same(family: str, batch: dict, tmp_path: Path) -> None:
    model, batch = adapted(family, "lora"), batch_for(fresh(family), batch)
    model.export(None, tmp_path, progress=False)
    back = hl.exchange.import_peft({task: tmp_path / task for task in model.tasks}, fresh(family))
    assert set(back.sites) == set(model.sites) and back.method.rank == model.method.rank
    for task in TASKS:
        assert torch.equal(logits(back, batch, task=task), logits(model, batch, task=task))


# What can't be read is refused by its name


@pytest.mark.parametrize(("options", "named"), [
    ({"use_dora": True}, "use_dora=true"),
    ({"modules_to_save": ["embed_tokens"]}, "modules_to_save="),
    ({"bias": "lora_only"}, 'bias="lora_only"'),
    ({"lora_bias": True}, "lora_bias=true"),
    ({"init_lora_weights": "pissa"}, 'init_lora_weights="pissa"'),
])
def test_what_lora_lacks_is_refused(options: dict, named: str, tmp_path: Path) -> None:
    family = "bart" if named.startswith("lora_bias") else "llama"  # whose projections have biases
    by_peft(family, tmp_path / "rte", target_modules=["q_proj"], **options)
    with pytest.raises(ValueError, match=named):
        hl.exchange.import_peft(tmp_path / "rte", fresh(family))


def changed(folder: Path, **fields: object) -> None:
    config = json.loads((folder / "adapter_config.json").read_text())
    (folder / "adapter_config.json").write_text(json.dumps(config | fields))


def test_damaged_and_foreign_folders_are_refused(tmp_path: Path) -> None:
    folder = tmp_path / "rte"
    by_peft("llama", folder, target_modules=["q_proj"])
    imported = lambda backbone=None: hl.exchange.import_peft(folder, fresh("llama") if backbone is None else backbone)
    with pytest.raises(ValueError, match="adapts model.layers.[01].self_attn.q_proj, which is no projection"):
        imported(fresh("gpt2"))
    with pytest.raises(ValueError, match="expected an update of .* from 48 to 32"):
        imported(fresh("qwen3"))
    changed(folder, r=4)
    with pytest.raises(ValueError, match="has rank 8, and its adapter_config.json says 4"):
        imported()
    changed(folder, r=8, some_future_trick={"on": 1})
    with pytest.raises(ValueError, match="some_future_trick"):
        imported()
    changed(folder, some_future_trick=None, peft_type="IA3")
    with pytest.raises(ValueError, match="IA3"):
        imported()
    (folder / "adapter_config.json").write_text("{")
    with pytest.raises(ValueError, match="damaged"):
        imported()


def test_pickles_are_never_read(tmp_path: Path) -> None:
    by_peft("llama", tmp_path / "rte", target_modules=["q_proj"])
    (tmp_path / "rte" / "adapter_model.safetensors").rename(tmp_path / "rte" / "adapter_model.bin")
    with pytest.raises(FileNotFoundError, match="is a pickle"):
        hl.exchange.import_peft(tmp_path / "rte", fresh("llama"))


def test_an_export_goes_back_to_its_own_backbone_only(tmp_path: Path) -> None:
    adapted("llama", "lora").export("rte", tmp_path / "rte")
    other = fresh("llama")
    other.model.layers[0].mlp.up_proj.weight.data.mul_(1.5)
    with pytest.raises(ValueError, match="was exported from other weights"):
        hl.exchange.import_peft(tmp_path / "rte", other)
