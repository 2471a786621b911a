"""The run board: what may be compared, every metric once, runs that grow, answers, and differences."""

from __future__ import annotations

import json
import os
import shutil
import signal
import time
from pathlib import Path
from typing import Any

import pytest
from toy_runs import SHORT, forked, toy_run

import hyperlab as hl
from hyperlab.experiments.runs import run_folders
from hyperlab.nano.toy import toy_backbone, toy_tasks, toy_tokenizer
from hyperlab.widgets import run_board


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    "Two seeds of two tasks, and a run of one task alone."
    place = tmp_path_factory.mktemp("runs")
    for seed in (0, 1):
        toy_run(place / f"both-{seed}", seed=seed, steps=60, eval_every=30, eval_examples=None)
    single = hl.adapt(toy_backbone(), "adapter-dagger", toy_tasks()[:1], tokenizer=toy_tokenizer(), reduction_factor=4)
    hl.train(single, run_dir=place / "alone", progress=False, report_to="none", **SHORT)
    return place


def test_runs_of_other_tasks_or_other_test_rows_are_not_compared(folder: Path, tmp_path: Path) -> None:
    board = hl.RunBoard(folder)
    group = {row["run"]: row["group"] for row in board.rows}
    assert group["both-0"] == group["both-1"] == 0 and group["alone"] == 1
    assert list(board.curves) and "alone" not in board.curves  # only the first group is drawn
    shutil.copytree(folder / "both-0", tmp_path / "all")
    shutil.copytree(folder / "both-0", tmp_path / "few")
    config = json.loads((tmp_path / "few" / "config.json").read_text())
    config["recipe"]["eval_examples"] = 4
    (tmp_path / "few" / "config.json").write_text(json.dumps(config))
    assert len(hl.RunBoard(tmp_path).groups) == 2


def test_no_metric_is_shown_twice(folder: Path) -> None:
    board = hl.RunBoard(folder)
    both, alone = board.groups
    assert [c[0] for c in both["columns"]] == ["average_tasks", "toy-mood accuracy", "toy-pet accuracy"]
    assert len(alone["columns"]) == 1
    board.draw(["both-0", "alone"])
    for curves in board.curves.values():
        drawn = [json.dumps(points) for name, points in curves.items() if "unreadable" not in name]
        assert len(drawn) == len(set(drawn)), list(curves)
    log = hl.Run(folder / "both-0").log
    assert "toy-pet.accuracy" in log and not [c for c in log.columns if c.startswith("tasks.")]


def test_answers_add_up_to_the_scores(folder: Path) -> None:
    board, run = hl.RunBoard(folder), hl.Run(folder / "both-0")
    for name, scores in run.result["tasks"].items():
        board.open_run("both-0", of=name)
        counts = board.opened["answers"]["counts"]
        total = sum(counts.values())
        assert 100 * counts["right"] / total == pytest.approx(scores["accuracy"])
        assert counts["unreadable"] == run.result["unreadable"][name]
    board.open_run("both-0", kind="wrong")
    kept = run.predictions
    assert all(target != answer for _, _, _, target, answer in board.opened["answers"]["rows"])
    assert board.opened["answers"]["total"] <= len(kept)
    board.asked = {"number": 1, "open": "both-0", "answers": {"kind": "half right"}}
    assert "unknown kind of answer" in board.notice


def test_only_what_differs_is_named(folder: Path) -> None:
    board = hl.RunBoard(folder)
    board.asked = {"number": 1, "compare": ["both-0", "both-1"]}
    first, *others = board.compared["rows"]
    assert first == ["recipe.seed", "0", "1"]
    assert {name for name, _, _ in others} == {f"data.train.toy-{kind}.fingerprint" for kind in ("mood", "pet")}  # the rows it drew
    board.asked = {"number": 2, "compare": ["both-0", "both-0"]}
    assert board.compared["rows"] == []


def test_a_run_is_followed_while_it_goes_on(tmp_path: Path) -> None:
    child = forked(lambda: toy_run(tmp_path / "live", steps=100_000, eval_every=50_000, save_every=None, log_every=1))
    board, steps = hl.RunBoard(tmp_path), list[int]()
    try:
        while len(set(steps)) < 4:
            assert os.waitpid(child, os.WNOHANG) == (0, 0), "the training ended"
            time.sleep(0.1)
            board.asked = {"number": board.answered + 1, "again": True}
            steps += [row["step"] for row in board.rows if row["step"]]
            if board.rows and not board.curves:
                board.asked = {"number": board.answered + 1, "draw": ["live"]}
        drawn = len(board.curves["live"]["loss"])
        assert steps == sorted(steps) and drawn >= 2 and board.rows[0]["state"] == "running" and board.rows[0]["steps"] == 100_000
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    board.refresh()
    assert board.rows[0]["state"] == "stopped" and len(board.curves["live"]["loss"]) >= drawn


def test_a_second_look_reads_only_what_changed(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(20):
        shutil.copytree(folder / "both-0", tmp_path / f"run-{number:02}", ignore=shutil.ignore_patterns("checkpoints", "model"))
    board, read = hl.RunBoard(tmp_path), list[str]()
    monkeypatch.setattr(run_board, "board_row", lambda run, read_row=run_board.board_row: read.append(run.name) or read_row(run))
    board.look()
    assert not read
    (tmp_path / "run-07" / "result.json").touch()
    board.look()
    assert read == ["run-07"]


def test_states_and_models_of_runs_are_not_searched(tmp_path: Path) -> None:
    for place in ("a", "a/checkpoints/step-00000001", "a/model", "b/c"):
        (tmp_path / place).mkdir(parents=True)
        for name in ("config.json", "log.jsonl"):
            (tmp_path / place / name).touch()
    assert run_folders(tmp_path) == [tmp_path / "a", tmp_path / "b" / "c"]


def test_long_curves_are_thinned_and_gaps_are_kept(tmp_path: Path) -> None:
    toy_run(tmp_path / "long", steps=2, eval_every=2)
    lines: list[dict[str, Any]] = [{"step": i, "loss": float("nan") if i == 4999 else 1.0} for i in range(5000)]
    (tmp_path / "long" / "log.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    points = hl.RunBoard(tmp_path).curves["long"]["loss"]
    assert len(points) <= 1001 and points[-1] == [4999, None]
