"""Studies ask what the papers ask: every row is a model of its own, sizes and settings are those of the text."""

import zlib
from pathlib import Path

import pytest
import torch

import hyperlab as hl
from hyperlab.experiments.measured import all_measured, choose, unite
from hyperlab.experiments.paper_studies import STUDIES, train_each, variants_of

IDS, LABELS = torch.arange(3, 15).view(2, 6), torch.arange(5, 9).view(2, 2)


def filled(model: hl.AdaptedModel) -> hl.AdaptedModel:
    "The model with every trained weight drawn anew, by its name and shape alone."
    for name, tensor in model.named_parameters():
        if tensor.requires_grad:
            chance = torch.Generator().manual_seed(zlib.crc32(f"{name}{tuple(tensor.shape)}".encode()))
            tensor.data = 0.3 * torch.randn(tensor.shape, generator=chance, dtype=tensor.dtype)
    return model.eval()


def fingerprint(variant: object) -> tuple[object, ...]:
    "What is trained, and what comes out."
    model = filled(hl.adapt("nano", variant.method, ["a", "b"], **variant.options).double())
    trained = tuple(sorted((n, tuple(p.shape)) for n, p in model.named_parameters() if p.requires_grad))
    with torch.no_grad():
        logits = model(input_ids=IDS, labels=LABELS, task="b").logits
    return trained, tuple(round(x, 6) for x in logits.flatten()[:64].tolist())


@pytest.mark.parametrize("study", [*STUDIES])
def test_no_two_rows_of_a_study_compute_the_same_function(study: str) -> None:
    seen: dict[tuple[object, ...], str] = {}
    fitting = [variant for variant in variants_of(study) if not variant.refused]
    assert len(fitting) > 1
    for variant in fitting:
        label = f"{variant.label} {dict(variant.options)}"
        other = seen.setdefault(fingerprint(variant), label)
        assert other == label, f"{label} is {other}"


def test_one_command_trains_a_model_for_each_task(tmp_path: Path) -> None:
    settings = {
        "backbone": "toy",
        "steps": 2,
        "batch_size": 4,
        "eval_every": 2,
        "eval_examples": 4,
        "max_examples": 8,
        "progress": False,
    }
    runs = train_each("adapter", "toy", tmp_path / "adapter", **settings)
    assert [run.path.name for run in runs] == ["toy-mood", "toy-pet"] and all(len(run.result["tasks"]) == 1 for run in runs)
    before = [(run.path / "result.json").read_bytes() for run in runs]
    assert [
        (run.path / "result.json").read_bytes() for run in train_each("adapter", "toy", tmp_path / "adapter", **settings)
    ] == before
    (joined,) = unite(choose(all_measured(tmp_path, shipped=False))[0])
    assert set(joined.scores) == {"toy-mood", "toy-pet"} and joined.single and len(joined.parts) == 2


def test_task_view_shows_weights_where_there_is_no_embedding() -> None:
    torch.manual_seed(0)
    model = hl.adapt("nano", "adapter-dagger", ["a", "b", "c"])
    for stack in ("encoder", "decoder"):
        plain, weights = hl.task_view(model, stack), hl.task_view(model, f"{stack} weights")
        assert (plain.values == weights.values).all() and plain.what == weights.what
