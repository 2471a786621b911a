"""Train the shipped model whose tasks are described, and write it, its card and what its panel offers into the package.

    python benchmarks/nano_described.py runs/described           # train, or go on; a few minutes on one core
    python benchmarks/nano_described.py runs/described --take    # then put the run, its card and the descriptions into the package

Options were judged on validation rows, of the tasks that are trained and of combinations that are not. Test rows are read
by the run at its end and for the card.
"""

import argparse
import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np

import hyperlab as hl
from hyperlab.core.files import asset, publish, write_json
from hyperlab.data.benchmarks import task
from hyperlab.data.descriptions import descriptions
from hyperlab.data.task_features import MINILM, describe_tasks
from hyperlab.nano.many import MANY, MANY_HELDOUT
from hyperlab.nano.settings import setting_of
from hyperlab.training.run_folder import Run
from hyperlab.training.update import preserve_rng_state, seed_everything

METHOD, STEPS, SEED = "hyperformer-stable", 2_400, 0
OFFERED = [  # title, description in words that no training task has, and a combination that was not trained, whose rows show it
    ("Grammar of recipes", "Check the grammar of a sentence about cooking: big when it is fine, small when something is wrong.",
     "many-acceptability-food-size-alone"),
    ("What does a question about stars ask?",
     "A question about planets and stars: does it ask for the one who did something? big if so, small otherwise.",
     "many-question-science-size-alone"),
    ("Does it follow?",
     "If the first sentence is true, must the second be true as well? They tell about people. Say big for yes, small for no.",
     "many-inference-people-size-first"),
    ("Opinions on films", "Is the opinion about the film good? Answer with 1 for good and 0 for bad.",
     "many-sentiment-film-number-alone"),
    ("The same in other words?", "Are the two statements about objects paraphrases of each other? Reply True or False.",
     "many-paraphrase-goods-truth-first"),
    ("Wrong before it is tuned",
     "Does the second sentence deny the first? They tell about people. Say big for yes, small for no.",
     "many-contradiction-people-size-first"),
]  # fmt: skip
CARD = """---
license: apache-2.0
language: en
library_name: hyperlab
tags: [hyperlab, synthetic, hypernetwork]
---
# nano-described

{title} on the nano backbone: {trained:,} trained parameters that write adapters for {tasks} small generated tasks from a
vector that is read from each task's description. `hl.load("nano-described")` opens it. `model.describe("...")` adds a task
from words alone; for that the sentence encoder `{encoder}` has to be on the machine (`pip install 'hyperlab[describe]'`).
Its own tasks need no encoder: the features of their descriptions are stored in the checkpoint.

**How it was made.** `python benchmarks/nano_described.py runs/described`, then the same with `--take`: {steps:,} updates of
{batch} examples, seed {seed}, {minutes:.0f} minutes on one core of a busy machine. {examples:,} training rows in all, three
descriptions for each task, of which training draws one at a time; besides, each task has a small vector of its own
(`task_residual`). Recipe: `{recipe}`.

**Scores** (accuracy on test rows; chance is the more frequent answer of each task):

| tasks | accuracy | chance |
|---|---|---|
| the {tasks} that were trained | {trained_score:.1f} | {trained_chance:.1f} |
| {held} other combinations, from their descriptions alone | {held_score:.1f} | {held_chance:.1f} |

By task, of the combinations from their descriptions alone:

| combination | accuracy | chance | answers that are none of the two |
|---|---|---|---|
{rows}

**Limits.** It knows a world of a few hundred words and yes-or-no decisions of six kinds, and nothing about language beyond
it. Descriptions are read as vectors of a sentence encoder for English: what a description says in detail, such as which
answer word stands for which side, may be lost, and a description of another kind of task gets an adapter, but not a good
one. Scores of combinations vary much, as the table shows: look at the answers before you trust them.
"""


