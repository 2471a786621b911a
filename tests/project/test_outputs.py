"""What notebooks keep: something to see, nothing that differs from run to run; and make outputs writes the same bytes twice."""

import importlib.util
import json
import os
import re
import shutil
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
SPEC = importlib.util.spec_from_file_location("outputs", ROOT / "tools" / "outputs.py")
tool = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(tool)
BOOKS = [p for p in tool.notebooks([]) if tool.KEY in json.loads(p.read_text(encoding="utf-8"))["metadata"]]
# Paths of a machine; a hub's name or ~ is none
ABSOLUTE = re.compile(r"(?<![\w.:/~…-])/(?:tmp|home|root|work|Users|usr|opt|var|mnt|private)/")


def shown(notebook: dict[str, Any]) -> list[dict[str, Any]]:
    return [output for cell in notebook["cells"] for output in cell.get("outputs", [])]


@pytest.mark.parametrize("path", BOOKS, ids=lambda p: str(p.relative_to(ROOT / "nbs")))
def test_notebook_shows_something_still_and_small(path: Path) -> None:
    notebook = json.loads(path.read_text(encoding="utf-8"))
    outputs = shown(notebook)
    assert outputs, "no text, table or figure: run `make outputs`"
    assert tool.output_bytes(notebook) <= tool.LIMIT
    assert all(cell["execution_count"] is None for cell in notebook["cells"] if cell["cell_type"] == "code")
    for output in outputs:
        assert output["output_type"] in ("stream", "display_data", "execute_result") and not output.get("execution_count")
        assert set(output.get("data", {"text/plain": ""})) <= set(tool.KEPT), "a figure or panel is kept as a picture"
        assert output.get("name", "stdout") == "stdout", "warnings and progress are not kept"
        text = json.dumps(output, ensure_ascii=False)
        assert not ABSOLUTE.search(text), ABSOLUTE.search(text)
        assert not re.search(r"\b0x[0-9a-f]{6,}", text), "the address of an object"


@pytest.mark.parametrize("path", [p for p in BOOKS if p.parent.name != "nbs"], ids=lambda p: str(p.relative_to(ROOT / "nbs")))
def test_a_chapter_opens_with_a_figure_or_a_number(path: Path) -> None:
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"][1:]:
        if cell.get("outputs"):
            return
        exported = re.search(r"^#\| exporti?\b", tool.text_of(cell["source"]), re.M)
        assert cell["cell_type"] == "code" and not exported, f"before it stands: {tool.text_of(cell['source'])[:80]}"


def project_with(tmp_path: Path, *sources: str) -> Path:
    "A project of one notebook, and the tool in it."
    cells = [{"cell_type": "code", "id": f"c{i}", "source": s, "outputs": [], "metadata": {}, "execution_count": None}
             for i, s in enumerate(sources)]
    book = {"cells": cells, "metadata": {"kernelspec": {"name": "python3", "display_name": "python3", "language": "python"}}}
    for folder in ("nbs", "tools"):
        (tmp_path / folder).mkdir()
    for name in ("settings.ini", "README.md", "tools/outputs.py"):
        shutil.copy2(ROOT / name, tmp_path / name)
    path = tmp_path / "nbs" / "book.ipynb"
    path.write_text(json.dumps(book | {"nbformat": 4, "nbformat_minor": 5}))
    return path


