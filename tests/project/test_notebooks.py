"""Every notebook runs from top to bottom, as `nbdev_test` runs it, each in a process of its own.

The processes are forked from one that has only imported what notebooks import, so that none of them waits for torch.
"""

import multiprocessing
import os
import sys
from pathlib import Path

import pytest
from conftest import PROJECT

# Longest first; those that only repeat what tests do are left out of make test FAST=1
LONG = ["cluster", "train", "tour", "03_planning", "efficiency", "results", "05_trainer", "02_sweep", "06_statistics"]
LONG += ["ablations", "03_few_shot_study", "fewshot", "05_parameters", "first_run", "embeddings"]
LONG += ["first_run_eight", "17_side_by_side"]
BOOKS = [path for path in (PROJECT / "nbs").rglob("*.ipynb") if not {".ipynb_checkpoints", "_proc"} & set(path.parts)]
BOOKS.sort(key=lambda path: (LONG.index(path.stem) if path.stem in LONG else len(LONG), str(path)))
PROCESSES = multiprocessing.get_context("forkserver")
PROCESSES.set_forkserver_preload(["nbdev.test", "hyperlab.core.model", "hyperlab.training.trainer", "hyperlab.nano.tasks"])


def run_notebook(path: Path, output: Path) -> None:
    "Exit with 1 if a cell fails; what is printed goes to a file."
    from nbdev.config import get_config
    from nbdev.test import test_nb

    file = os.open(output, os.O_WRONLY | os.O_CREAT)
    os.dup2(file, 1)
    os.dup2(file, 2)
    os.chdir(PROJECT / "nbs")
    multiprocessing.set_start_method("fork", force=True)  # what a notebook starts knows the notebook's classes, as in a kernel
    passed, _ = test_nb(path, skip_flags=get_config().tst_flags.split(), basepath=PROJECT)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0 if passed else 1)


def marked(path: Path) -> object:
    slow = [pytest.mark.slow] if path.stem in LONG else []
    return pytest.param(path, marks=slow, id=str(path.relative_to(PROJECT / "nbs")))


@pytest.mark.parametrize("path", [marked(path) for path in BOOKS])
def test_notebook_runs(path: Path, tmp_path: Path) -> None:
    process = PROCESSES.Process(target=run_notebook, args=(path, tmp_path / "output"))
    process.start()
    process.join(900)
    if process.is_alive():
        process.kill()
        pytest.fail(f"{path.name} takes longer than 15 minutes")
    assert process.exitcode == 0, (tmp_path / "output").read_text(errors="replace")[-3000:]
