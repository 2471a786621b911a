"""What each process of tests/training/test_distributed.py does; started with the name of a job and a folder as its arguments."""

import os
import signal
import sys
import time
from pathlib import Path

import torch

import hyperlab as hl
from hyperlab.data.batches import TrainingBatches
from hyperlab.training.environment import Interruption
from toy_runs import SHORT, toy_model

METHODS = ("hyperformer++", "adapter-dagger", "full")
SETTINGS = SHORT | {"batch_size": 16, "steps": 8, "eval_every": 4, "log_every": 1, "learning_rate": 5e-4, "warmup": 0}


def train(folder: Path, method: str, dropout: float, **settings: object) -> hl.Run:
    return hl.train(toy_model(method, dropout=dropout), run_dir=folder, progress=False, report_to="none", **(SETTINGS | settings))


def compare(folder: Path) -> None:
    "Runs to be held against one process, and one that is broken off by an error and taken up again."
    for method in METHODS:
        train(folder / method, method, dropout=0.0)
    train(folder / "whole", "hyperformer++", dropout=0.1)
    plain = TrainingBatches.__getitem__
    TrainingBatches.__getitem__ = lambda self, step: plain(self, step) if step != 5 else 1 / 0
    try:
        train(folder / "broken", "hyperformer++", dropout=0.1)
    except ZeroDivisionError:
        TrainingBatches.__getitem__ = plain
    torch.distributed.barrier()
    train(folder / "broken", "hyperformer++", dropout=0.1)


def terminate(folder: Path) -> None:
    "A run whose launcher is sent SIGTERM before step 3, and passes it on; each process waits there until it comes."
    seen: list[int] = []
    plain, note = TrainingBatches.__getitem__, Interruption.note
    Interruption.note = lambda self, number, frame: (seen.append(number), note(self, number, frame))[1]

    def get(self: TrainingBatches, step: int) -> object:
        if step == 3 and self.rank == 0:
            os.kill(os.getppid(), signal.SIGTERM)
        while step == 3 and not seen:
            time.sleep(0.01)
        return plain(self, step)

    TrainingBatches.__getitem__ = get
    train(folder / "terminated", "hyperformer++", dropout=0.1)


def resume(folder: Path) -> None:
    train(folder / "terminated", "hyperformer++", dropout=0.1)


if __name__ == "__main__":
    {"compare": compare, "terminate": terminate, "resume": resume}[sys.argv[1]](Path(sys.argv[2]))
    torch.distributed.destroy_process_group()
