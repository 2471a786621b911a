"""What each format holds, loaded by whom it is for; what is refused, and that nothing half-made is left."""

from pathlib import Path

import pytest
import torch
from conftest import SMALL, TASKS, awaken, batch_for, close, tiny_backbone, tiny_family
from transformers import AutoModelForCausalLM, AutoModelForSeq2SeqLM, PreTrainedModel

import hyperlab as hl


def fresh(family: str) -> PreTrainedModel:
    return tiny_backbone() if family == "t5" else tiny_family(family)


def adapted(family: str, name: str, **options: object) -> hl.AdaptedModel:
    return awaken(hl.adapt(fresh(family), name, TASKS, **(SMALL.get(name, {}) | options))).eval()


def logits(model: torch.nn.Module, batch: dict, **options: object) -> torch.Tensor:
    with torch.no_grad():
        return model(**batch, **options).logits


MERGED = [
    ("t5", "lora", {}), ("t5", "full", {}), ("t5", "intrinsic-said", {}), ("t5", "polytropon", {}),
    ("llama", "hyper-lora", {}), ("llama", "lora-shared", {}),
    ("gpt2", "lora", {"projections": ["q", "o", "up", "down"]}), ("gpt2", "bitfit", {"output_bias": False}), ("gpt2", "full", {}),
    ("bart", "bitfit", {"output_bias": False}),
]


@pytest.mark.parametrize(("family", "name", "options"), MERGED, ids=[f"{f}-{n}" for f, n, _ in MERGED])
def test_a_merged_checkpoint_needs_transformers_only(
    family: str, name: str, options: dict, batch: dict, tmp_path: Path
) -> None:
    model, batch = adapted(family, name, **options), batch_for(fresh(family), batch)
    certificate = model.export("rte", tmp_path / "rte", format="merged", limit=1e-3)
    assert certificate.differences["float64"] <= 1e-10
    kind = AutoModelForSeq2SeqLM if family in ("t5", "bart") else AutoModelForCausalLM
    loaded = kind.from_pretrained(tmp_path / "rte").eval()
    close("merged logits", logits(loaded, batch), logits(model, batch, task="rte"), bound=1e-4)  # a rounded sum, amplified
    assert not torch.allclose(logits(loaded, batch), logits(fresh(family), batch), atol=1e-3)


@pytest.mark.parametrize(("name", "options", "why"), [
    ("bitfit", {}, "encoder.0.attention.* has no bias of its own"),
    ("compacter", {}, "nonlinearity"),
    ("hyperdecoder", {}, "produces weights from each input"),
    ("hypergrid", {}, "reads each input"),
    ("prompt-tuning", {}, "no low-rank update"),
])
def test_what_can_not_be_merged_says_why(name: str, options: dict, why: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=why):
        adapted("t5", name, **options).export("rte", tmp_path / "rte", format="merged")
    assert not list(tmp_path.iterdir())


def test_a_gate_that_became_constant_is_merged(batch: dict, tmp_path: Path) -> None:
    "With Eq. 6 read literally the gate is 1.5 where its factors are zero, so merging has something to do."
    model = hl.adapt(tiny_backbone(), "hypergrid", TASKS, rows=8, columns=4, paper_start=True).eval()
    model.export("rte", tmp_path / "rte", format="merged", limit=1e-3)
    loaded = AutoModelForSeq2SeqLM.from_pretrained(tmp_path / "rte").eval()
    close("merged logits", logits(loaded, batch), logits(model, batch, task="rte"))
    before, after = (m.encoder.block[0].layer[1].DenseReluDense.wo.weight for m in (tiny_backbone(), loaded))
    torch.testing.assert_close(after, 1.5 * before)


