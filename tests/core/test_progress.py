"""Progress under plain papermill: the terminal sees it while the notebook runs, and the saved notebook keeps one line of it."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import jupytext
import pytest

import hyperlab as hl

NOTEBOOK = """
# %%
import hyperlab.core.progress as progress
progress.SECONDS = 0.0
import hyperlab as hl
from hyperlab.nano.toy import toy_backbone, toy_tasks, toy_tokenizer
model = hl.adapt(toy_backbone(), "hyperformer++", toy_tasks(), tokenizer=toy_tokenizer())
run = hl.train(model, steps=30, eval_every=15, eval_examples=8, max_examples=32, batch_size=4, run_dir="run", report_to="none")
for _ in progress.ProgressLine(range(3), desc="a part of it", leave=False):
    pass
"""
PACKAGE = Path(hl.__file__).parent
MODULES = {str(path.relative_to(PACKAGE)): path for path in PACKAGE.rglob("*.py")}
OTHERS = {"core/progress.py", "experiments/described_study.py", "experiments/continual_study.py", "widgets/run_board.py"}


@pytest.mark.slow
def test_the_terminal_hears_of_training_and_the_notebook_keeps_one_line(tmp_path: Path) -> None:
    jupytext.write(jupytext.reads(NOTEBOOK, "py:percent"), tmp_path / "book.ipynb")
    call = [sys.executable, "-m", "papermill", "book.ipynb", "done.ipynb", "-k", "python3"]
    outside = {name: value for name, value in os.environ.items() if name != "PYTEST_CURRENT_TEST"}  # kernels look for it
    done = subprocess.run(call, cwd=tmp_path, capture_output=True, text=True, check=False, env=outside)
    assert done.returncode == 0, done.stderr[-3000:]
    assert re.search(r"run: \d+ of 30 steps", done.stderr) and re.search(r"run: step 15: .*average", done.stderr)
    outputs = [out for cell in json.loads((tmp_path / "done.ipynb").read_text())["cells"] for out in cell.get("outputs", [])]
    assert not [out for out in outputs if out.get("name") == "stderr"], outputs
    lines = ["".join(out["data"]["text/plain"]) for out in outputs if out["output_type"] == "display_data"]
    assert len(lines) == 2 and lines[0].startswith("run: 30 of 30 steps") and lines[1] == "", lines


def test_modules_show_progress_by_our_line_alone() -> None:
    "A bar of tqdm's own is red in a notebook, stays in it, and is not seen under papermill."
    asking = {name for name, path in MODULES.items() if re.search(r"^\s*(from|import) tqdm\b", path.read_text(), re.M)}
    assert "core/progress.py" in asking and asking <= OTHERS, asking - OTHERS


@pytest.mark.slow
def test_a_model_loads_without_a_bar() -> None:
    program = "import hyperlab as hl; hl.load('nano')"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert "Loading weights" not in done.stderr + done.stdout
