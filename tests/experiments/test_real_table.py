"""The command of the table on real data, run on the small world: it goes on where it was, and prints what is finished."""

import os
import subprocess
import sys
from pathlib import Path

from conftest import PROJECT

from hyperlab.core.files import read_json
from hyperlab.experiments.shipped_results import real_page

SMALL = ["--backbone", "nano", "--tasks", "nano-rte", "--steps", "2", "--rows", "8", "--eval-examples", "4", "--targets"]


def real_table(place: Path, *methods: str) -> str:
    where = ["--runs", str(place / "runs"), "--results", str(place / "results")]
    command = [sys.executable, str(PROJECT / "benchmarks" / "real_table.py"), *where, *SMALL, "--methods", *methods]
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ | {"PYTHONPATH": str(PROJECT)}, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


def test_the_table_of_real_data_is_made_run_by_run(tmp_path: Path) -> None:
    assert "adapter" not in real_table(tmp_path, "hyperformer-stable").lower()
    first = (tmp_path / "runs" / "hyperformer-stable" / "result.json").stat()
    printed = real_table(tmp_path, "hyperformer-stable", "adapter-shared")
    assert (tmp_path / "runs" / "hyperformer-stable" / "result.json").stat().st_mtime_ns == first.st_mtime_ns  # not trained again
    names = {path.stem for path in (tmp_path / "results").glob("*.json")}
    assert names == {"hyperformer-stable-2-8-0", "adapter-shared-2-8-0"}
    record = read_json(tmp_path / "results" / "hyperformer-stable-2-8-0.json")
    assert record["recipe"]["steps"] == 2 and record["recipe"]["max_examples"] == 8 and record["recipe"]["rates"]["bases"] == 1e-3
    (row,) = [line for line in printed.splitlines() if line.startswith("| nano-rte, accuracy |")][-1:]
    assert row.count("|") == 4  # both methods
    assert f"{real_page({'hyperformer-stable': record}).iloc[0, 0]}" in row
