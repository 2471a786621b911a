"""Every table and figure of the papers from one command: its plan, its runs, its table, and what is shipped of it."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import hyperlab as hl
from hyperlab.experiments import known_experiments as known
from hyperlab.experiments.known_experiments import Experiment, Scale, all_experiments, experiment, experiment_folder, jobs_of
from hyperlab.experiments.measured import Measured, measure_more, more_scores, unite
from hyperlab.experiments.few_shot_study import read_numbers
from hyperlab.experiments.paper_comparison import paper_comparison
from hyperlab.experiments.paper_studies import read_facts, said, study_table
from hyperlab.experiments.reproduce import (
    experiment_table, imagined_run, pack_experiments, reproduce, reproduce_command, shipped_path, sizes_said, source_of,
    unfilled_rows)  # fmt: skip
from hyperlab.experiments.workbooks import read_task_names
from hyperlab.papers.tables import known_tables

TINY = Scale("nano", {"steps": 2, "eval_every": 2, "batch_size": 4, "max_examples": 16, "eval_examples": 6})


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    "The nano scale with two updates on two small tasks."
    monkeypatch.setitem(known.SCALES, "nano", TINY)
    monkeypatch.setitem(known.NANO_TASKS, "glue", "nano-rte,nano-mrpc")


def made(one: Experiment, folder: Path, methods: tuple[str, ...], seeds: int = 1) -> list[hl.Run]:
    "The runs of some methods of an experiment, trained here as the train workbook does."
    place, jobs = experiment_folder(one, "nano", folder), jobs_of(one, "nano", seeds)
    chosen = [job for job in jobs if job.parameters["method"] in methods]
    return [hl.plan_run(**job.parameters, run_dir=str(place / job.folder)).train(progress=False) for job in chosen]


def cells(table: Any, line: str, column: str) -> list[str]:
    return [str(value) for value in table[table["line"] == line][column] if value]


# ---------------------------------------------------------------------- the plan


def test_every_known_table_is_an_experiment_with_a_command() -> None:
    named = {(one.paper, one.table) for one in all_experiments().values() if one.table}
    assert set(known_tables()) <= named
    assert all(one.command.endswith(f"{one.paper} {one.name}") for one in all_experiments().values())


@pytest.mark.parametrize("scale", ["nano", *(pytest.param(scale, marks=pytest.mark.slow) for scale in ("small", "paper"))])
def test_a_dry_run_plans_everything_and_leaves_no_row_unfilled(scale: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert reproduce_command(["--dry-run", "--scale", scale, "--seeds", "1"]) == 0
    said = capsys.readouterr().out
    assert "can't be filled" not in said
    for one in all_experiments().values():
        assert f"{one.paper} {one.name}: {one.asks}" in said
    assert len([line for line in said.splitlines() if " hours of one device" in line]) >= 35


def test_a_row_that_no_job_fills_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    one, without = experiment("hyperdecoders", 5), known.row_variants
    monkeypatch.setattr(known, "row_variants", lambda *a: [found for found in without(*a) if found[0].method != "full"])
    table = known_tables()["hyperdecoders", 5]
    assert set(unfilled_rows(one, "nano")) == {row.label for row in table.rows if row.method == "full"}


def test_unknown_names_are_refused_with_those_that_exist(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ValueError, match="experiment of hyperformer.*table-99.*table-1"):
        experiment("hyperformer", 99)
    with pytest.raises(ValueError, match="paper.*hyperforma.*hyperformer"):
        reproduce("hyperforma", 1)
    with pytest.raises(ValueError, match="scale.*huge.*nano"):
        jobs_of(experiment("hyperformer", 1), "huge")
    for wrong in (["hyperforma"], ["hyperformer", "table-99"], ["hyperformer", "1", "--scale", "huge"]):
        with pytest.raises(SystemExit, match="2"):
            reproduce_command(wrong)
    assert "hyperformer" in capsys.readouterr().err


# ---------------------------------------------------------------------- runs and their table


@pytest.mark.slow
def test_an_experiment_runs_is_resumed_and_lands_in_its_table(
    tiny: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    every = known.row_variants(experiment("hyperformer", 1), TINY)
    two = [found for found in every if found[0].method in ("full", "hyperformer++")]
    monkeypatch.setattr(known, "row_variants", lambda *a: two)
    asked = ["hyperformer", "table-1", "--seeds", "1", "--folder", str(tmp_path)]
    assert reproduce_command(asked) == 0
    first = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("result.json")}
    assert len(first) == 2
    one = experiment("hyperformer", 1)
    table = experiment_table(one, "nano", tmp_path)
    assert len(cells(table, "measured", "rte")) == 6, "beside the rows of two backbones: two of T5, alone and together, one of ours"
    assert len(cells(table, "reported", "rte")) == len(known_tables()["hyperformer", 1].rows)
    assert reproduce_command(asked) == 0
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("result.json")} == first, "finished runs are kept"
    assert "measured" in capsys.readouterr().out


def test_a_table_is_filled_from_runs_or_from_packed_records(
    tiny: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    one, every = experiment("hyperformer", 1), known.row_variants(experiment("hyperformer", 1), TINY)
    monkeypatch.setattr(known, "row_variants", lambda *a: [v for v in every if v[0].method in ("full", "adapter-dagger")])
    made(one, tmp_path / "runs", ("full", "adapter-dagger"))
    from_runs = experiment_table(one, "nano", tmp_path / "runs")
    assert len(cells(from_runs, "measured", "rte")) == 6 and not cells(from_runs, "measured", "cola")
    assert pack_experiments([one], tmp_path / "runs", tmp_path / "shipped") == [] and not (tmp_path / "shipped").exists()
    assert "hyperformer table-1 is not packed: 4 runs are not finished (nano-full-1" in capsys.readouterr().out
    (packed,) = pack_experiments([one, experiment("hyperformer", 4)], tmp_path / "runs", tmp_path / "shipped", seeds=1)
    facts = read_facts(packed)
    assert sorted(facts["method"]) == ["adapter-dagger", "full"] and facts["share"].gt(0).all()
    assert packed == tmp_path / "shipped" / shipped_path(one).name


def test_shipped_records_count_as_measured(tmp_path: Path) -> None:
    one = experiment("hyperformer", 1)
    assert source_of(one, "nano", tmp_path) == shipped_path(one) and source_of(one, "small", tmp_path) is None
    page = hl.known_experiments(tmp_path)
    state = page.set_index(["paper", "name"])["state"]
    assert state["hyperformer", "table-1"] == f"measured on nano ({len(read_facts(shipped_path(one)))} runs, shipped)"
    assert state["hyperformer", "figure-1"] == "a drawing" and state["compacter", "table-4"] == "computed"
    assert state["hyperdecoders", "table-16"] == "not run"
    table = experiment_table(one, "nano", tmp_path)
    assert len(cells(table, "measured", "average")) >= 10


def test_models_are_asked_about_tasks_they_never_saw(tiny: None, tmp_path: Path) -> None:
    one = experiment("hyperdecoders", 5)
    runs = made(one, tmp_path, ("task-hypernet", "parallel-adapter"))
    later = known.later_tasks(one, "nano")
    assert later == ["nano-trec", "nano-cb"] and not set(later) & {name for run in runs for name in run.result["tasks"]}
    for run in runs:
        assert set(measure_more(run, later)["test"]) == set(later)
        written = (run.path / "more_scores.json").read_bytes()
        assert measure_more(run, later) == more_scores(run) and (run.path / "more_scores.json").read_bytes() == written
    table = experiment_table(one, "nano", tmp_path)
    assert cells(table, "measured", "average") and not cells(table, "measured", "bioasq")


def test_encoders_are_read_by_classifiers(tiny: None, tmp_path: Path) -> None:
    one = experiment("hyperdecoders", 7)
    (run,) = made(one, tmp_path, ("hyperdecoder",))
    assert not cells(experiment_table(one, "nano", tmp_path), "measured", "encoder-only")
    score = measure_more(run, probe=True)["validation"]["encoder-only"]["average of GLUE without STS-B"]
    assert 0 <= score <= 100
    assert cells(experiment_table(one, "nano", tmp_path), "measured", "encoder-only") == [f"{score:.2f}"]


def test_costs_of_the_small_world_stand_beside_the_papers(tiny: None, tmp_path: Path) -> None:
    one = experiment("hyperformer", 6)
    made(one, tmp_path, ("full", "hyperformer++"))
    table = experiment_table(one, "nano", tmp_path)
    assert len(cells(table, "measured", "time (min)")) == 2 and len(cells(table, "measured", "difference (%)")) == 1


def test_epochs_are_timed_with_the_largest_batch_that_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    both = [(known.Variant(name, name), "t5-small", True) for name in ("full", "compacter++")]
    monkeypatch.setattr(known, "row_variants", lambda *a: both)
    batches = {job.parameters["method"]: job.parameters["batch_size"] for job in jobs_of(experiment("compacter", 3), "paper")}
    assert 0 < batches["full"] < batches["compacter++"]
    assert hl.plan("t5-small", "full", 8, memory=24, batch_size=batches["full"]).fits
    assert not hl.plan("t5-small", "full", 8, memory=24, batch_size=batches["full"] + 2).fits


# ---------------------------------------------------------------------- every kind of table and figure


def imagined(one: Experiment, scale: str) -> list[Measured]:
    "What the jobs of an experiment would measure."
    table, later = known_tables()[one.paper, one.table or 1], known.later_tasks(one, scale)
    jobs = jobs_of(one, scale, 1)
    found = [imagined_run(job, table, later) for job in jobs if job.notebook == "train"]
    for job in (job for job in jobs if job.notebook == "fewshot"):
        source = imagined_run(next(of for of in jobs if job.parameters["source"].endswith(f"/{of.folder}")), table)
        for target in read_task_names(job.parameters["targets"]):
            scores = {target: dict.fromkeys(hl.task(target).metrics, 0.0)}
            found += [replace(source, scores=scores, shots=int(shots)) for shots in read_numbers(job.parameters["shots"])]
    return unite(found)


WITH_ROWS = [one for one in all_experiments().values() if one.table and one.kind not in ("drawing", "counts", "study")]


@pytest.mark.parametrize("scale", ["nano", pytest.param("paper", marks=pytest.mark.slow)])
@pytest.mark.parametrize("one", WITH_ROWS, ids=lambda one: f"{one.paper}-{one.name}")
def test_no_row_is_called_not_run_where_its_run_is_there(one: Experiment, scale: str) -> None:
    table = known_tables()[one.paper, one.table]
    page = paper_comparison(one.paper, one.table, imagined(one, scale), stand_in=scale != "paper")
    most = max((row.shots or 0) for row in table.rows) if scale == "paper" else known.SMALL_SHOTS
    reported = -1
    for line in page.lines:
        reported += line["line"] == "reported"
        row = table.rows[reported]
        if row.method and (row.shots or 0) <= most:
            assert line["line"] != "not run", (row.label, row.backbone, row.options)


STUDIED = [one for one in all_experiments().values() if one.kind in ("study", "sizes")]


@pytest.mark.parametrize("one", STUDIED, ids=lambda one: f"{one.paper}-{one.name}")
def test_studies_and_curves_are_filled_from_records_of_their_runs(one: Experiment, tmp_path: Path) -> None:
    lines, jobs = [], jobs_of(one, "nano", 2)
    for job in jobs:
        run, given = imagined_run(job, known_tables()[one.paper, one.table or 1]), job.parameters
        line = {"study": one.study, "method": run.method, "options": run.options, "seed": run.seed, "trained": 1}
        size = int(given.get("max_examples") or 0)
        lines.append(line | {"average_metrics": 50.0, "validation": 50.0, "max_examples": size, "finished": True, "steps": 1})
    packed = tmp_path / "records.jsonl"
    packed.write_text("\n".join(map(json.dumps, lines)))
    if one.kind == "sizes":
        table = sizes_said(read_facts(packed))
        assert list(table["examples per task"]) == list(one.sizes) and (table[list(one.methods)] == "50.0 ± 0.0").all().all()
    else:
        table = said(study_table(one.study, packed))
        assert len(table) == len(jobs) / 2 and (table["measured"] == "50.0 ± 0.0").all(), "no variant is left out"


def test_what_was_tried_is_said_under_a_study_and_under_curves(tmp_path: Path) -> None:
    one, lines = experiment("hyperformer", 3), []
    for job in jobs_of(one, "nano", 1):
        run = imagined_run(job, known_tables()["hyperformer", 3])
        best = run.options.get("reduction_factor") == 4
        line = {"study": one.study, "method": run.method, "options": run.options, "seed": 0, "trained": 1, "max_examples": 8}
        lines.append(line | {"average_metrics": 90.0 - 40 * best, "validation": 50.0 + best, "finished": True})
    (tmp_path / "records.jsonl").write_text("\n".join(map(json.dumps, lines)))
    table = said(study_table(one.study, tmp_path / "records.jsonl"))
    notes = dict(zip(table["options"], table["note"], strict=True))
    assert notes["reduction_factor=4"] == "chosen on validation, 2 settings: reduction_factor=4 of 2, 4"
    assert not notes["reduction_factor=2"]
    curves = sizes_said(read_facts(tmp_path / "records.jsonl"))
    assert curves["adapter-dagger"][0] == "50.0" and "reduction_factor=4 of 2, 4" in curves["chosen"][0]


def test_new_tasks_join_the_known_ones_in_figure_3(tiny: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(known.NANO_TASKS, "fewshot", "nano-cb,nano-imdb")
    one = experiment("hyperformer", "figure-3")
    source, fits = jobs_of(one, "nano", 1, str(tmp_path))
    made(replace(one, sizes=()), tmp_path, ("hyperformer++",))
    before = experiment_table(one, "nano", tmp_path)
    assert list(before["task"]) == ["nano-rte", "nano-mrpc"] and set(before["learned"]) == {"with the source"}
    given = fits.parameters
    assert given["source"] == str(experiment_folder(one, "nano", tmp_path) / source.folder) and given["shots"] == "100"
    where, how = experiment_folder(one, "nano", tmp_path) / fits.folder, {"candidates": [0, 2], "eval_examples": 4}
    targets, how = read_task_names(given["targets"]), how | {"save_models": given["save_models"], "progress": False}
    hl.study(given["source"], targets, [8], [0], where, **how)
    table = experiment_table(one, "nano", tmp_path).set_index("task")
    assert list(table.index) == ["nano-rte", "nano-mrpc", "nano-cb", "nano-imdb"]
    assert table.loc["nano-cb", "learned"] == "few examples" and table.loc["nano-cb", "nearest"].count("(") == 2


def test_figures_of_inputs_say_how_far_these_lie_apart(tiny: None, tmp_path: Path) -> None:
    for name, colour in (("figure-2", "task"), ("figure-3", "answer")):
        one = experiment("hyperdecoders", name)
        made(one, tmp_path, ("hyperdecoder",))
        (row,) = experiment_table(one, "nano", tmp_path).to_dict("records")
        assert row["coloured by"] == colour and row["inputs"] == 200 and 0 <= row["share of the spread between colours"] <= 1
