"""Every function of the project that draws a figure, called on small data."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

import hyperlab as hl
from hyperlab.analysis import figures
from hyperlab.analysis.interpolation import PathPoint
from hyperlab.analysis.task_vectors import Points, families, task_points
from hyperlab.bench.contenders import trade_off
from hyperlab.bench.measuring import BenchResult, BenchRow, bench_figure
from hyperlab.data.batches import TRAIN_SIZES
from hyperlab.experiments.continual_study import continual_picture, continual_records
from hyperlab.experiments.described_study import described_picture, described_records
from hyperlab.experiments.few_shot_study import shot_curves
from hyperlab.experiments.paper_studies import size_curves, study_plot
from hyperlab.experiments.runs import curves
from hyperlab.experiments.shipped_results import nano_fits, score_picture
from hyperlab.experiments.side_by_side import first_run_figures
from hyperlab.experiments.tune import Budget, Trial, Tuned, tune_picture
from hyperlab.training.run_folder import Run

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

RNG = np.random.default_rng(0)
LENGTHS = {"rte": RNG.lognormal(4, 0.5, 500).astype(int), "cola": RNG.lognormal(2.4, 0.4, 500).astype(int)}
WALK = [PathPoint(s, t, w, 50 + 40 * (s if t == "b" else -s), 40, 95)
        for s in (0.0, 0.25, 0.5, 0.75, 1.0) for t in "ab" for w in ("embeddings", "weights")]  # fmt: skip
FIRST_RUN = first_run_figures()


def shipped() -> Points:
    return task_points(hl.load("nano"))


def costs() -> pd.DataFrame:
    rows = {"T5": (100.0, 900.0, 84.9), "BitFit": (0.13, 400.0, 82.3), "Compacter": (0.07, 420.0, 86.5)}
    return pd.DataFrame(rows, index=["trained %", "memory MB", "GLUE, paper"]).T


def bench() -> BenchResult:
    rows = {"full": (90.0, 1.0, 1.6, 0.01), "floor": (55.0, 0.61, 1.0, 0.02), "hyperformer++": (70.0, 0.78, 1.27, 0.03)}
    return BenchResult("A training step", "T5-base, 32 texts of 64 tokens", [BenchRow(name, *row) for name, row in rows.items()])


def study() -> pd.DataFrame:
    names = ["variant", "options", "change of mean", "std", "change of reported"]
    rows = [("as published", "", 0.0, 0.2, 0.0), ("no layer norm", "layer_norm=False", -0.4, 0.3, np.nan),
            ("no sharing", "shared=False", -1.3, np.nan, -2.1)]  # fmt: skip
    return pd.DataFrame(rows, columns=names)


def sizes() -> pd.DataFrame:
    names = ["finished", "max_examples", "method", "options", "average_metrics"]
    rows = [(True, n, method, {}, 40 + 9 * np.log10(n) + more + seed)
            for n in (100, 500, 1000, 4000) for method, more in (("full", 4), ("hyperformer++", 0)) for seed in (0, 1)]  # fmt: skip
    return pd.DataFrame(rows, columns=names)


def tuned() -> Tuned:
    scores = {1e-4: 50, 3e-4: 51, 1e-3: 54, 3e-3: 53}
    trials = [Trial({"learning_rate": rate}, {240: score, 720: score + 8}) for rate, score in scores.items()]
    return Tuned("hyperformer++", "nano", trials, Budget())


def norms() -> pd.DataFrame:
    return pd.DataFrame(RNG.random((8, 12)), index=list("abcdefgh"), columns=[f"encoder.{i}.feedforward" for i in range(12)])


LABELS = {"cola": ["acceptable"] * 70 + ["unacceptable"] * 30, "rte": ["yes"] * 50 + ["no"] * 50}
OVERLAPS = {"sst2": {"train in test": 3000, "train in validation": 1}, "rte": {"train in test": 0}}

# One entry for each function whose return type is a figure, or a dict of figures
SHOWN: dict[str, Callable[[], "Figure"]] = {
    "map_figure": lambda: figures.map_figure(shipped(), families(shipped().names), added=[shipped().names[0]]),
    "task_map": lambda: figures.task_map(shipped(), shipped()),
    "explained_figure": lambda: figures.explained_figure(shipped()),
    "similarity_figure": lambda: figures.similarity_figure(shipped()),
    "tree_figure": lambda: figures.tree_figure(shipped(), families(shipped().names)),
    "norms_figure": lambda: figures.norms_figure(norms()),
    "path_figure": lambda: figures.path_figure(WALK),
    "lengths_figure": lambda: figures.lengths_figure(LENGTHS, {"rte": 128, "cola": 128}),
    "labels_figure": lambda: figures.labels_figure(LABELS),
    "sampling_figure": lambda: figures.sampling_figure(TRAIN_SIZES),
    "padding_figure": lambda: figures.padding_figure({name: np.minimum(values, 128) for name, values in LENGTHS.items()}, 8, 50),
    "overlaps_figure": lambda: figures.overlaps_figure(OVERLAPS),
    "curves": lambda: curves([Run(Path(__file__).parent / "golden" / "runs-0.1.0" / "finished")]),
    "learning_curves": lambda: FIRST_RUN["curves"],
    "many_picture": lambda: FIRST_RUN["scores"],
    "factor_map": lambda: FIRST_RUN["map"],
    "shot_curves": lambda: shot_curves(nano_fits()),
    "score_picture": score_picture,
    "study_plot": lambda: study_plot(study(), "Ablations"),
    "size_curves": lambda: size_curves(sizes()),
    "described_picture": lambda: described_picture(described_records()),
    "continual_picture": lambda: continual_picture(continual_records()),
    "tune_picture": lambda: tune_picture(tuned()),
    "bench_figure": lambda: bench_figure(bench()),
    "trade_off": lambda: trade_off(costs()),
}
