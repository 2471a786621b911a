"""Measured beside reported: every table can be shown, runs stand where they belong, and nothing is claimed of other tasks."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from toy_runs import toy_run

import hyperlab as hl
from hyperlab.core.files import write_json
from hyperlab.experiments.measured import Measured, all_measured
from hyperlab.experiments.paper_comparison import rows_with_runs
from hyperlab.papers.tables import GLUE_METRICS, known_tables, paper_table
from hyperlab.experiments.paper_comparison import reported_row

SHIPPED = all_measured()


def glue_run(value: float, **changes: object) -> Measured:
    scores = {task: dict.fromkeys(metrics, value) for task, metrics in GLUE_METRICS.items()}
    return replace(Measured("hyperformer++", {}, "t5-base", 0, scores, 0.29, 100, ("steps: 100",)), **changes)  # type: ignore[arg-type]


@pytest.mark.parametrize(("paper", "number"), known_tables(), ids=lambda x: str(x))
def test_every_table_can_be_shown(paper: str, number: int) -> None:
    page = hl.paper_comparison(paper, number, SHIPPED)
    table = paper_table(paper, number)
    assert sum(line["line"] == "reported" for line in page.lines) == len(table.rows)
    assert sum(line["line"] in ("measured", "not run") for line in page.lines) == len(table.rows)
    assert not any(line["line"] == "difference" for line in page.lines), "nano tasks are no tasks of a paper"
    if any(line["line"] == "measured" for line in page.lines):
        assert any("say nothing about the real ones" in sentence for sentence in page.words)
    assert f"Table {number}" in page._repr_html_()


def test_a_run_on_the_papers_backbone_has_a_difference_in_the_papers_average() -> None:
    page = hl.paper_comparison("hyperformer", 1, [glue_run(80.0), glue_run(82.0, seed=1)])
    place = next(i for i, line in enumerate(page.lines) if line["line"] == "measured")
    reported, measured, spread, apart = page.lines[place - 1 : place + 3]
    assert (reported["row"], reported["backbone"]) == ("HyperFormer++", "t5-base")
    assert (measured["average"], spread["average"], apart["average"]) == ("81.00", "1.41", "-5.48")
    assert measured["mrpc"] == "81.00/81.00" and apart["rte"] == f"{81 - 75.36:+.2f}"
    assert len(rows_with_runs(page.table, [glue_run(80.0)])) == 1
    assert "steps: 100" in page.words and "seeds: 2, the paper has 1" in page.words


def test_metrics_are_matched_by_name_not_by_order() -> None:
    run = glue_run(50.0, method="hyperdecoder", backbone="t5-v1_1-large")
    run = replace(run, scores=dict(run.scores) | {"mrpc": {"accuracy": 60.0, "f1": 70.0}})
    lines = lambda number: hl.paper_comparison("hyperdecoders", number, [run]).lines
    shown = lambda number: next(x for x in lines(number) if x["line"] == "measured")["mrpc"]
    assert (shown(1), shown(2)) == ("60.0/70.0", "70.0/60.0")  # the second prints F1 first


def test_other_options_and_other_backbones_stand_nowhere() -> None:
    assert not rows_with_runs(paper_table("compacter", 6), [glue_run(80.0, method="compacter", options={"n": 5})])
    assert not rows_with_runs(paper_table("hyperformer", 1), [glue_run(80.0, backbone="flan-t5-base")])
    assert not rows_with_runs(paper_table("hyperformer", 1), [one for one in SHIPPED if one.backbone == "random"])


def test_nano_runs_stand_only_where_their_kind_does() -> None:
    counted = {key: len(rows_with_runs(table, SHIPPED)) for key, table in known_tables().items()}
    assert counted["hyperformer", 1] == 10 and counted["compacter", 1] >= 2
    for key in (("hyperformer", 2), ("hyperformer", 5), ("hyperdecoders", 4), ("hyperdecoders", 10)):
        assert counted[key] == 0, key  # few-shot, memory, question answering, sizes
    whole = paper_table("hyperformer", 4)
    assert {whole.rows[i].label for i in rows_with_runs(whole, SHIPPED)} == {"HyperFormer"}  # averages only: nothing taken out
    grid = paper_table("hyperdecoders", 13)
    assert {grid.rows[i].label for i in rows_with_runs(grid, SHIPPED)} == {"Full Finetuning", "Manual-Generated"}


def single(task: str, value: float, **changes: object) -> Measured:
    scores = {task: dict.fromkeys(GLUE_METRICS[task], value)}
    return glue_run(value, **{"method": "compacter", "options": {"n": 4}, "scores": scores, "trained": 0.073} | changes)


def lines_of(page: object, label: str, kind: str = "measured") -> list[dict[str, str]]:
    "The lines of a kind under the rows of a label."
    found, row = [], ""
    for line in page.lines:
        row = line["row"] if line["line"] == "reported" else row
        found += [line] if row == label and line["line"].startswith(kind) else []
    return found


def test_runs_of_one_task_each_are_one_line() -> None:
    "Compacter's tables, and the first block of HyperFormer's Table 1: eight models are one row, and their average is there."
    eight = [single(task, 80.0 + i, seed=seed) for seed in (0, 1) for i, task in enumerate(GLUE_METRICS)]
    page = hl.paper_comparison("compacter", 1, eight)
    (line,) = lines_of(page, "Compacter")
    assert all(line[task] for task in GLUE_METRICS) and line["mrpc"] == "82.00/82.00" and line["trained %"] == "0.073"
    values = [80.0 + i for i, metrics in enumerate(GLUE_METRICS.values()) for _ in metrics]
    assert line["average"] == f"{sum(values) / len(values):.2f}"
    assert page.seeds == {"Compacter, t5-base, single task": 2} and not any("tasks in a model" in x for x in page.words)
    apart = hl.paper_comparison("hyperformer", 1, [replace(run, method="adapter", options={}) for run in eight])
    assert [line["average"] for line in lines_of(apart, "Adapters")] == [f"{sum(values) / len(values):.2f}"]
    few = hl.paper_comparison("compacter", 1, eight[:3])
    assert "average" not in lines_of(few, "Compacter")[0] and any("not tested on" in sentence for sentence in few.words)


def test_settings_are_chosen_on_validation_and_never_by_test() -> None:
    tried = [glue_run(90.0 - r, options={"reduction_factor": r}, validation=70.0 + r, seed=s) for r in (8, 16, 32) for s in (0, 1)]
    page = hl.paper_comparison("hyperformer", 1, tried)
    (line,) = lines_of(page, "HyperFormer++")
    assert line["rte"] == "58.00"  # r = 32 has the best validation, and the worst test scores
    assert "chosen on validation, 3 settings: reduction_factor=32 of 8, 16, 32" in page.words
    assert page.seeds == {"HyperFormer++, t5-base": 2}
    by_task = [
        single(t, v, recipe={"learning_rate": r}, validation=-v) for t in ("rte", "cola") for r, v in ((3e-3, 70.0), (3e-4, 60.0))
    ]
    chosen = hl.paper_comparison("compacter", 1, by_task)
    assert lines_of(chosen, "Compacter")[0]["cola"] == "60.00"
    assert "chosen on validation, 2 settings for rte: learning_rate=0.0003 of 0.003, 0.0003" in chosen.words


def full_glue(**changes: object) -> Measured:
    both = {task: dict.fromkeys(m, 80.0) for task, m in GLUE_METRICS.items()}
    for task, metrics in paper_table("hypergrid", 2).metrics.items():
        both.setdefault(task, dict.fromkeys(metrics, 60.0))
    return glue_run(0.0, **{"scores": both} | changes)


EXAMPLES = {
    ("hyperformer", 2): (glue_run(0.0, scores={"cb": {"accuracy": 70.0}}, shots=16), "HyperFormer++", {"cb": "70.00"}),
    ("hyperformer", 3): (glue_run(70.0, method="hyperformer"), "HyperFormer", {"average": "70.00"}),
    ("hyperformer", 4): (
        glue_run(70.0, method="hyperformer", backbone="t5-small", options={"task_projector": False}),
        "– Task projector",
        {"average": "70.00"},
    ),
    ("hyperformer", 5): (
        glue_run(0.0, cost={"seconds": 60, "peak_memory_bytes": {"process": 1, "device": 2**31}}),
        "HyperFormer++",
        {"memory (GB)": "2"},
    ),
    ("hyperformer", 6): (
        glue_run(0.0, cost={"seconds": 60, "peak_memory_bytes": {"process": 1}}),
        "HyperFormer++",
        {"time (min)": "10"},
    ),
    ("hyperformer", 7): (
        glue_run(1.0, options={"reduction_factor": 8}, held_out={"cola": {"matthews": 50.0}}),
        "HyperFormer++",
        {"cola": "50.00", "r": "8"},
    ),
    ("hyperdecoders", 6): (
        glue_run(
            0.0,
            method="full",
            backbone="t5-base-lm-adapt",
            scores={
                t: dict.fromkeys(m, 20.0 + 40 * (m == ("accuracy",))) for t, m in paper_table("hyperdecoders", 16).metrics.items()
            },
        ),
        "Full-finetuning",
        {"summarisation": "20.0", "nli": "60.0", "average": "40.0"},
    ),
    ("hyperdecoders", 7): (
        glue_run(0.0, method="hyperdecoder", backbone="t5-large-lm-adapt", held_out=glue_run(75.0).scores),
        "Hyperdecoder",
        {"encoder-decoder": "75.00"},
    ),
    ("hyperdecoders", 8): (
        glue_run(
            70.0,
            method="hyperdecoder",
            backbone="t5-large-lm-adapt",
            options={"encoder": "manual", "decoder": "task", "encoder_size": 50, "decoder_size": 50, "hypernetwork_width": 100},
        ),
        "Manual-Task",
        {"average": "70.0"},
    ),
    ("hyperdecoders", 9): (
        glue_run(70.0, method="hyperdecoder", backbone="t5-large-lm-adapt", options={"mlp": False}),
        "Manual-Generated, no MLP",
        {"average": "70.0"},
    ),
    ("hyperdecoders", 10): (
        glue_run(0.0, sizes={"train": {"rte": 2490}, "test": {"rte": 139}}),
        "rte",
        {"train": "2490", "test": "139"},
    ),
    ("hypergrid", 3): (
        full_glue(method="hypergrid", options={"variant": "GL", "paper_start": True}),
        "Global-Local (GL)",
        {"glue": "80.00", "superglue": "62.50", "average": "71.25"},
    ),
    ("hypergrid", 4): (full_glue(method="full", options={"train": "all-but-embeddings"}), "T5 Base", {"glue": "80.00"}),
}


@pytest.mark.parametrize(("key", "example"), EXAMPLES.items(), ids=lambda x: str(x) if len(x) == 2 else "")
def test_a_run_fills_its_place_in_every_kind_of_table(key: tuple[str, int], example: tuple[Measured, str, dict[str, str]]) -> None:
    "Few-shot fits, averages alone, memory, time, validation, means of groups, sizes of splits."
    run, label, wanted = example
    page = hl.paper_comparison(*key, [run])
    measured = lines_of(page, label)
    assert len(measured) == 1, [line for line in page.lines if line["line"] == "measured"]
    assert {name: measured[0].get(name) for name in wanted} == wanted
    assert all(name in page.frame.columns for name in wanted)


def test_changes_are_against_the_measured_first_row() -> None:
    cost = lambda seconds: {"seconds": seconds, "peak_memory_bytes": {"process": 2**30}}
    page = hl.paper_comparison("hyperformer", 6, [glue_run(0, method="full", cost=cost(60)), glue_run(0, cost=cost(75))])
    assert lines_of(page, "HyperFormer++")[0]["difference (%)"] == "+25.00" and "difference (%)" not in lines_of(page, "T5")[0]


def test_departures_are_from_the_paper_whose_table_it_is(tmp_path: Path) -> None:
    run = toy_run(tmp_path / "run", "full", protocol="paper", selection="average")
    recipe = run.config["recipe"]
    words = lambda paper, number, **more: (
        hl.paper_comparison(paper, number, [glue_run(80.0, method="full", recipe=recipe, **more)]).words
    )
    theirs = words("hypergrid", 1, options={"train": "all-but-embeddings"})
    assert any("hypergrid's paper has" in line for line in theirs) and not any("hyperformer's paper" in line for line in theirs)
    assert "labels: class numbers, hypergrid's paper has T5's words" in theirs
    assert any("hyperformer's paper has" in line for line in words("hyperformer", 1))
    adapted, plain = (glue_run(80.0, method="hyperdecoder", backbone=b) for b in ("t5-large-lm-adapt", "t5-v1_1-large"))
    said = lambda run: " ".join(hl.paper_comparison("hyperdecoders", 1, [run]).words)
    assert "backbone" not in said(adapted) and "backbone: t5-v1_1-large, the paper has t5-large-lm-adapt" in said(plain)


def test_lm_adapted_backbones_are_known_by_name() -> None:
    for size in ("small", "base", "large", "xl", "xxl"):
        assert hl.cost(f"google/t5-{size}-lm-adapt", "bitfit").count == hl.cost(f"t5-v1_1-{size}", "bitfit").count
    assert hl.cost("google/t5-large-lm-adapt", "hyperdecoder").reported == hl.cost("t5-v1_1-large", "hyperdecoder").reported != {}
    plan = lambda name: hl.plan_run(method="hyperdecoder", backbone=name, tasks="rte", protocol="paper").departures()
    assert any(line.startswith("backbone: t5-v1_1-base") for line in plan("google/t5-v1_1-base"))
    assert not any(line.startswith("backbone") for line in plan("google/t5-base-lm-adapt"))


def test_averages_of_hypergrids_tables_exist() -> None:
    (line,) = lines_of(
        hl.paper_comparison("hypergrid", 1, [full_glue(method="full", options={"train": "all-but-embeddings"})]), "MTL"
    )
    assert line["average"] == "80.0" and line["stsb"] == line["mrpc"] == line["qqp"] == "80.0"


def test_select_looks_at_validation_only(tmp_path: Path) -> None:
    made = {
        (rate, seed): toy_run(tmp_path / f"{rate}-{seed}", learning_rate=rate, seed=seed, steps=8)
        for rate in (1e-5, 1e-2)
        for seed in (0, 1)
    }
    best = 1e-5
    for (rate, seed), run in made.items():  # one is best on validation, the other on test
        result = run.result
        result["tasks"] = {t: dict.fromkeys(found, 100.0 * (rate != best)) for t, found in result["tasks"].items()}
        result["validation"]["average"][0] = 60.0 + 5 * (rate == best) + seed
        write_json(run.path / "result.json", result)
    for by in ("learning_rate", (), ["learning_rate"]):
        choice = hl.select(tmp_path, by)
        assert {run.path for run in choice.runs} == {made[best, s].path for s in (0, 1)}
        assert list(choice.table["chosen"]) == [r == best for r in choice.table["learning_rate"]] and set(
            choice.table["seeds"]
        ) == {2}
        assert f"learning_rate={best} of" in choice.words[0]
    assert len(hl.select(tmp_path, "label_smoothing").runs) == 4  # other settings are alike in what is compared
    with pytest.raises(ValueError, match="unknown setting 'rate'"):
        hl.select(tmp_path, "rate")


def test_two_methods_are_compared_from_their_folders(tmp_path: Path) -> None:
    runs = {m: [toy_run(tmp_path / f"{m}-{s}", m, seed=s) for s in range(2)] for m in ("hyperformer++", "adapter-dagger")}
    found = hl.better(*runs.values(), resamples=100)
    assert (found.a, found.b, found.seeds) == ("hyperformer++", "adapter-dagger", (2, 2))
    for method, score in zip(runs, found.scores, strict=True):
        assert score == pytest.approx(np.mean([run.result["average_metrics"] for run in runs[method]]))
    table = hl.experiments.compare_methods(tmp_path, "adapter-dagger", resamples=50)
    assert list(table["method"]) == ["hyperformer++"] and (table["p, corrected"] >= table["p"]).all()
    other = toy_run(tmp_path / "other", "hyperformer++", eval_examples=5)
    with pytest.raises(ValueError, match="expected the same test examples in every run"):
        hl.better(other, runs["adapter-dagger"])
    assert reported_row(other) is None
    assert any(not one.nano for one in all_measured(tmp_path))
