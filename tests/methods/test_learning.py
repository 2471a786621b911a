"""Every registered method learns a task on the nano backbone, and gets held-out rows right that the majority class gets wrong.

The task is easy on purpose: a sentence of a few words has one of three words in it, which decides the answer. Methods that
have no more than a bias or twenty vectors to move learn it in 150 updates.
"""

import random
from pathlib import Path

import datasets
import pytest
from conftest import SEED, margin

import hyperlab as hl
from hyperlab.nano.settings import nano_adapted, nano_run

datasets.disable_progress_bars()
STEPS = 150
ANSWERS = {"apple": "entity", "angry": "description", "baker": "human"}
OTHERS = ["the", "nurse", "did", "help", "tired", "cat", "toss", "teacher", "boat", "big", "bought", "author", "at", "where"]


def rows(count: int, seed: int) -> list[dict]:
    "Sentences of three to five words, one of which decides; every answer is as frequent as the others."
    chance, made = random.Random(seed), []
    for number in range(count):
        words = [*chance.choices(OTHERS, k=chance.randrange(2, 5)), list(ANSWERS)[number % 3]]
        chance.shuffle(words)
        made.append({"text": " ".join(words), "label": number % 3})
    return made


@pytest.fixture(scope="module")
def task() -> str:
    splits = {"train": rows(600, 0), "validation": rows(30, 1), "test": rows(150, 2)}
    answers = list(ANSWERS.values())
    made = hl.task_from("word-decides", splits, "{text}", answers, max_source_length=24, max_target_length=8)
    return hl.register_task(made).name


@pytest.mark.slow
@pytest.mark.margins
@pytest.mark.parametrize("method", hl.available_methods())
def test_every_method_learns(method: str, task: str, tmp_path: Path) -> None:
    model = nano_adapted(method, SEED, names=[task])
    run = nano_run(method, SEED, steps=STEPS, run_dir=tmp_path, model=model, report_to="none", progress=False)
    losses = run.log.loss.dropna()
    margin("last loss, as a share of the first", losses.iloc[-1] / losses.iloc[0], 0.3)
    wrong = 100 - run.result["tasks"][task]["accuracy"]
    margin("wrong answers, as a share of the majority's", wrong / (100 - 100 / 3), 0.6)
