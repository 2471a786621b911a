"""SIGKILL at random moments, for every registered method, dropout on: a run that goes on ends as the one that was left alone.

One kill per method; `HYPERLAB_LONG=1` makes eight.
"""

import os
import random
import signal
import time
from pathlib import Path
from typing import Any

import datasets
import pytest
import torch

import hyperlab as hl
from hyperlab.nano.toy import toy_backbone, toy_tasks, toy_tokenizer
from toy_runs import forked, outcome

datasets.disable_progress_bars()
KILLS = 8 if os.environ.get("HYPERLAB_LONG") else 1
SETTINGS: dict[str, Any] = {
    "steps": 6,
    "batch_size": 4,
    "learning_rate": 1e-3,
    "eval_every": 3,
    "save_every": 1,
    "eval_examples": 4,
    "log_every": 1,
    "max_examples": 16,
    "warmup": 0,
}
OPTIONS: dict[str, dict[str, Any]] = {
    "hypergrid": {"rows": 8, "columns": 4},
    "hyperdecoder": {"encoder_size": 4, "decoder_size": 4},
    "intrinsic-said": {"dimension": 200},
}


def run(method: str, folder: Path) -> hl.Run:
    "A run that is the same whenever it is made."
    torch.set_num_threads(1)
    options = OPTIONS.get(method, {"reduction_factor": 4} if hasattr(hl.get_method(method), "reduction_factor") else {})
    with torch.random.fork_rng(devices=()):
        torch.manual_seed(0)
        model = hl.adapt(toy_backbone(dropout=0.1), method, toy_tasks(), tokenizer=toy_tokenizer(), **options)
    return hl.train(model, run_dir=folder, progress=False, report_to="none", **SETTINGS)


def killed(method: str, folder: Path, step: int, late: float) -> bool:
    "Run in another process and kill it `late` seconds after the state of a step is on disk; whether that was before its end."
    child = forked(lambda: run(method, folder))
    while os.waitpid(child, os.WNOHANG) == (0, 0):
        if (folder / "checkpoints" / f"step-{step:08d}").exists():
            time.sleep(late)
            os.kill(child, signal.SIGKILL)
            return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
        time.sleep(0.001)
    return False  # it was done before


@pytest.mark.parametrize("method", hl.available_methods())
def test_killed_and_resumed_is_the_run_that_was_left_alone(method: str, tmp_path: Path) -> None:
    begin = time.perf_counter()
    whole = run(method, tmp_path / "whole")
    step_time = (time.perf_counter() - begin) / SETTINGS["steps"]
    chance, kills, attempt = random.Random(method), 0, 0
    while kills < KILLS and attempt < 4 * KILLS:
        folder, attempt = tmp_path / f"run-{attempt}", attempt + 1
        if killed(method, folder, chance.randrange(SETTINGS["steps"] - 1), chance.random() * step_time / 2):
            kills += 1
            assert outcome(run(method, folder)) == outcome(whole)
    print(f"{method}: {kills} kills, all equal")
    assert kills == KILLS
