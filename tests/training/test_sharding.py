"""Processes that share the backbone against one process: the same numbers, the bytes that were planned, and runs that go on."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

import hyperlab as hl
from conftest import margin, tiny_config
from hyperlab.nano.toy import toy_backbone
from hyperlab.training.run_folder import snapshots
from sharded_runs import CASES, LOAD, PLANNED, PLANS, SEVERAL, train
from toy_runs import outcome

HERE = Path(__file__).resolve().parents[1]
slow = pytest.mark.slow
CONFIG = """\
compute_environment: LOCAL_MACHINE
distributed_type: FSDP
fsdp_config:
  fsdp_version: 2
mixed_precision: 'no'
num_machines: 1
num_processes: 2
"""


def launch(job: str, folder: Path, *launcher: str) -> subprocess.CompletedProcess[str]:
    "Run a job of sharded_runs.py on several processes."
    path = os.pathsep.join([str(HERE), str(HERE.parent), os.environ.get("PYTHONPATH", "")])
    environment = os.environ | {"PYTHONPATH": path, "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-m", *launcher, str(HERE / "sharded_runs.py"), job, str(folder)]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=900, check=False)


def torchrun(job: str, folder: Path, processes: int = 2) -> subprocess.CompletedProcess[str]:
    return launch(job, folder, "torch.distributed.run", "--standalone", f"--nproc-per-node={processes}")


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Path:
    "What two processes did."
    folder = tmp_path_factory.mktemp("pair")
    done = torchrun("pair", folder)
    assert done.returncode == 0, done.stderr[-3000:]
    return folder


@pytest.fixture(scope="module")
def three(pair: Path) -> Path:
    "What three processes did, which also went on with a run of two."
    shutil.copytree(pair / "begun", pair / "begun-for-one")
    done = torchrun("three", pair, 3)
    assert done.returncode == 0, done.stderr[-3000:]
    return pair


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> dict[str, hl.Run]:
    "The same runs on one process, each made once."
    folder = tmp_path_factory.mktemp("alone")
    return {case: train(folder / case, case) for case in CASES}


def weights(run: hl.Run) -> dict[str, torch.Tensor]:
    "The last trained weights of a run."
    (file,) = (run.path / "checkpoints" / f"step-{run.result['steps']:08d}").glob("weights-*")
    return load_file(file)


def held_against(several: hl.Run, one: hl.Run) -> None:
    """Hold a run's losses, gradients, weights and answers against those of one process.

    AdamW divides a gradient by its own size. Where a gradient is zero but for rounding (a bias on the keys of attention, which
    softmax takes out again), the update is a whole step in a direction that rounding chose. Such weights are few, so we take
    the root mean square of the differences; AdamW does not see whether gradients were summed or averaged, their norm does.
    """
    mine, theirs = weights(one), weights(several)
    assert mine.keys() == theirs.keys()
    apart = torch.cat([(mine[name] - theirs[name]).flatten() for name in mine]).double()
    margin("weights, root mean square", float(apart.square().mean().sqrt()), 1e-5)
    pairs = [(several.log[k].dropna() / one.log[k].dropna() - 1).abs().max() for k in ("loss", "gradient_norm")]
    margin("losses, relative", float(pairs[0]), 1e-6)
    margin("gradient norms, relative", float(pairs[1]), 1e-4)
    assert several.predictions.equals(one.predictions) and several.result["tasks"] == one.result["tasks"]


@slow
@pytest.mark.rounding
@pytest.mark.parametrize("case", CASES)
def test_two_that_share_equal_one(case: str, pair: Path, alone: dict[str, hl.Run]) -> None:
    run = hl.Run(pair / case)
    assert run.sessions_file.read()[0]["sharding"] == "full" and run.config["processes"] == 2
    held_against(run, alone[case])


@slow
@pytest.mark.rounding
@pytest.mark.parametrize("case", SEVERAL)
def test_three_that_share_equal_one(case: str, three: Path, alone: dict[str, hl.Run]) -> None:
    held_against(hl.Run(three / "three" / case), alone[case])


@slow
@pytest.mark.rounding
def test_a_run_goes_on_with_another_number_of_processes(three: Path, alone: dict[str, hl.Run]) -> None:
    "Two shared the backbone until step 2; three that share it went on, and so does one that does not."
    run = hl.Run(three / "begun")
    assert [(s["processes"], s["from_step"]) for s in run.sessions_file.read()] == [(2, 0), (3, 2)]
    with pytest.warns(UserWarning, match="another number of processes"):
        other = train(three / "begun-for-one", "full", save_every=1)
    assert "sharding" not in other.sessions_file.read()[1]
    for found in (run, other):
        held_against(found, alone["full"])


@slow
@pytest.mark.parametrize("method", PLANS)
def test_two_hold_what_the_plan_says(method: str, pair: Path) -> None:
    shares = [json.loads((pair / f"{method}-{rank}.json").read_text()) for rank in (0, 1)]
    sizes = {"batch_size": LOAD.batch_size, "length": LOAD.length, "target": LOAD.target}
    plan = hl.plan(tiny_config(**PLANNED), method, 2, 2, sharded=True, **sizes, **PLANS[method])
    for part in ("weights", "gradients", "optimizer", "kept"):
        assert max(share[part] for share in shares) == pytest.approx(getattr(plan, part), rel=0.1), part
    assert 0 < max(share["gathered"] for share in shares) <= plan.gathered


@slow
def test_a_killed_process_costs_no_step(pair: Path) -> None:
    "kill -9 in the middle of an update; accelerate's configuration asks for shares; bf16 and dropout; the same bits as without."
    stopped, killed = torchrun("killed", pair), hl.Run(pair / "killed")
    assert stopped.returncode != 0 and not killed.finished
    assert next(iter(snapshots(killed.checkpoints))) == 3, stopped.stderr[-3000:]
    (pair / "fsdp.yaml").write_text(CONFIG)
    done = launch("resume", pair, "accelerate.commands.launch", "--config_file", str(pair / "fsdp.yaml"), "--main_process_port=0")
    assert done.returncode == 0, done.stderr[-3000:]
    assert [(s["from_step"], s["sharding"]) for s in killed.sessions_file.read()] == [(0, "full"), (3, "full")]
    assert outcome(killed) == outcome(hl.Run(pair / "whole"))


@slow
def test_a_snapshot_holds_what_is_trained(pair: Path) -> None:
    "No weight of the frozen backbone but trained norms is in the file."
    names = set(weights(hl.Run(pair / "hyperformer++")))
    assert all(name.startswith("rule.") or "norm" in name for name in names)
    assert len(hl.load(pair / "hyperformer++", backbone=toy_backbone(dropout=0.0)).tasks) == 2


def test_one_process_is_told_that_it_shares_with_nobody(tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match="there is one process, which holds the whole backbone"):
        run = train(tmp_path / "one", "bitfit", sharding="full", steps=1, eval_every=1)
    assert run.finished and "sharding" not in run.sessions_file.read()[0]


def test_sharding_is_no_part_of_what_a_run_is(tmp_path: Path) -> None:
    "A run from before the setting goes on with it: it stands in no record."
    run = train(tmp_path / "run", "bitfit", steps=1, eval_every=1)
    assert "sharding" not in run.config["recipe"]
    with pytest.warns(UserWarning, match="one process"):
        assert train(tmp_path / "run", "bitfit", sharding="full", steps=1, eval_every=1).finished


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"sharding": "half"}, "sharding: expected 'full' or None, received 'half'"),
        ({"sharding": "full", "cache_encoder": True}, "cache_encoder: expected False"),
        ({"sharding": "full", "compile": True}, "compile: expected False"),
    ],
)
def test_what_does_not_go_together_is_refused(settings: dict, message: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=message):
        train(tmp_path / "run", "hyperdecoder", **settings)
    assert not (tmp_path / "run" / "config.json").exists()


@pytest.mark.parametrize(
    ("variable", "value", "message"),
    [
        ("FSDP_VERSION", "1", "fsdp_version: expected 2, received 1"),
        ("FSDP_OFFLOAD_PARAMS", "true", "fsdp_offload_params: expected false"),
        ("FSDP_ACTIVATION_CHECKPOINTING", "true", "say gradient_checkpointing=True"),
    ],
)
def test_a_configuration_that_asks_for_more_is_refused(
    variable: str, value: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, given in {"ACCELERATE_USE_FSDP": "true", "FSDP_VERSION": "2", variable: value}.items():
        monkeypatch.setenv(name, given)
    with pytest.raises(ValueError, match=message):
        train(tmp_path / "run", "bitfit")


@pytest.mark.skipif(torch.cuda.device_count() < 2, reason="needs two CUDA devices")
def test_two_gpus(tmp_path: Path) -> None:
    assert torchrun("pair", tmp_path).returncode == 0
    assert hl.Run(tmp_path / "whole").config["device"].startswith("cuda")
