"""The project itself: notebooks and package agree, papermill finds its parameters, the public names resolve."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

import hyperlab as hl

ROOT = Path(__file__).resolve().parents[2]


def tags(notebook: Path) -> set[str]:
    cells = json.loads(notebook.read_text())["cells"]
    return {tag for cell in cells for tag in cell["metadata"].get("tags", [])}


def copy_of_project(to: Path) -> Path:
    for name in ("settings.ini", "README.md"):
        (to / name).write_bytes((ROOT / name).read_bytes())
    (to / "nbs").mkdir()
    (to / "hyperlab").mkdir()
    return to


def test_parameters_tag_survives_cleaning(tmp_path: Path) -> None:
    project = copy_of_project(tmp_path)
    cell = {"cell_type": "code", "id": "a1", "source": "steps: int = 10  # how many", "outputs": [], "execution_count": 3}
    cell["metadata"] = {"tags": ["parameters"], "collapsed": True}
    notebook = {"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    (project / "nbs" / "work.ipynb").write_text(json.dumps(notebook))
    subprocess.run(["nbdev_clean"], cwd=project, check=True)
    cleaned = json.loads((project / "nbs" / "work.ipynb").read_text())["cells"][0]
    assert cleaned["metadata"] == {"tags": ["parameters"]} and cleaned["execution_count"] is None


@pytest.mark.parametrize("notebook", sorted((ROOT / "nbs").glob("*.ipynb")), ids=lambda p: p.name)
def test_workbooks_have_parameters_and_a_kernel(notebook: Path) -> None:
    text = notebook.read_text()
    kernel = json.loads(text)["metadata"]["kernelspec"]
    assert kernel["language"] == "python", "papermill needs the kernel's language"
    if not notebook.name[0].isdigit() and notebook.name not in ("index.ipynb", "promises.ipynb", "results.ipynb", "tour.ipynb"):
        assert "parameters" in tags(notebook), "papermill would silently run the defaults"


def test_public_names_resolve() -> None:
    for name in dir(hl):
        assert getattr(hl, name) is not None, name


def test_import_is_silent_and_asks_no_network() -> None:
    program = """
import socket, sys
def refuse(*_): raise RuntimeError("network")
socket.socket.connect = refuse
import hyperlab as hl
hl.adapt, hl.tasks, hl.cost
print(hl.available_methods()[0], end="")
"""
    done = subprocess.run([sys.executable, "-W", "error::UserWarning", "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == hl.available_methods()[0] and done.stderr == ""
