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
from distributed_runs import METHODS, train
from toy_runs import outcome

HERE = Path(__file__).parent


def launch(folder: Path, processes: int = 2) -> None:
    "Run distributed_runs.py under torchrun."
    path = os.pathsep.join([str(HERE), str(HERE.parent), os.environ.get("PYTHONPATH", "")])
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={processes}"]
    environment = os.environ | {"PYTHONPATH": path, "OMP_NUM_THREADS": "1"}
    command += [str(HERE / "distributed_runs.py"), str(folder)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr[-3000:]


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("two")
    launch(folder)
    return folder


def weights(run: hl.Run) -> dict[str, torch.Tensor]:
    "The last trained weights of a run."
    (file,) = (run.path / "checkpoints" / f"step-{run.result['steps']:08d}").glob("weights-*")
    return load_file(file)


@pytest.mark.parametrize("method", METHODS)
def test_two_processes_equal_one_with_the_same_batch(method: str, two: Path, tmp_path: Path) -> None:
    "Eight updates of 16 examples, 8 on each process, without dropout: weights, losses and scores."
    one, pair = train(tmp_path / "one", method, dropout=0.0), hl.Run(two / method)
    assert pair.config["processes"] == 2
    mine, theirs = weights(one), weights(pair)
    furthest = max(float((mine[name] - theirs[name]).abs().max()) for name in mine)
    losses = (one.log["loss"].dropna() - pair.log["loss"].dropna()).abs().max()
    print(f"{method}: weights differ by at most {furthest:.1e}, losses by {losses:.1e}")
    assert furthest < 1e-5
    assert losses < 1e-5
    assert one.result["tasks"] == pair.result["tasks"]
    assert one.predictions.equals(pair.predictions)


def test_resumed_pair_is_exact(two: Path) -> None:
    "Dropout on, an error before step 5, two processes again: the same bits."
    broken, whole = hl.Run(two / "broken"), hl.Run(two / "whole")
    assert [s["from_step"] for s in broken.sessions_file.read()] == [0, 4]
    assert outcome(broken) == outcome(whole)


def test_another_number_of_processes_is_refused(two: Path) -> None:
    with pytest.raises(ValueError, match="processes: 2 there, 1 asked for"):
        train(two / "whole", "hyperformer++", dropout=0.1)


@pytest.mark.skipif(torch.cuda.device_count() < 2, reason="needs two CUDA devices")
def test_two_gpus(tmp_path: Path) -> None:
    launch(tmp_path)
    assert hl.Run(tmp_path / "whole").config["device"].startswith("cuda")
