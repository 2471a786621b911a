"""The table of many runs: the same as reading every file from front to back, from one look at each."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import hyperlab as hl
from hyperlab.core.files import asset


def change(file: Path, **changed: Any) -> None:
    file.write_text(json.dumps(json.loads(file.read_text()) | changed))


@pytest.fixture
def study(tmp_path: Path) -> Path:
    "Copies of a shipped run: finished, at work, just begun, with a line that is being written, with a long last line."
    for name in ("a/finished", "a/working", "begun", "writing", "long"):
        shutil.copytree(asset("nano", "run"), tmp_path / name, ignore=shutil.ignore_patterns("model"))
    for name in ("a/working", "begun", "writing"):
        (tmp_path / name / "result.json").unlink()
    (tmp_path / "begun" / "log.jsonl").write_text("")
    with open(tmp_path / "writing" / "log.jsonl", "a") as file:
        file.write('{"step": 1210, "loss": 1.5}\n\n{"step": 1220, "lo')
    with open(tmp_path / "long" / "log.jsonl", "a") as file:
        file.write(json.dumps({"step": 1230, "tasks": {f"task-{i}": {"accuracy": i / 7} for i in range(2000)}}) + "\n")
    return tmp_path


def plain_row(run: Path) -> dict[str, Any]:
    "A run's row from all of its files, read as anybody would."
    config = json.loads((run / "config.json").read_text())
    model, recipe = config["model"], config["recipe"]
    asked = {name: recipe[name] for name in ("protocol", "seed", "steps", "batch_size", "learning_rate", "max_examples")}
    steps = [json.loads(line)["step"] for line in (run / "log.jsonl").read_text().splitlines() if line.endswith("}")]
    row = {"run": run.name, "method": model["method"], "backbone": model["backbone"]["name"], "tasks": ", ".join(model["tasks"])}
    row |= asked | {"finished": (run / "result.json").exists(), "step": ([0] + steps)[-1]}
    if row["finished"]:
        result = json.loads((run / "result.json").read_text())
        row |= {name: result[name] for name in ("average_metrics", "average_tasks")} | result["parameters"]
        row |= {name: result["cost"][name] for name in ("seconds", "examples_per_second", "padding_waste")}
        row |= {f"{task}.{metric}": value for task, scores in result["tasks"].items() for metric, value in scores.items()}
    return row | {"path": str(run)}


def test_the_table_is_what_all_files_say(study: Path) -> None:
    expected = pd.DataFrame([plain_row(study / name) for name in ("a/finished", "a/working", "begun", "long", "writing")])
    assert expected["step"].tolist() == [1200, 1200, 0, 1230, 1210]
    pd.testing.assert_frame_equal(hl.runs(study), expected)


def test_what_changed_shows_up(study: Path) -> None:
    "Also in files of the same length, changed within a tick of the clock."
    before = hl.runs(study).set_index("run")
    change(study / "long" / "result.json", average_tasks=12.5)
    change(study / "begun" / "config.json", recipe=hl.Run(study / "begun").config["recipe"] | {"seed": 7})
    log = study / "a" / "working" / "log.jsonl"
    log.write_text(log.read_text().replace('"step": 1200', '"step": 1199'))
    after = hl.runs(study).set_index("run")
    assert (after.loc["long", "average_tasks"], after.loc["begun", "seed"], after.loc["working", "step"]) == (12.5, 7, 1199)
    untouched = ["finished", "writing"]
    pd.testing.assert_frame_equal(after.loc[untouched], before.loc[untouched])


OPENED: list[str] = []
sys.addaudithook(lambda event, given: OPENED.append(str(given[0])) if event == "open" else None)


def test_every_file_is_opened_once(study: Path) -> None:
    "Thousands of runs lie on slow disks, too."
    hl.runs(study)
    OPENED.clear()
    hl.runs(study)
    opened = sorted(name for name in OPENED if name.startswith(str(study)) and name.endswith(("json", "jsonl")))
    files = [path for path in study.rglob("*") if path.name in ("config.json", "result.json", "log.jsonl")]
    assert opened == sorted(map(str, files))
