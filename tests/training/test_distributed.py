"""Two processes against one: the same numbers, and exact resume."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

import hyperlab as hl
from conftest import BACKWARD, margin
from distributed_runs import METHODS, SETTINGS, train
from hyperlab.training.environment import make_accelerator
from hyperlab.training.run_folder import snapshots
from toy_runs import furthest, outcome

HERE = Path(__file__).resolve().parents[1]
pytestmark = pytest.mark.slow


TORCHRUN = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"]
ACCELERATE = ["-m", "accelerate.commands.launch", "--multi_gpu", "--num_processes=2", "--main_process_port=0"]


def launch(job: str, folder: Path, launcher: list[str] = TORCHRUN) -> subprocess.CompletedProcess[str]:
    "Run a job of distributed_runs.py on two processes."
    path = os.pathsep.join([str(HERE), str(HERE.parent), os.environ.get("PYTHONPATH", "")])
    environment = os.environ | {"PYTHONPATH": path, "OMP_NUM_THREADS": "1"}
    command = [sys.executable, *launcher, str(HERE / "distributed_runs.py"), job, str(folder)]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=False)


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("two")
    done = launch("compare", folder)
    assert done.returncode == 0, done.stderr[-3000:]
    return folder


def weights(run: hl.Run) -> dict[str, torch.Tensor]:
    "The last trained weights of a run."
    (file,) = (run.path / "checkpoints" / f"step-{run.result['steps']:08d}").glob("weights-*")
    return load_file(file)


@pytest.mark.rounding
@pytest.mark.parametrize("method", METHODS)
def test_two_processes_equal_one_with_the_same_batch(method: str, two: Path, tmp_path: Path) -> None:
    """Eight updates of 16 examples, 8 on each process, without dropout: weights, logged numbers and scores.

    Two processes add up gradients in another order, and every update adds its rounding. Adam divides a gradient by its own
    size, so the rounding of one that is almost zero is enlarged, at most to a whole step. Such weights are few: we take the
    root mean square of the differences, as a share of the way that these updates can go, updates × rate. Adam does not see
    whether gradients were averaged or summed; their logged norm does. On one processor the share is 2e-6, between
    processors 6e-5, and 0.1 where both processes train on the same half of the batch.
    """
    one, pair = train(tmp_path / "one", method, dropout=0.0), hl.Run(two / method)
    assert pair.config["processes"] == 2
    mine, theirs = weights(one), weights(pair)
    apart = torch.cat([(mine[name] - theirs[name]).flatten() for name in mine]).double().square().mean().sqrt()
    updates, rate = SETTINGS["steps"], SETTINGS["learning_rate"]
    margin("weights, as a share of updates × rate", float(apart) / (updates * rate), updates * BACKWARD)
    margin("logged numbers, relative", furthest(pair.log, one.log), updates * BACKWARD)
    assert one.result["tasks"] == pair.result["tasks"]
    assert one.predictions.equals(pair.predictions)


def test_resumed_pair_is_exact(two: Path) -> None:
    "Dropout on, an error before step 5, two processes again: the same bits."
    broken, whole = hl.Run(two / "broken"), hl.Run(two / "whole")
    assert [s["from_step"] for s in broken.sessions_file.read()] == [0, 4]
    assert outcome(broken) == outcome(whole)


def test_terminated_pair_goes_on_under_accelerate(two: Path) -> None:
    "SIGTERM to torchrun: both processes end their step and the state is saved; `accelerate launch` ends it with the same bits."
    stopped = launch("terminate", two)
    assert stopped.returncode != 0
    terminated = hl.Run(two / "terminated")
    assert next(iter(snapshots(terminated.path / "checkpoints"))) == 3, stopped.stderr[-3000:]
    assert not terminated.finished
    done = launch("resume", two, ACCELERATE)
    assert done.returncode == 0, done.stderr[-3000:]
    assert [s["from_step"] for s in terminated.sessions_file.read()] == [0, 3]
    assert outcome(terminated) == outcome(hl.Run(two / "whole"))


def test_one_process_where_several_were_asked_for_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    "`accelerate launch --cpu --num_processes 2` starts one process with these in its environment."
    monkeypatch.setenv("ACCELERATE_USE_CPU", "True")
    monkeypatch.setenv("MASTER_PORT", "29500")
    with pytest.warns(UserWarning, match="has started one process"):
        make_accelerator("none", tmp_path)


def test_another_number_of_processes_goes_on_and_is_told(two: Path) -> None:
    with pytest.warns(UserWarning, match="processes: 2 there, 1 asked for"):
        assert train(two / "whole", "hyperformer++", dropout=0.1).finished


@pytest.mark.skipif(torch.cuda.device_count() < 2, reason="needs two CUDA devices")
def test_two_gpus(tmp_path: Path) -> None:
    assert launch("compare", tmp_path).returncode == 0
    assert hl.Run(tmp_path / "whole").config["device"].startswith("cuda")
