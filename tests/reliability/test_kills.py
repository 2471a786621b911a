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
import numpy as np
import pytest
import torch

import hyperlab as hl
from hyperlab.core import vector_history
from hyperlab.nano.toy import toy_backbone, toy_tasks, toy_tokenizer
from hyperlab.training.run_folder import load_weights
from toy_runs import forked, outcome, toy_model, toy_run

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


def killed_while_vectors_are_written(folder: Path, step: int) -> None:
    "Run in another process that dies with the vectors of a step half written, under their own name."

    def work() -> None:
        whole = vector_history.publish

        def half(path: Path, data: bytes) -> None:
            if path.name == f"step-{step:08d}.safetensors":
                path.write_bytes(data[: len(data) // 2])
                os.kill(os.getpid(), signal.SIGKILL)
            whole(path, data)

        vector_history.publish = half
        toy_run(folder, save_every=4)

    child = forked(work)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL


def test_kept_vectors_of_a_killed_run_go_on_as_if_nothing_had_happened(tmp_path: Path) -> None:
    whole, folder = toy_run(tmp_path / "whole", save_every=4), tmp_path / "killed"
    killed_while_vectors_are_written(folder, 10)
    assert list(vector_history.kept_vectors(folder)) == [0, 2, 4, 6, 8, 10]
    with pytest.warns(UserWarning, match=r"step-00000010.safetensors' is damaged and is left out"):
        assert list(vector_history.read_vectors(folder)) == [0, 2, 4, 6, 8]
    resumed = toy_run(folder, save_every=4)  # from step 8: the half is written anew
    assert outcome(resumed) == outcome(whole)
    steps, again = vector_history.read_vectors(whole.path), vector_history.read_vectors(folder)
    assert list(steps) == list(range(0, 17, 2))
    for step, (tasks, values) in steps.items():
        assert again[step][0] == tasks and all(np.array_equal(again[step][1][name], v) for name, v in values.items()), step


def test_a_map_leaves_out_half_written_vectors_with_a_word(tmp_path: Path) -> None:
    run, model = toy_run(tmp_path / "run"), toy_model()
    load_weights(run.path / "model", model)
    path = vector_history.kept_vectors(run.path)[6]
    path.write_bytes(path.read_bytes()[:100])
    with pytest.warns(UserWarning, match=r"step-00000006.safetensors' is damaged and is left out"):
        assert hl.EmbeddingMap(model, history=run).steps == [0, 2, 4, 8, 10, 12, 14, 16]
