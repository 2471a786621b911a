"""Train every method of the nano table with the same budget, one result file each; finished ones are kept.

    python benchmarks/nano_table.py --seeds 3 --runs runs/nano-table
    python benchmarks/nano_table.py --take runs/reproduce/nano

The second line trains nothing. It takes the finished runs below a folder, such as those of HyperFormer's and Compacter's Table 1,
if a run is one of the table: all eight tasks, nano's own options of its method, as many updates as the others.

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
from hyperlab.nano.settings import setting_of

SHIPPED, STEPS = "hyperformer++-0", 1_200


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


def is_of_table(run: hl.Run) -> bool:
    "Whether a run has the tasks, the updates and the options of the nano table."
    result, config = run.result, run.config
    method = result["method"]
    own = hl.get_method(method, setting_of(method).options) == hl.get_method(method, config["model"]["options"])
    recipe = config["recipe"]
    whole = recipe["steps"] == STEPS and recipe["max_examples"] is None
    return own and whole and result["backbone"] == "nano" and set(result["tasks"]) == set(hl.tasks("nano"))


def take(folder: Path, results: Path, place: Path) -> list[Path]:
    "Write the results of the runs in a folder that belong to the nano table, and keep the run that is shipped."
    written = []
    for run in hl.find_runs(folder):
        if run.finished and is_of_table(run):
            name = result_name(run.result["method"], run.config["recipe"]["seed"])
            path = results / f"{name}.json"
            if path not in written:  # the same run may be there for two tables
                write_json(path, run.result)
                written.append(path)
                if name == SHIPPED:
                    ship(run.path, place)
    return written


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=3, help="seeds of each method")
    parser.add_argument("--runs", type=Path, default=Path("runs/nano-table"), help="where the runs go; unfinished ones go on")
    parser.add_argument("--results", type=Path, default=asset("nano", "results"), help="where the results go")
    parser.add_argument("--methods", nargs="+", default=list(tuning_records()), help="which methods")
    parser.add_argument("--take", type=Path, help="train nothing; take the finished runs below this folder")
    parser.add_argument("--run", type=Path, default=asset("nano", "run"), help="where the run goes that is shipped")
    chosen = parser.parse_args()
    if chosen.take:
        chosen.results.mkdir(parents=True, exist_ok=True)
        print(*take(chosen.take, chosen.results, chosen.run), sep="\n")
        return
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
        ship(chosen.runs / SHIPPED, chosen.run)


if __name__ == "__main__":
    main()