def train(folder: Path) -> Run:
    "The run, trained or taken up."
    with preserve_rng_state():
        seed_everything(SEED)
        model = hl.adapt("nano", METHOD, MANY, task_features="described", task_residual=True, **setting_of(METHOD).options)
    how: dict[str, Any] = {"eval_every": STEPS, "eval_examples": 50, "eval_batch_size": 200, "selection": "last"}
    return hl.train(model, STEPS, 32, seed=SEED, run_dir=folder, report_to="none", **setting_of(METHOD).recipe | how)


def chance(name: str, split: str = "test") -> float:
    "The share of a task's more frequent answer, percent."
    answers = list(task(name).load(split)["target"])
    return 100 * max(answers.count(word) for word in set(answers)) / len(answers)


def held_out_scores(model: hl.AdaptedModel, split: str) -> dict[str, tuple[float, int]]:
    "Accuracy and unreadable answers of combinations that were described and not trained."
    for name in MANY_HELDOUT:
        model.describe(descriptions(name), name)
    found = hl.evaluate(model, list(MANY_HELDOUT), split=split, batch_size=200)
    return {name: (found.tasks[name]["accuracy"], found.unreadable[name]) for name in MANY_HELDOUT}


def card(run: Run, model: hl.AdaptedModel) -> str:
    "The card of a finished run."
    result, recipe = run.result, run.config["recipe"]
    known = hl.evaluate(model, list(MANY), batch_size=200).average_tasks  # all test rows; the run itself reads 50 of each
    held = held_out_scores(model, "test")
    rows = [f"| {name} | {score:.1f} | {chance(name):.1f} | {unread} |" for name, (score, unread) in held.items()]
    kept = {k: recipe[k] for k in ("optimizer", "learning_rate", "rates", "schedule", "warmup", "clip")}
    return CARD.format(
        title=model.method.title, trained=result["parameters"]["trained"], tasks=len(MANY), encoder=MINILM,
        steps=recipe["steps"], batch=recipe["batch_size"], seed=recipe["seed"], minutes=result["cost"]["seconds"] / 60,
        recipe=json.dumps(kept),
        held=len(held),
        examples=sum(rows["rows"] for rows in run.config["data"]["train"].values()),
        trained_score=known, trained_chance=float(np.mean([chance(name) for name in MANY])),
        held_score=float(np.mean([score for score, _ in held.values()])), rows="\n".join(rows),
        held_chance=float(np.mean([chance(name) for name in MANY_HELDOUT])),
    )  # fmt: skip


def offered() -> list[dict[str, Any]]:
    "What the panel offers: descriptions with their features, a validation text to answer, and training examples."
    found = []
    for title, description, name in OFFERED:
        features = describe_tasks([name], texts=lambda _, said=description: [said]).values[name][0]
        text, few = task(name).load("validation", max_examples=1), task(name).load("train", max_examples=16)
        lines = "\n".join(f"{row['source']} => {row['target']}" for row in few)
        found.append({"title": title, "description": description, "text": text["source"][0], "lines": lines,
                      "features": [round(x, 6) for x in features.tolist()]})  # fmt: skip
    return found


def take(run: Run) -> None:
    "Put a finished run into the package."
    place = asset("nano-described", "run")
    for folder in (place, asset("nano-described", "presets")):
        folder.mkdir(parents=True, exist_ok=True)
    for name in ("config.json", "result.json", "log.jsonl"):
        publish(place / name, (run.path / name).read_bytes())
    shutil.rmtree(place / "model", ignore_errors=True)
    model = hl.load(run.path)
    model.save(place / "model")
    publish(place / "README.md", card(run, model).encode())
    write_json(asset("nano-described", "presets", "presets.json"), offered())


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="of the run")
    parser.add_argument("--take", action="store_true", help="put the finished run into the package")
    asked = parser.parse_args()
    if asked.take:
        take(Run(asked.folder))
    else:
        print(train(asked.folder).result["average_tasks"])
