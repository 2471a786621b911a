"""What each process of tests/training/test_distributed.py does; started with the name of a job and a folder as its arguments."""

import json
import os
import signal
import sys
import time
from pathlib import Path

import torch

import hyperlab as hl
from conftest import tiny_config
from hyperlab.data.batches import TrainingBatches
from hyperlab.bench.contenders import Workload
from hyperlab.training.environment import Interruption
from toy_runs import SHORT, toy_model

METHODS = ("hyperformer++", "adapter-dagger", "full")
PLANNED = {"vocab_size": 96, "d_model": 64, "d_kv": 8, "d_ff": 128, "dropout_rate": 0.0}
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


def shard(folder: Path) -> None:
    "Steps of a model whose weights two processes share (FSDP), and the bytes that each of them holds."
    from torch.distributed.fsdp import fully_shard

    torch.distributed.init_process_group("gloo")
    mesh = torch.distributed.device_mesh.init_device_mesh("cpu", (2,))
    model = planned_model()
    for stack in (model.backbone.encoder, model.backbone.decoder):
        for block in stack.block:
            fully_shard(block, mesh=mesh)
    fully_shard(model, mesh=mesh)
    losses, gradients, optimizer = steps(model)
    local = lambda tensors: sum(t.to_local().nbytes for t in tensors if hasattr(t, "to_local"))
    moments = local(value for state in optimizer.state.values() for value in state.values())
    held = {"weights": local(model.parameters()), "gradients": local(gradients), "optimizer": moments, "losses": losses}
    (folder / f"{torch.distributed.get_rank()}.json").write_text(json.dumps(held))


def planned_model() -> hl.AdaptedModel:
    torch.manual_seed(0)
    return hl.adapt(tiny_config(**PLANNED), "hyperformer++", ["a", "b"], reduction_factor=8).train()


def steps(model: hl.AdaptedModel) -> tuple[list[float], list[torch.Tensor], torch.optim.Optimizer]:
    "Two steps: their losses, the gradients of the last, and the optimiser."
    trained = [p for p in model.parameters() if p.requires_grad]
    optimizer, batch, losses = torch.optim.AdamW(trained, lr=1e-2), Workload(4, 12, 3).batch(model.config.vocab_size, "cpu"), []
    for _ in range(2):
        optimizer.zero_grad()
        loss = model(**batch, task=["a", "b", "b", "a"]).loss
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses, [p.grad for p in trained if p.grad is not None], optimizer


if __name__ == "__main__":
    {"compare": compare, "terminate": terminate, "resume": resume, "shard": shard}[sys.argv[1]](Path(sys.argv[2]))
    torch.distributed.destroy_process_group()
