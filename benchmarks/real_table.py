"""Real data, a real pretrained T5, on a CPU: GLUE together for a few hundred updates, then new tasks from a few examples.

    python benchmarks/real_table.py --runs runs/real

A longer table, of five methods, may take days and be stopped at any time. The same command goes on where it was stopped, and
the table of what is finished is printed after every run. Two commands with different --methods share the work of two cores.

    python benchmarks/real_table.py --runs runs/real-long --steps 3000 --rows 10000 --eval-examples 500 --targets \
        --methods hyperformer++ hyperformer-stable adapter-dagger adapter-shared full
    python benchmarks/real_table.py --runs runs/real-100 --steps 1000 --rows 100 --run-seeds 3 --targets --methods ...

With 10,000 rows a task, RTE, MRPC, CoLA and STS-B are complete. The hub must be reachable (or HF_ENDPOINT name one that has the
data sets and the backbone). Runs and fits that are there are kept. What the tables need goes to --results.
"""

import argparse
from pathlib import Path

import datasets
import torch

import hyperlab as hl
from hyperlab.core.files import asset, read_json, write_json
from hyperlab.training.run_folder import Run
from hyperlab.experiments.few_shot_study import pack_fits
from hyperlab.experiments.shipped_results import markdown, real_page
from hyperlab.experiments.workbooks import read_task_names
from hyperlab.training.update import preserve_rng_state, seed_everything

BACKBONE = "google/flan-t5-small"
# for the first two, the better of two by the training loss of the first 30 to 40 updates; full fine-tuning had one. The shared
# adapter has the rate of Adapters†; the stable variant has the ratios between its parts' rates that tuning found on nano
RATES = {"hyperformer++": 3e-3, "adapter-dagger": 3e-3, "full": 3e-4, "adapter-shared": 3e-3, "hyperformer-stable": 3e-3}
OWN_RATES = {"hyperformer-stable": {"embedding": 1e-2, "bases": 1e-3}}
METHODS = ("hyperformer++", "adapter-dagger", "full")  # of the shipped table
BOTTLENECK = 16  # reduction factor, where a method has one
TRAINING = {"batch_size": 16, "save_every": 80}
STEPS, ROWS = 400, 2_000  # of the shipped table
FITS = {"candidates": [0, 8, 16, 32], "eval_examples": 200}
RESULTS = asset("glue", "results")


def glue_run(method: str, seed: int, chosen: argparse.Namespace) -> Run:
    "One method on all tasks, or on from where it was stopped; all methods see the same examples in the same batches."
    options = {"reduction_factor": BOTTLENECK} if hasattr(hl.get_method(method), "reduction_factor") else {}
    with preserve_rng_state():
        seed_everything(seed)
        model = hl.adapt(chosen.backbone, method, read_task_names(chosen.tasks), **options)
    how = {"steps": chosen.steps, "eval_every": chosen.steps, "warmup": max(1, chosen.steps // 20), "seed": seed}
    how |= {"max_examples": chosen.rows or None, "eval_examples": chosen.eval_examples, "learning_rate": RATES[method]}
    how |= {"rates": OWN_RATES[method]} if method in OWN_RATES else {}
    return hl.train(model, run_dir=chosen.runs / folder_name(method, seed), report_to="none", **how, **TRAINING)


def folder_name(method: str, seed: int) -> str:
    "The folder of a run."
    return f"{method}-{seed}" if seed else method


def result_name(method: str, seed: int, chosen: argparse.Namespace) -> str:
    "The name of a result; the shipped table's runs have that of the method alone."
    usual = (chosen.steps, chosen.rows, seed) == (STEPS, ROWS, 0)
    return method if usual else f"{method}-{chosen.steps}-{chosen.rows or 'all'}-{seed}"


def keep(run: Run, path: Path) -> None:
    "What the tables need of a run: its result and its recipe."
    config = run.config
    write_json(path, run.result | {"recipe": config["recipe"], "versions": config["versions"]})


def show(seed: int, chosen: argparse.Namespace) -> None:
    "Print the table of the runs with this seed that are finished."
    paths = {method: chosen.results / f"{result_name(method, seed, chosen)}.json" for method in chosen.methods}
    page = real_page({method: read_json(path) for method, path in paths.items() if path.is_file()})
    print(f"\nSeed {seed}\n\n{markdown(page)}", flush=True)


def fit_targets(chosen: argparse.Namespace) -> None:
    "New tasks from a few examples, from every model of seed 0."
    for method in chosen.methods:
        folder = chosen.runs / "fewshot" / method
        hl.study(chosen.runs / method, chosen.targets, chosen.shots, range(chosen.seeds), folder, **FITS)
    pack_fits(chosen.runs / "fewshot", chosen.results / "fewshot.jsonl")


def asked() -> argparse.Namespace:
    "What the command line says."
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=Path, default=Path("runs/real"), help="where runs and fits go")
    parser.add_argument("--results", type=Path, default=RESULTS, help="where the records of the tables go")
    parser.add_argument("--methods", nargs="+", default=list(METHODS), choices=list(RATES))
    parser.add_argument("--steps", type=int, default=STEPS, help="updates of 16 examples")
    parser.add_argument("--rows", type=int, default=ROWS, help="training rows of a task at most; 0 for all")
    parser.add_argument("--eval-examples", type=int, default=200, help="validation and test rows of a task")
    parser.add_argument("--run-seeds", type=int, default=1, help="seeds of the runs")
    parser.add_argument("--backbone", default=BACKBONE)
    parser.add_argument("--tasks", default="glue", help="names or groups, with commas")
    parser.add_argument("--targets", nargs="*", default=["trec"], help="new tasks; none for none")
    parser.add_argument("--shots", nargs="+", type=int, default=[16, 100])
    parser.add_argument("--seeds", type=int, default=2, help="of the few-shot fits")
    return parser.parse_args()


def main() -> None:
    chosen = asked()
    datasets.disable_progress_bars()
    torch.set_num_threads(1)
    chosen.results.mkdir(parents=True, exist_ok=True)
    for seed in range(chosen.run_seeds):
        for method in chosen.methods:
            keep(glue_run(method, seed, chosen), chosen.results / f"{result_name(method, seed, chosen)}.json")
            show(seed, chosen)
    if chosen.targets:
        fit_targets(chosen)


if __name__ == "__main__":
    main()
