"""Studies ask what the papers ask: every row is a model of its own, sizes and settings are those of the text."""

import zlib
from pathlib import Path

import pandas as pd
import pytest
import torch

import hyperlab as hl
from hyperlab.experiments.measured import all_measured, choose, unite
from hyperlab.experiments.few_shot_study import step_candidates
from hyperlab.experiments.paper_studies import STUDIES, grid_extremes, make_sizes, read_facts, size_table, variants_of

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
    runs = hl.experiments.train_each("adapter", "toy", tmp_path / "adapter", **settings)
    assert [run.path.name for run in runs] == ["toy-mood", "toy-pet"] and all(len(run.result["tasks"]) == 1 for run in runs)
    before = [(run.path / "result.json").read_bytes() for run in runs]
    again = hl.experiments.train_each("adapter", "toy", tmp_path / "adapter", **settings)
    assert [(run.path / "result.json").read_bytes() for run in again] == before
    (joined,) = unite(choose(all_measured(tmp_path, shipped=False))[0])
    assert set(joined.scores) == {"toy-mood", "toy-pet"} and joined.single and len(joined.parts) == 2


def test_task_view_shows_weights_where_there_is_no_embedding() -> None:
    torch.manual_seed(0)
    model = hl.adapt("nano", "adapter-dagger", ["a", "b", "c"])
    for stack in ("encoder", "decoder"):
        plain, weights = hl.task_view(model, stack), hl.task_view(model, f"{stack} weights")
        assert (plain.values == weights.values).all() and plain.what == weights.what


def test_figure_9_of_hypergrid_is_a_grid_of_thirty_for_three_variants() -> None:
    variants = variants_of("hypergrid-9", "t5-base")
    assert len(variants) == 90 and not any(v.refused for v in variants)
    assert {v.options["rows"] for v in variants} == {4, 8, 16, 32, 128, 256} and all(v.options["paper_start"] for v in variants)
    made = pd.DataFrame({"options": [", ".join(f"{k}={v}" for k, v in one.options.items()) for one in variants], "mean": range(90)})
    extremes = grid_extremes(made, "rows")
    assert len(extremes) == 18 and tuple(extremes.loc[("L2", 4)]) == (4, 2, 0)
    assert tuple(grid_extremes(made, "columns").loc[("L2", 8)]) == (25, 12.5, 0)


def test_table_3_of_hyperformer_tries_two_reduction_factors() -> None:
    tried = [v for v in variants_of("hyperformer-3", "t5-small") if v.method == "adapter-dagger"]
    assert [(v.options["reduction_factor"], v.reported) for v in tried] == [(2, 80.97), (4, None)]


def test_low_resource_runs_choose_reduction_factors_on_validation(tmp_path: Path) -> None:
    settings = {"steps": 2, "batch_size": 4, "eval_every": 2, "eval_examples": 4, "progress": False, "protocol": "paper"}
    runs = list(make_sizes(["adapter", "full"], [8], [0], tmp_path, "toy", "toy", candidates=(4, 8), **settings))
    assert [run.path.name for run in runs] == ["adapter-8-0-r4", "adapter-8-0-r8", "full-8-0"]
    assert runs[0].config["recipe"]["protocol"] == "paper" and runs[1].config["model"]["options"]["reduction_factor"] == 8
    facts = read_facts(tmp_path)
    facts["average_metrics"], facts["validation"] = (
        [10.0, 90.0, 50.0],
        [2.0, 1.0, 0.0],
    )  # the best on test is not the best on validation
    table = size_table(facts)
    assert (table.loc[8, "adapter"], table.loc[8, "full"]) == ("10.0", "50.0")


def test_many_shots_have_steps_for_several_passes() -> None:
    for shots in (500, 1000, 2000):
        candidates = step_candidates(shots)
        assert candidates is not None and 0 in candidates and candidates[-1] * 16 >= 8 * shots
    assert step_candidates(499) is None
