"""Sweeps over the real training notebook, and on Ray where it is installed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

import hyperlab as hl
from hyperlab.experiments.sweep import grid_cells, is_due

PROJECT = Path(__file__).resolve().parents[2]
NOTEBOOK = PROJECT / "nbs" / "train.ipynb"
pytestmark = pytest.mark.slow
QUICK = "eval_examples=8, max_examples=32"
SMALL = {"backbone": "toy", "tasks": "toy", "steps": 4, "eval_every": 4, "batch_size": 8, "options": QUICK}


@pytest.fixture(autouse=True)
def _project_on_the_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(PROJECT), os.environ.get("PYTHONPATH", "")]))


def test_grid_of_training_runs(tmp_path: Path) -> None:
    "Two cells side by side, one of which can't work; what is done and what failed is not run again."
    grid = {"method": ["full", "nonsense"]}
    table = hl.sweep(NOTEBOOK, tmp_path, grid, SMALL, workers=2, show=False).set_index("cell")
    assert table.state.to_dict() == {"method=full": "done", "method=nonsense": "failed"}
    assert "unknown method 'nonsense'" in table.loc["method=nonsense", "reason"]
    assert hl.runs(tmp_path).method.tolist() == ["full"]
    assert (tmp_path / "method=full" / "train.ipynb").is_file()
    stamps = {p: p.stat().st_mtime_ns for p in tmp_path.rglob("status.json")}
    hl.sweep(NOTEBOOK, tmp_path, grid, SMALL, workers=2, show=False)
    assert {p: p.stat().st_mtime_ns for p in tmp_path.rglob("status.json")} == stamps


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    "A notebook that writes its seed into its folder, and fails for seed 4 until a file says that it may pass."
    check = "import os\nassert seed != 4 or os.path.exists(run_dir + '/../mended')\n"
    cells = [
        nbformat.v4.new_code_cell("seed = 0\nrun_dir = '.'", metadata={"tags": ["parameters"]}),
        nbformat.v4.new_code_cell(check + "open(run_dir + '/seed.txt', 'w').write(str(seed))"),
    ]
    book = nbformat.v4.new_notebook(cells=cells)
    book.metadata["kernelspec"] = {"name": "python3", "display_name": "python3", "language": "python"}
    nbformat.write(book, tmp_path / "tiny.ipynb")
    return tmp_path / "tiny.ipynb"


def test_command_line_and_retry(tiny: Path, tmp_path: Path) -> None:
    "From the shell; the exit code tells of a failure; the failed cell is tried again when asked, the done one left alone."
    command = [sys.executable, "-m", "hyperlab.sweep", str(tiny), str(tmp_path / "out"), "-g", "seed=3,4", "--workers", "2"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 1, done.stderr
    assert "1 done" in done.stdout
    assert "failed: seed=4: AssertionError" in done.stdout
    (tmp_path / "out" / "mended").touch()
    (tmp_path / "out" / "seed=3" / "seed.txt").write_text("untouched")
    table = hl.sweep(tiny, tmp_path / "out", {"seed": [3, 4]}, retry=True, show=False)
    assert table.state.tolist() == ["done", "done"]
    assert [(tmp_path / "out" / f"seed={s}" / "seed.txt").read_text() for s in (3, 4)] == ["untouched", "4"]


def test_interrupted_cells_are_run_again(tiny: Path, tmp_path: Path) -> None:
    "A cell that was running when the sweep was killed is due; one that was done with other parameters is refused."
    (cell,) = grid_cells(tmp_path / "out", {"seed": [1]})
    cell.folder.mkdir(parents=True)
    cell.note("running")
    assert is_due(cell, retry=False)
    (other,) = grid_cells(tmp_path / "out", {"seed": [1]}, {"steps": 5})
    with pytest.raises(ValueError, match="choose another folder"):
        is_due(other, retry=False)


def test_ray(tiny: Path, tmp_path: Path) -> None:
    ray = pytest.importorskip("ray", reason="ray is not installed: pip install 'hyperlab[ray]'")
    try:
        table = hl.sweep(tiny, tmp_path / "out", {"seed": [5, 6]}, on="ray", workers=2, show=False)
    finally:
        ray.shutdown()
    assert table.state.tolist() == ["done", "done"]
    assert (tmp_path / "out" / "seed=6" / "seed.txt").read_text() == "6"


def test_without_ray_it_says_how_to_get_it(tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(ImportError, match=r"hyperlab\[ray\]"):
        hl.sweep(tiny, tmp_path / "out", {"seed": [1]}, on="ray", show=False)
