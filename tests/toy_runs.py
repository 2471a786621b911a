"""Small real runs for the tests: the toy world, dropout on, one thread so that sums have one order."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import torch

import hyperlab as hl
from hyperlab.core.files import read_json
from hyperlab.core.vector_history import kept_vectors
from hyperlab.nano.toy import toy_backbone, toy_tasks, toy_tokenizer

SHORT: dict[str, Any] = {
    "steps": 16,
    "batch_size": 8,
    "learning_rate": 1e-2,
    "eval_every": 8,
    "save_every": 2,
    "eval_examples": 8,
    "log_every": 2,
    "max_examples": 64,
}


def toy_model(method: str = "hyperformer++", seed: int = 0, dropout: float = 0.1, **options: Any) -> hl.AdaptedModel:
    "A model that is the same whenever it is made."
    torch.set_num_threads(1)
    with torch.random.fork_rng(devices=()):
        torch.manual_seed(seed)
        if method not in ("full", "hyperdecoder"):
            options = {"reduction_factor": 4, **options}
        return hl.adapt(toy_backbone(dropout=dropout), method, toy_tasks(), tokenizer=toy_tokenizer(), **options)


def toy_run(folder: Path, method: str = "hyperformer++", **settings: Any) -> hl.Run:
    "A short run of the toy world; called again it goes on."
    return hl.train(toy_model(method), run_dir=folder, progress=False, report_to="none", **(SHORT | settings))


def outcome(run: hl.Run) -> tuple[object, ...]:
    "What must not depend on interruptions: weights, optimiser, counters, every logged number and prediction, kept vectors."
    last = run.path / "checkpoints" / f"step-{run.result['steps']:08d}"
    progress = read_json(last / "progress.json") | {"seconds": None}
    files = [(last / "optimizer.safetensors").read_bytes(), run.log_file.path.read_bytes()]
    scores = [run.result[k] for k in ("weights_sha256", "last_weights_sha256", "tasks", "validation", "selection")]
    kept = {step: path.read_bytes() for step, path in kept_vectors(run.path).items()}
    return progress, *files, *scores, run.predictions.to_json(), kept


def furthest(log: pd.DataFrame, other: pd.DataFrame) -> float:
    "The largest relative difference between the numbers of two logs; where one is missing or zero, the other has to be."
    a, b = log.select_dtypes("number"), other.select_dtypes("number")
    assert a.isna().equals(b.isna()) and (a == 0).equals(b == 0)
    return float(((a - b).abs() / b.abs()).max().max())


def forked(work: Callable[[], object]) -> int:
    "The id of a child process that does `work` and exits with 0, or with 1 after an error."
    child = os.fork()
    if child:
        return child
    code = 1
    try:
        quiet = os.open(os.devnull, os.O_WRONLY)
        os.dup2(quiet, 2)
        work()
        code = 0
    finally:
        sys.stdout.flush()
        os._exit(code)
