"""Measured beside reported: every table can be shown, runs stand where they belong, and nothing is claimed of other tasks."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from toy_runs import toy_run

import hyperlab as hl
from hyperlab.experiments.paper_comparison import Measured, all_measured, rows_with_runs
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
    for key in (("hyperformer", 2), ("hyperformer", 4), ("hyperdecoders", 4), ("hyperdecoders", 10), ("hypergrid", 3)):
        assert counted[key] == 0, key  # few-shot, averages only, question answering, sizes, other columns
    grid = paper_table("hyperdecoders", 13)
    assert {grid.rows[i].label for i in rows_with_runs(grid, SHIPPED)} == {"Full Finetuning", "Manual-Generated"}


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
