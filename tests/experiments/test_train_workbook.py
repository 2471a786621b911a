"""nbs/train.ipynb through papermill, in processes of its own."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import nbformat
import pytest

import hyperlab as hl

PROJECT = Path(__file__).resolve().parents[2]
NOTEBOOK = PROJECT / "nbs" / "train.ipynb"
pytestmark = pytest.mark.slow
QUICK = "eval_examples=10, log_every=2, max_examples=50, save_every=2"
SMALL = {"backbone": "toy", "tasks": "toy", "steps": 40, "eval_every": 20, "batch_size": 8, "options": QUICK}


def papermill_command(target: Path, *arguments: str) -> tuple[list[str], dict[str, str]]:
    "The command a person would type, and an environment without a network."
    path = os.pathsep.join([str(PROJECT), os.environ.get("PYTHONPATH", "")])
    environment = os.environ | {"PYTHONPATH": path, "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"}
    command = [sys.executable, "-m", "papermill", str(NOTEBOOK), str(target), "-k", "python3", "--no-progress-bar"]
    return [*command, *arguments], environment


def papermill(target: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    "Run the notebook in an empty folder."
    command, environment = papermill_command(target, *arguments)
    return subprocess.run(command, env=environment, cwd=target.parent, capture_output=True, text=True, timeout=300, check=False)


def given(**values: object) -> list[str]:
    return [part for name, value in values.items() for part in ("-p", name, str(value))]


def shown(book: Path) -> str:
    "All outputs of a notebook."
    return json.dumps([o for c in nbformat.read(book, 4).cells if c.cell_type == "code" for o in c.outputs])


def test_killed_and_started_again(tmp_path: Path) -> None:
    "The kernel is killed in the middle: a non-zero exit, everything kept; the same command goes on to the table and curves."
    arguments = given(**SMALL, method="adapter-dagger", run_dir=tmp_path / "run")
    command, environment = papermill_command(tmp_path / "out.ipynb", *arguments)
    first = subprocess.Popen(command, env=environment, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    run = hl.Run(tmp_path / "run")
    while not (run.path / "checkpoints" / "step-00000004").exists():
        assert first.poll() is None
        time.sleep(0.05)
    os.kill(json.loads((run.path / "holder.json").read_text())["process"], signal.SIGKILL)
    assert first.wait(timeout=120) != 0
    assert not run.finished
    done = papermill(tmp_path / "out.ipynb", *arguments)
    assert done.returncode == 0, done.stderr[-2000:]
    assert [s["from_step"] >= 4 for s in run.sessions_file.read()] == [False, True]
    assert run.log.dropna(subset=["loss"]).step.tolist() == list(range(2, SMALL["steps"] + 1, 2))
    assert run.config["model"]["method"] == "adapter-dagger"
    assert run.config["recipe"]["max_examples"] == 50
    text = shown(tmp_path / "out.ipynb")
    for wanted in ("toy-pet", "application/vnd.plotly.v1+json", "trained per task", "loss"):
        assert wanted in text
    assert f"{SMALL['steps']} of {SMALL['steps']} steps" in text, "one line of progress, at its end"


def test_unknown_name_is_refused(tmp_path: Path) -> None:
    "A non-zero exit, the list of right ones, the notebook kept, and nothing made."
    done = papermill(tmp_path / "train.ipynb", *given(metod="full"))
    assert done.returncode != 0
    assert re.search("unknown parameter 'metod': known are method.*did you mean 'method'?", done.stderr), done.stderr[-1500:]
    assert not (tmp_path / "runs").exists()
    book = nbformat.read(tmp_path / "train.ipynb", 4)
    assert book.metadata.papermill.exception
    ran = [c for c in book.cells if c.cell_type == "code" and c.execution_count]
    assert len(ran) <= 3  # parameters, the injected cell, and the one that refuses


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"method": "hyperfomer"}, "unknown method 'hyperfomer'.*did you mean 'hyperformer'"),
        ({"tasks": "mlni"}, "unknown task 'mlni'.*did you mean 'mnli'"),
        ({"backbone": "t5-bass"}, "unknown backbone 't5-bass'.*did you mean 't5-base'"),
        ({"protocol": "papers"}, "unknown protocol 'papers': known are clean, paper, released"),
        ({"options": "temprature=3"}, "unknown option of hyperformer.. 'temprature'"),
        ({"batch_size": "many"}, "batch_size: expected a whole number, received 'many'"),
        ({"report_to": "nologger"}, "report_to: 'nologger' is not installed"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_wrong_values_are_refused_without_a_network(wrong: dict, message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("socket.socket.connect", lambda *a: pytest.fail("asked the network"))
    right = {"method": "hyperformer++", "backbone": "t5-base", "tasks": "rte", "steps": 10, "batch_size": 8, "protocol": "clean"}
    with pytest.raises(ValueError, match=message):
        hl.plan_run(**(right | wrong))


def test_help_shows_every_parameter_with_its_comment() -> None:
    command = [sys.executable, "-m", "papermill", "--help-notebook", str(NOTEBOOK)]
    found = subprocess.run(command, capture_output=True, text=True, check=True)
    from papermill import inspect_notebook

    known = inspect_notebook(str(NOTEBOOK))
    wanted = "method, backbone, tasks, steps, batch_size, learning_rate, seed, protocol, eval_every, max_examples, run_dir, options"
    assert set(wanted.split(", ")) <= set(known)
    for name, facts in known.items():
        assert f"{name}:" in found.stdout
        assert facts["help"], f"{name} has no comment"
