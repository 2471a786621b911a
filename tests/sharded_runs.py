"""What each process of tests/training/test_sharding.py does; started with the name of a job and a folder as its arguments."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.distributions import RelaxedBernoulli

import hyperlab as hl
from conftest import SMALL, awaken, tiny_config, tiny_family
from hyperlab.bench.contenders import Workload
from hyperlab.methods import polytropon
from hyperlab.nano.toy import toy_backbone, toy_tasks, toy_tokenizer
from hyperlab.training.environment import average_gradients, kept_whole, make_accelerator, prepare_forward, prepare_optimizer
from hyperlab.training.recipes import Recipe
from hyperlab.training.trainer import Trainer
from hyperlab.training.update import parameter_groups

# Batches that 1, 2 and 3 processes divide; 4 rows for evaluation, so that of three processes two have none in the last round
SETTINGS: dict[str, Any] = {"steps": 3, "batch_size": 12, "learning_rate": 2e-4, "eval_every": 3, "eval_examples": 4,
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


class Mean(RelaxedBernoulli):
    "Polytropon's choice of skills without its noise, which every process draws for itself."

    def rsample(self, *_: object) -> torch.Tensor:
        return self.probs


polytropon.RelaxedBernoulli = Mean
SEVERAL = ("hyperformer++", "full", "hypergrid", "intrinsic-said", "tasks-apart")  # that three processes repeat
PLANNED = {"vocab_size": 96, "d_model": 64, "d_kv": 8, "d_ff": 128, "dropout_rate": 0.0}
PLANS = {"hyperformer++": {"reduction_factor": 8}, "full": {}, "hypergrid": {"rows": 8, "columns": 8},
         "bitfit": {}}  # fmt: skip
LOAD = Workload(4, 12, 3)
LONG: dict[str, Any] = {"steps": 6, "save_every": 1, "dropout": 0.1, "precision": "bf16"}


def pair(folder: Path) -> None:
    "Every method in one process group; bytes; a run in bf16 to the end, and one that is broken off."
    for case in CASES:
        train(folder / case, case, sharding="full")
    for method in PLANS:
        measure(folder, method)
    train(folder / "whole", "full", sharding="full", **LONG)
    with pytest.raises(ZeroDivisionError):
        broken_off(folder / "begun", 2, lambda: 1 / 0)


def broken_off(folder: Path, step: int, end: Callable[[], object], **settings: Any) -> None:
    "A run that ends in the middle of an update, when the last block of the encoder is run."
    plain, updates = Trainer.updated, []

    def updated(self: Trainer, interruption: Any) -> None:
        if self.progress.step == step and not updates:
            updates.append(step)
            self.model.backbone.encoder.block[-1].register_forward_hook(lambda *_: end())
        plain(self, interruption)

    Trainer.updated = updated  # type: ignore[method-assign]
    try:
        train(folder, "full", sharding="full", **({"save_every": 1} | settings))
    finally:
        Trainer.updated = plain  # type: ignore[method-assign]


def killed(folder: Path) -> None:
    "The second process is killed in the middle of update 3."
    end = lambda: os.kill(os.getpid(), signal.SIGKILL) if os.environ["RANK"] == "1" else None
    broken_off(folder / "killed", 3, end, **LONG)


def resume(folder: Path) -> None:
    "The same run again; what launches it says that weights are shared."
    train(folder / "killed", "full", **LONG)


def three(folder: Path) -> None:
    "Some methods on three processes, and a run that two had begun."
    for case in SEVERAL:
        train(folder / "three" / case, case, sharding="full")
    leads = os.environ["RANK"] == "0"  # which reads the run's record
    with pytest.warns(UserWarning, match="another number of processes") if leads else nullcontext():
        train(folder / "begun", "full", sharding="full", save_every=1)


def measure(folder: Path, method: str) -> None:
    "The bytes that this process holds of a step, and the most that is put together at one time."
    recipe, accelerator = Recipe(sharding="full"), make_accelerator("none", folder)
    model = hl.adapt(tiny_config(**PLANNED), method, ["a", "b"], **PLANS[method]).train()
    everywhere = {name for name, p in model.named_parameters() if p in kept_whole(model)}
    prepare_forward(model, recipe, accelerator)
    optimizer, batch = prepare_optimizer(parameter_groups(model, 1e-3), recipe), LOAD.batch(96, "cpu")
    kept: dict[int, int] = {}
    together = [0]

    def gathered() -> dict[int, int]:
        "Parameters that are whole now, by where they are."
        found = [p for name, p in model.named_parameters() if not hasattr(p, "to_local") and name not in everywhere]
        return {p.untyped_storage().data_ptr(): p.untyped_storage().nbytes() for p in found}

    def note(t: torch.Tensor) -> torch.Tensor:
        now, place = gathered(), t.untyped_storage().data_ptr()
        together[0] = max(together[0], sum(now.values()))
        if place not in now and not any(p is t for p in own):
            kept[place] = t.untyped_storage().nbytes()
        return t

    for _ in range(2):
        kept.clear()
        own = [*model.rule.parameters(), *model.buffers(), *(model.get_parameter(name) for name in everywhere)]
        places = {t.untyped_storage().data_ptr() for t in own}
        with torch.autograd.graph.saved_tensors_hooks(note, lambda t: t):
            loss = model(**batch, task=["a", "b", "b", "a"]).loss
        loss.backward()
        average_gradients(model.parameters(), accelerator)
        optimizer.step()
    local = lambda tensors: sum(getattr(t, "to_local", lambda t=t: t)().nbytes for t in tensors)
    moments = local(value for state in optimizer.state.values() for value in state.values())
    held = {"weights": local([*model.parameters(), *model.buffers()]), "optimizer": moments, "gathered": together[0],
            "gradients": local(p.grad for p in model.parameters() if p.grad is not None),
            "kept": sum(size for place, size in kept.items() if place not in places)}  # fmt: skip
    (folder / f"{method}-{accelerator.process_index}.json").write_text(json.dumps(held))


if __name__ == "__main__":
    {"pair": pair, "killed": killed, "resume": resume, "three": three}[sys.argv[1]](Path(sys.argv[2]))
    torch.distributed.destroy_process_group()
