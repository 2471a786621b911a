"""Train every method of the nano table with the same budget, one result file each; finished ones are kept.

    python benchmarks/nano_table.py --seeds 3 --runs runs/nano-table

Results go to hyperlab/assets/nano/results, the baselines with them, and the run of HyperFormer++ with seed 0 to
hyperlab/assets/nano/run.
"""

import argparse
import shutil
from pathlib import Path

import datasets
import torch

import hyperlab as hl
from hyperlab.training.evaluation import KINDS, baseline
from hyperlab.experiments.shipped_results import result_name, write_result
from hyperlab.training.recipes import tuning_records
from hyperlab.core.files import asset, write_json

SHIPPED = "hyperformer++-0"


def write_baselines(folder: Path) -> None:
    "The three baselines of the eight tasks."
    found = {kind: {name: baseline(name, kind) for name in hl.tasks("nano")} for kind in KINDS}
    write_json(folder / "baselines.json", found)


def ship(run: Path, place: Path) -> None:
    "Keep what describes a run, and the model it selected."
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(run / "model", place / "model")
    for name in ("config.json", "log.jsonl", "result.json"):
        shutil.copy(run / name, place / name)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=3, help="seeds of each method")
    parser.add_argument("--runs", type=Path, default=Path("runs/nano-table"), help="where the runs go; unfinished ones go on")
    parser.add_argument("--results", type=Path, default=asset("nano", "results"), help="where the results go")
    parser.add_argument("--methods", nargs="+", default=list(tuning_records()), help="which methods")
    chosen = parser.parse_args()
    torch.set_num_threads(1)
    datasets.disable_progress_bars()
    chosen.results.mkdir(parents=True, exist_ok=True)
    if not (chosen.results / "baselines.json").exists():
        write_baselines(chosen.results)
    for seed in range(chosen.seeds):
        for method, random in [(method, False) for method in chosen.methods] + [("hyperformer++", True)] * (seed == 0):
            if not (chosen.results / f"{result_name(method, seed, random)}.json").exists():
                write_result(method, seed, chosen.results, chosen.runs, random)
    if (chosen.runs / SHIPPED / "result.json").exists():
        ship(chosen.runs / SHIPPED, asset("nano", "run"))


if __name__ == "__main__":
    main()
