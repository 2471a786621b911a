"""A real decoder on real tasks, on a CPU: SmolLM2-135M with LoRA of its own for each task, shared, or written by a hypernetwork.

    python benchmarks/decoder_table.py FOLDER_OF_SMOLLM2 --runs runs/decoder

The hub must be reachable (or HF_ENDPOINT name one that has the data sets). All methods train about as many parameters, see the
same batches, and choose their rate by validation in the same number of trials. Runs that are there are kept, others go on.
What the tables need goes to hyperlab/assets/decoder/results.
"""

import argparse
from pathlib import Path
from typing import Any

import datasets
import torch

import hyperlab as hl
from hyperlab.core.files import asset, write_json
from hyperlab.training.evaluation import baseline
from hyperlab.training.run_folder import Run
from hyperlab.training.update import preserve_rng_state, seed_everything

TASKS = ["sst2", "cola", "mrpc", "trec"]
# About 460,000 trained parameters each, and B A x times 2
OPTIONS: dict[str, dict[str, Any]] = {
    "lora": {"rank": 2, "alpha": 4.0},
    "lora-shared": {"rank": 8, "alpha": 16.0},
    "hyper-lora": {"rank": 8, "alpha": 16.0, "embedding_width": 14},
}
RATES = {"lora": (1e-2, 3e-3), "lora-shared": (6e-3, 2e-3), "hyper-lora": (2e-3, 5e-4)}  # in the order in which they are tried
SHARED = {"batch_size": 8, "mixed": False, "temperature": "equal", "max_examples": 1_000, "log_every": 1, "save_every": 10,
          "eval_batch_size": 16, "report_to": "none"}  # fmt: skip
TRAINING = {"warmup": 4, "eval_examples": 32, "test": False}
TEST_ROWS = 100  # of each task
RESULTS = asset("decoder", "results")


def adapted(backbone: str, method: str) -> hl.AdaptedModel:
    "A method at its start, the same each time."
    with preserve_rng_state():
        seed_everything(0)
        return hl.adapt(backbone, method, TASKS, **OPTIONS[method])


def trials(backbone: str, method: str, folder: Path, steps: int, count: int) -> dict[float, Run]:
    "A run of a method at each of its first rates, scored on validation rows only."
    settings = SHARED | TRAINING | {"steps": steps, "eval_every": steps}
    place = lambda rate: folder / f"{method}-{rate:g}"
    train = lambda rate: hl.train(adapted(backbone, method), learning_rate=rate, run_dir=place(rate), **settings)
    return {rate: train(rate) for rate in RATES[method][:count]}


def method_result(backbone: str, method: str, folder: Path, steps: int, count: int) -> dict[str, Any]:
    "What the tables need of a method: the run that validation prefers, scored on test rows, and what the others reached."
    runs = trials(backbone, method, folder, steps, count)
    reached = {rate: run.result["validation"]["average"][0] for rate, run in runs.items()}
    best = runs[max(reached, key=lambda rate: reached[rate])]
    found = hl.evaluate(hl.load(best.path), TASKS, max_examples=TEST_ROWS, batch_size=16)
    tried = {f"{rate:g}": score for rate, score in reached.items()}
    kept = {"recipe": best.config["recipe"], "versions": best.config["versions"], "trials": tried}
    tested = {"tasks": found.tasks, "unreadable": found.unreadable, "split": dict.fromkeys(TASKS, "test"), "test_rows": TEST_ROWS}
    return best.result | {"backbone": "SmolLM2-135M-Instruct"} | kept | tested | found.averages


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("backbone", help="the folder of SmolLM2-135M-Instruct, or another decoder")
    parser.add_argument("--runs", type=Path, default=Path("runs/decoder"), help="where runs go")
    parser.add_argument("--steps", type=int, default=120, help="updates of every run")
    parser.add_argument("--trials", type=int, default=2, help="rates that every method tries")
    parser.add_argument("--methods", nargs="+", default=list(OPTIONS), choices=list(OPTIONS))
    chosen = parser.parse_args()
    datasets.disable_progress_bars()
    torch.set_num_threads(1)
    RESULTS.mkdir(parents=True, exist_ok=True)
    write_json(RESULTS / "baselines.json", {kind: {task: baseline(task, kind) for task in TASKS} for kind in ("majority", "words")})
    for method in chosen.methods:
        write_json(RESULTS / f"{method}.json", method_result(chosen.backbone, method, chosen.runs, chosen.steps, chosen.trials))


if __name__ == "__main__":
    main()
