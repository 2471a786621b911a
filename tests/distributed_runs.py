"""What each process of tests/test_distributed.py does; started by torchrun with a folder as its argument."""

import sys
from pathlib import Path

import torch

import hyperlab as hl
from hyperlab.batches import TrainingBatches
from toy_runs import SHORT, toy_model

METHODS = ("hyperformer++", "adapter-dagger", "full")
SETTINGS = SHORT | {"batch_size": 16, "steps": 8, "eval_every": 4, "log_every": 1, "learning_rate": 5e-4, "warmup": 0}


def train(folder: Path, method: str, dropout: float, **settings: object) -> hl.Run:
    return hl.train(toy_model(method, dropout=dropout), run_dir=folder, progress=False, report_to="none", **(SETTINGS | settings))


def main(folder: Path) -> None:
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
    torch.distributed.destroy_process_group()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
