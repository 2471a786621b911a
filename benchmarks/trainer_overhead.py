"""What `hl.train` adds to a bare training loop: CPU time of an update, T5-small shape, both in turns in one process.

    OMP_NUM_THREADS=1 python benchmarks/trainer_overhead.py --rounds 8

The bare loop gets its batches ready-made and does forward, loss, backward, clipping, AdamW. The trainer fetches and collates the
same batches, seeds, counts, checks for finite numbers, logs and shows progress. Checkpoints and evaluations are not in it: they
are as frequent as one asks for.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from pathlib import Path

import numpy as np
import torch
from datasets import Dataset
from hyperlab.core.progress import ProgressLine

import hyperlab as hl
from hyperlab.core.backbones import shape_of
from hyperlab.data.tokens import TaskSplit, load_task_split
from hyperlab.training.run_folder import Run
from hyperlab.training.update import batch_logits
from hyperlab.training.environment import Interruption
from hyperlab.training.recipes import Recipe
from hyperlab.nano.toy import toy_tasks, toy_tokenizer
from hyperlab.training.environment import make_accelerator
from hyperlab.training.trainer import Trainer
from hyperlab.training.update import make_optimizer, parameter_groups, rate_factor, seed_everything
from hyperlab.training.update import set_rates, target_tokens, token_loss


def random_tokens(rows: int, length: int, target: int) -> Dataset:
    "Rows of random ids, as the data are tokenised."
    rng = np.random.default_rng(0)
    lengths = {"input_length": [length] * rows, "label_length": [target] * rows, "source_cut": [0] * rows, "target_cut": [0] * rows}
    draw = lambda width: rng.integers(3, 32_000, (rows, width)).tolist()
    return Dataset.from_dict({"input_ids": draw(length), "labels": draw(target)} | lengths)


def small_model(method: str) -> hl.AdaptedModel:
    torch.manual_seed(0)
    return hl.adapt(shape_of("t5-small"), method, toy_tasks(), tokenizer=toy_tokenizer())


class Bare:
    "The loop one writes by hand."

    def __init__(self, model: hl.AdaptedModel, recipe: Recipe, batches: list[dict]):
        self.model, self.recipe, self.batches, self.step = model.train(), recipe, batches, 0
        self.optimizer = make_optimizer(parameter_groups(model, recipe.learning_rate))
        self.trained = [p for p in model.parameters() if p.requires_grad]

    def update(self) -> float:
        batch = self.batches[self.step]
        loss = token_loss(batch_logits(self.model, self.model, batch), batch["labels"]) / target_tokens(batch["labels"])
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.trained, 1.0)
        set_rates(self.optimizer, rate_factor("linear", self.step, self.recipe.steps))
        self.optimizer.step()
        self.optimizer.zero_grad()
        self.step += 1
        return loss.item()


def ready_training(model: hl.AdaptedModel, recipe: Recipe, tokens: Dataset, folder: Path) -> Trainer:
    "The trainer as hl.train sets it up."
    found = {name: load_task_split(name, "train", model, max_examples=4) for name in model.tasks}
    data = {name: TaskSplit(split.task, split.rows, tokens, 8) for name, split in found.items()}
    return Trainer(model, recipe, Run(folder), {"train": data}, make_accelerator("none", folder))


def timed(work: object) -> float:
    begin = time.process_time()
    work()  # type: ignore[operator]
    return time.process_time() - begin


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--method", default="hyperformer++")
    parser.add_argument("--batch-size", type=int, default=16)
    given = parser.parse_args()
    torch.set_num_threads(1)
    recipe = Recipe(steps=10_000, batch_size=given.batch_size, warmup=0, learning_rate=3e-4, log_every=1)
    tokens, folder = random_tokens(512, 64, 8), Path(tempfile.mkdtemp())
    training = ready_training(small_model(given.method), recipe, tokens, folder)
    batches = [training.batches[step] for step in range(given.rounds + 2)]
    bare, interruption, bar = Bare(small_model(given.method), recipe, batches), Interruption(), ProgressLine(total=recipe.steps)

    def train_step() -> None:
        "What the trainer's loop does for an update."
        training.update(interruption)
        bar.update(1)
        training.log_losses(bar)

    times: dict[str, list[float]] = {"bare": [], "train": []}
    for number in range(given.rounds + 2):
        seed_everything(number)
        order = [("bare", bare.update), ("train", train_step)]
        for name, work in order if number % 2 else reversed(order):
            seconds = timed(work)
            if number >= 2:
                times[name].append(seconds)
    bar.close()
    ratios = [t / b for t, b in zip(times["train"], times["bare"], strict=True)]
    print(f"{given.method}, T5-small shape, batch {given.batch_size} x 64 -> 8, {given.rounds} rounds, CPU time of one thread")
    print(f"bare loop  {statistics.median(times['bare']):.3f} s   hl.train  {statistics.median(times['train']):.3f} s")
    print(f"ratio: median of rounds {statistics.median(ratios):.3f}, of minima {min(times['train']) / min(times['bare']):.3f}")


if __name__ == "__main__":
    main()