def refresh(path: Path) -> str:
    done = subprocess.run([sys.executable, path.parents[1] / "tools" / "outputs.py", path], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return path.read_text()


BOOK = (
    "import tempfile, time, warnings\nwarnings.warn('a warning of a library')\nprint(tempfile.mkdtemp() + '/note', object())",
    "#| volatile\nprint(f'{time.perf_counter():.6f} s')",
    "import pandas as pd\nprint('before')\ndisplay(pd.DataFrame({'a': [1]}))\nprint('10 %\\r100 %')\nopen('left', 'w').close()",
    "import plotly.graph_objects as go\ngo.Figure(go.Scatter(y=[1, 2]))",
    "#| eval: false\n1 / 0",
    "sorted({'b', 'a'}), [name for name in {'x', 'y', 'z'}]",
    "#| picture: panel.png\nimport ipywidgets\nipywidgets.IntSlider()",
    "#| readme\nprint('| a |\\n| --- |\\n| 1 |')",
)


@pytest.fixture(scope="module")
def executed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = project_with(tmp_path_factory.mktemp("project"), *BOOK)
    (path.parent / "panel.png").write_bytes(b"\x89PNG")
    refresh(path)
    return path


def test_outputs_are_the_same_bytes_twice_and_cleaning_leaves_them_alone(executed: Path) -> None:
    before = executed.read_text()
    assert refresh(executed) == before
    subprocess.run(["nbdev_clean"], cwd=executed.parents[1], check=True)
    assert executed.read_text() == before
    assert sorted(p.name for p in executed.parent.iterdir()) == ["book.ipynb", "panel.png"]


def test_outputs_without_what_is_volatile(executed: Path) -> None:
    cells = json.loads(executed.read_text())["cells"]
    assert "".join(cells[0]["outputs"][0]["text"]) == "tmp/note <object object at 0x…>\n"  # and no warning before or behind it
    kinds = [o.get("name") or sorted(o["data"]) for o in cells[2]["outputs"]]
    assert kinds == ["stdout", ["text/html", "text/plain"], "stdout"]  # in the order in which they came
    assert "".join(cells[2]["outputs"][2]["text"]) == "100 %\n"
    assert cells[3]["outputs"] == [] == cells[4]["outputs"]  # plotly's form alone is no picture; what is not run stays as it is
    assert [o["data"] for o in cells[6]["outputs"]] == [{"image/png": "iVBORw=="}]
    assert list(cells[7]["outputs"][0]["data"]) == ["text/markdown"]


def test_editing_as_text_keeps_outputs_and_tells_that_they_are_older(executed: Path, tmp_path: Path) -> None:
    path = shutil.copy2(executed, tmp_path / "book.ipynb")
    script = tmp_path / "book.py"
    subprocess.run(["jupytext", "--to", "py:percent", "-o", script, path], check=True, capture_output=True)
    script.write_text(script.read_text().replace("print('before')", "print('after')"))
    subprocess.run(["jupytext", "--to", "ipynb", "--update", "-o", path, script], check=True, capture_output=True)
    old, new = (json.loads(p.read_text()) for p in (executed, path))
    assert new["cells"][2]["source"] != old["cells"][2]["source"]
    assert all(cell["outputs"] == then["outputs"] for cell, then in zip(new["cells"], old["cells"], strict=True))
    assert new["metadata"][tool.KEY]["code"] == tool.code_fingerprint(old) != tool.code_fingerprint(new)


def test_fingerprint_is_of_code() -> None:
    cell = lambda kind, text: {"cell_type": kind, "source": text}
    book = lambda *cells: tool.code_fingerprint({"cells": list(cells)})
    assert book(cell("code", "x = 1"), cell("markdown", "why")) == book(cell("code", ["# one\n", "x = 1\n", "\n"]))
    assert book(cell("code", "x = 1")) != book(cell("code", "x = 2"))


@pytest.mark.parametrize(("before", "after", "same"), [
    ("loss 0.12345", "loss  0.12346", True), ("loss 0.1234", "loss 0.1334", False), ("12 of 20", "13 of 20", False),
    ("1,000.5 bytes", "1,000.6 bytes", True), ("<a>0.5</a>", "<b>0.5</b>", False), ("1e-12", "-3e-11", True),
])  # fmt: skip
def test_last_digits_say_nothing_new(before: str, after: str, same: bool) -> None:
    assert tool.same_text(before, after) == same
    assert tool.same_text("took 3 s", "took 7 s", volatile=True) and not tool.same_text("took 3 s", "lost 3 s", volatile=True)


def test_paths_addresses_and_ids_are_taken_out() -> None:
    text = "/tmp/x/scratch/tmpabc_1234/state, /tmp/x/scratch/work/runs/a, <f at 0x7f3a12b4c5d6>, #T_1a2b3_row0 #T_1a2b3_row1"
    assert tool.still(text, "/tmp/x/scratch") == "tmp/state, runs/a, <f at 0x…>, #T_0_row0 #T_0_row1"
    assert tool.still(f"{ROOT}/nbs/index.ipynb") == "nbs/index.ipynb"
    used = f"in use by process {os.getpid()} on {socket.gethostname()} since 2026-11-19T06:47:27+00:00"
    assert tool.still(used, "/tmp/x/scratch") == "in use by process 1234 on this machine since 2026-01-01T00:00:00"