@pytest.mark.parametrize("name", ["hyperformer++", "compacter", "adapter", "bitfit", "lora", "prompt-tuning", "hypergrid"])
def test_stored_adapters_are_read_by_hyperlab(name: str, batch: dict, tmp_path: Path) -> None:
    model = adapted("t5", name)
    certificate = model.export("rte", tmp_path / "rte", format="plain")
    assert certificate.differences["float32"] <= 1e-4 and certificate.differences["float64"] <= 1e-10
    close("stored logits", logits(hl.load(tmp_path / "rte", backbone=tiny_backbone()), batch), logits(model, batch, task="rte"))


@pytest.mark.parametrize(("name", "why"), [
    ("compacter", "changes the backbone itself"),  # its norms are trained along
    ("adapter", "norms of the task's own"),
    ("bitfit", "biases have no place in LoRA"),
    ("hypergrid", "changes the backbone itself"),
    ("full", "changes the backbone itself"),
    ("hyperdecoder", "produces weights from each input"),
])
def test_what_is_no_lora_is_refused(name: str, why: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=why):
        adapted("t5", name).export("rte", tmp_path / "rte")
    assert not list(tmp_path.iterdir())


def test_a_difference_that_is_too_large_leaves_no_folder(tmp_path: Path) -> None:
    model = adapted("t5", "lora")
    with pytest.raises(ValueError, match="nothing was written.*float64 agrees, so this is rounding"):
        model.export("rte", tmp_path / "rte", format="merged", limit=0.0)
    assert not list(tmp_path.iterdir())


def test_only_an_earlier_export_is_replaced(tmp_path: Path) -> None:
    model, folder = adapted("llama", "lora"), tmp_path / "rte"
    model.export("rte", folder)
    model.export("cola", folder)
    (folder / "adapter_config.json").write_text("{}")
    with pytest.raises(FileExistsError, match="instead of"):
        model.export("rte", folder)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("years of work")
    with pytest.raises(FileExistsError, match="other content"):
        model.export("rte", tmp_path / "mine")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["mine", "rte"]


def test_bad_requests_are_clear(tmp_path: Path) -> None:
    model = adapted("llama", "lora")
    for task, options, why in (
        ("mnli", {}, "unknown task 'mnli'"), (["rte", "mnli"], {}, "unknown task 'mnli'"), ([], {}, "at least one task"),
        ({"rte": 0.5}, {}, "adds up to 1"), ("rte", {"format": "onnx"}, "unknown format"),
        ("rte", {"precisions": ["int8"]}, "precision"),
        ("rte", {"texts": "a text"}, "list of texts"), ("rte", {"format": "merged", "approximate": True}, "expected format='peft'"),
    ):
        with pytest.raises(ValueError, match=why):
            model.export(task, tmp_path / "x", **options)
    with pytest.raises(ValueError, match="expected a folder"):
        model.export("rte")
    assert not list(tmp_path.iterdir())


TEXTS = [f"the {size} {animal} waits near the {place}" for size in ("old", "merry", "small") for animal in ("dog", "cow", "bird")
         for place in ("house", "river", "gate", "road")]


def test_a_bottleneck_goes_as_the_nearest_lora_with_its_error(tmp_path: Path) -> None:
    model = awaken(hl.adapt("nano", "adapter-dagger", ["nano-sst2"], train_norms=False)).eval()
    with pytest.raises(ValueError, match="a nonlinearity is no low-rank update"):
        model.export("nano-sst2", tmp_path / "exact")
    plain = model.export("nano-sst2", tmp_path / "rank1", texts=TEXTS, approximate=True, rank=1)
    finer = model.export("nano-sst2", tmp_path / "rank16", texts=TEXTS, approximate=True, rank=16)
    left = [sum(c.notes["unexplained on texts not seen"].values()) for c in (plain, finer)]
    assert left[1] < 0.8 * left[0]
    assert not finer.exact and finer.differences["float32"] > 0 and finer.notes["texts not seen"] == len(TEXTS) // 4
    assert sorted(p.name for p in tmp_path.iterdir()) == ["rank1", "rank16"]
