"Every registered method learns a task on the nano backbone: what it writes for held-out rows is far above the majority class."

import datasets
import pytest

import hyperlab as hl
from hyperlab.training.evaluation import baseline
from hyperlab.nano.settings import nano_adapted, nano_run

datasets.disable_progress_bars()
TASK, STEPS = "nano-trec", 150
ABOVE_MAJORITY = 20  # points; the weakest of them have no more than a bias or twenty vectors to move


@pytest.fixture(scope="module")
def majority() -> float:
    return baseline(TASK, "majority")["accuracy"]


@pytest.mark.parametrize("method", hl.available_methods())
def test_every_method_learns(method, majority, tmp_path):
    model = nano_adapted(method, names=[TASK])
    run = nano_run(method, steps=STEPS, run_dir=tmp_path, model=model, eval_examples=300, report_to="none", progress=False)
    losses = run.log.loss.dropna()
    assert losses.iloc[-1] < 0.5 * losses.iloc[0]
    assert run.result["tasks"][TASK]["accuracy"] > majority + ABOVE_MAJORITY
