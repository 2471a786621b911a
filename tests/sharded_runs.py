"""What each process of tests/training/test_sharding.py does; started with the name of a job and a folder as its arguments."""

from __future__ import annotations

import json
import os
import signal
import sys
import warnings
from pathlib import Path
from typing import Any

import torch

import hyperlab as hl
from conftest import SMALL, awaken, tiny_family
from hyperlab.data.batches import TrainingBatches
from hyperlab.nano.toy import toy_backbone, toy_tasks, toy_tokenizer

# Batches that 1, 2 and 3 processes divide; 4 rows for evaluation, so that of three processes two have none in the last round
SETTINGS: dict[str, Any] = {"steps": 3, "batch_size": 12, "learning_rate": 1e-3, "eval_every": 3, "eval_examples": 4,
                            "log_every": 1, "max_examples": 48, "warmup": 0, "eval_batch_size": 2}  # fmt: skip
# More than a method by itself: (method, settings), by the name of the run
CASES: dict[str, tuple[str, dict[str, Any]]] = {name: (name, {}) for name in hl.available_methods()} | {
    "checkpointing": ("hyperformer++", {"gradient_checkpointing": True, "accumulate": 2}),
    "checkpointing-full": ("full", {"gradient_checkpointing": True, "accumulate": 2, "beams": 2}),
    "adafactor": ("hypergrid", {"optimizer": "adafactor"}),
    "tasks-apart": ("adapter", {"mixed": False}),
    "llama": ("hyperformer++", {}),
    "bart": ("full", {}),
}


def sharded_model(case: str, dropout: float = 0.0, dtype: torch.dtype = torch.float32) -> hl.AdaptedModel:
    "A model that is the same whenever it is made, away from its start."
    method = CASES[case][0]
    torch.set_num_threads(1)
    with torch.random.fork_rng(devices=()):
        torch.manual_seed(0)
        backbone = tiny_family(case) if case in ("llama", "bart") else toy_backbone(dropout=dropout)
        tokenizer = toy_tokenizer()
        if case == "llama":  # a decoder goes on with its prompt, which must not be closed
            tokenizer._tokenizer.post_processor = None
        return awaken(hl.adapt(backbone.to(dtype), method, toy_tasks(), tokenizer=tokenizer, **SMALL.get(method, {})))


def train(folder: Path, case: str = "hyperformer++", dropout: float = 0.0, **settings: Any) -> hl.Run:
    "A short run; without dropout one that several processes can be compared with."
    asked = SETTINGS | CASES[case][1] | settings
    return hl.train(sharded_model(case, dropout), run_dir=folder, progress=False, report_to="none", **asked)


def methods(folder: Path) -> None:
    "Every method, in one process group; from the second on, only the first process could say more."
    for case in CASES:
        train(folder / case, case, sharding="full")


if __name__ == "__main__":
    {"methods": methods}[sys.argv[1]](Path(sys.argv[2]))
    torch.distributed.destroy_process_group()
