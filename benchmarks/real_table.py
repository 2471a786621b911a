"""Real data, a real pretrained T5, on a CPU: GLUE together for a few hundred updates, then new tasks from a few examples.

    python benchmarks/real_table.py --runs runs/real

The hub must be reachable (or HF_ENDPOINT name one that has the data sets and the backbone). Runs and fits that are there are kept.
What the tables need goes to hyperlab/assets/glue/results.
"""

import argparse
from pathlib import Path

import datasets
import torch

import hyperlab as hl
from hyperlab.core.files import asset
from hyperlab.core.files import write_json
from hyperlab.training.run_folder import Run
from hyperlab.experiments.few_shot_study import pack_fits
from hyperlab.training.update import preserve_rng_state, seed_everything

BACKBONE = "google/flan-t5-small"
# for the first two, the better of two by the training loss of the first 30 to 40 updates; full fine-tuning had one
RATES = {"hyperformer++": 3e-3, "adapter-dagger": 3e-3, "full": 3e-4}
OPTIONS = {"hyperformer++": {"reduction_factor": 16}, "adapter-dagger": {"reduction_factor": 16}}
TRAINING = {"steps": 400, "batch_size": 16, "warmup": 20, "max_examples": 2_000,
            "eval_examples": 200, "eval_every": 400, "save_every": 80}
FITS = {"candidates": [0, 8, 16, 32], "eval_examples": 200}
RESULTS = asset("glue", "results")


def glue_run(method: str, folder: Path) -> Run:
    "One method on the eight GLUE tasks; all methods see the same examples in the same batches."
    with preserve_rng_state():
        seed_everything(0)
        model = hl.adapt(BACKBONE, method, hl.tasks("glue"), **OPTIONS.get(method, {}))
    return hl.train(model, learning_rate=RATES[method], run_dir=folder / method, report_to="none", **TRAINING)


def keep(run: Run, name: str) -> None:
    "What the tables need of a run: its result and its recipe."
    config = run.config
    write_json(RESULTS / f"{name}.json", run.result | {"recipe": config["recipe"], "versions": config["versions"]})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=Path, default=Path("runs/real"), help="where runs and fits go")
    parser.add_argument("--methods", nargs="+", default=list(RATES), choices=list(RATES))
    parser.add_argument("--targets", nargs="+", default=["trec"], help="new tasks")
    parser.add_argument("--shots", nargs="+", type=int, default=[16, 100])
    parser.add_argument("--seeds", type=int, default=2)
    chosen = parser.parse_args()
    datasets.disable_progress_bars()
    torch.set_num_threads(1)
    RESULTS.mkdir(parents=True, exist_ok=True)
    for method in chosen.methods:
        keep(glue_run(method, chosen.runs), method)
        folder = chosen.runs / "fewshot" / method
        hl.study(chosen.runs / method, chosen.targets, chosen.shots, range(chosen.seeds), folder, **FITS)
    pack_fits(chosen.runs / "fewshot", RESULTS / "fewshot.jsonl")


if __name__ == "__main__":
    main()
