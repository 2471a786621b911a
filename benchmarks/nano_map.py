"""How many tasks are nearest to a relative, at initialisation and trained, with answers in words and in numbers.

    python benchmarks/nano_map.py --seeds 3 --runs runs/nano-table

Tasks of a family often share the words of their answers (entailment, not_entailment). With numbers for answers, all tasks share
them, and what is left of the families does not come from there. The counts go to hyperlab/assets/nano/results/map.json.
"""

import argparse
from pathlib import Path

import datasets
import torch

import hyperlab as hl
from hyperlab.nano.settings import nano_adapted, nano_run
from hyperlab.core.files import asset, write_json
from hyperlab.analysis.task_vectors import VIEWS, related_by_chance

# What the released code's labels are taken with: the recipe is that of the other nano runs
NUMBERS = {"protocol": "released", "loss": "mean", "label_smoothing": 0.0, "schedule": "linear", "warmup": 120, "temperature": 10,
           "mixed": True, "batch_size": 32}  # fmt: skip


def related(model: hl.AdaptedModel) -> dict[str, int]:
    "Tasks whose nearest neighbour is a relative, by representation."
    return {view: hl.family_purity(hl.task_view(model, view), hl.families(model.tasks)).nearest for view in VIEWS}


def counts(seed: int, numbers: bool, runs: Path) -> dict[str, dict[str, int]]:
    "Counts before and after a run."
    model = nano_adapted("hyperformer++", seed)
    start = related(model)
    name = f"hyperformer++-numbers-{seed}" if numbers else f"hyperformer++-{seed}"
    nano_run("hyperformer++", seed, run_dir=runs / name, model=model, report_to="none", **(NUMBERS if numbers else {}))
    return {"start": start, "trained": related(model)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=3, help="runs of each kind")
    parser.add_argument("--runs", type=Path, default=Path("runs/nano-table"), help="where the runs are; missing ones are made")
    chosen = parser.parse_args()
    torch.set_num_threads(1)
    datasets.disable_progress_bars()
    found = {kind: [counts(seed, kind == "numbers", chosen.runs) for seed in range(chosen.seeds)] for kind in ("words", "numbers")}
    model = hl.load("nano")
    facts = {"of": hl.family_purity(hl.task_view(model), hl.families(model.tasks)).of, "chance": related_by_chance(model.tasks)}
    write_json(asset("nano", "results", "map.json"), found | facts)


if __name__ == "__main__":
    main()
