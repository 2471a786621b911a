"""Runs that are killed, cut off or damaged, and end as if nothing had happened."""

from __future__ import annotations

import errno
import os
import random
import resource
import signal
import threading
import time
import warnings
from pathlib import Path

import pytest
import torch

import hyperlab as hl
from hyperlab.training import evaluation, run_folder
from hyperlab.training.run_folder import newest_snapshot, snapshots
from toy_runs import SHORT, forked, outcome, toy_model, toy_run


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> tuple[hl.Run, float]:
    "A run that nothing happens to, and how long it took."
    begin = time.perf_counter()
    run = toy_run(tmp_path_factory.mktemp("runs") / "undisturbed")
    return run, time.perf_counter() - begin


def wait_for(child: int) -> int:
    "How a child process ended: its exit code, or minus the signal."
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


@pytest.mark.slow
def test_killed_at_random_moments(undisturbed, tmp_path: Path) -> None:
    "SIGKILL at random moments of whole runs, at least fourteen times: the end is the same to the last bit."
    run, seconds = undisturbed
    chance, kills = random.Random(0), 0
    for attempt in range(40):
        folder = tmp_path / f"run-{attempt}"
        while True:
            child = forked(lambda folder=folder: toy_run(folder))
            timer = threading.Timer(chance.uniform(0.05, 0.6) * seconds, os.kill, (child, signal.SIGKILL))
            timer.start()
            code = wait_for(child)
            timer.cancel()
            if code == 0:
                break
            assert code == -signal.SIGKILL
            kills += 1
        assert outcome(hl.Run(folder)) == outcome(run)
        if kills >= 14:
            break
    assert kills >= 14
    print(f"{kills} kills over {attempt + 1} runs")


@pytest.mark.parametrize("place", ["publish", "write_manifest", "replace", "set_aside"])
def test_killed_inside_a_save(undisturbed, tmp_path: Path, place: str) -> None:
    "SIGKILL before and after each kind of write of a save: two kills at every place."
    run, _ = undisturbed
    kills = 0
    for number, after in ((3, False), (2, True)):

        def work(number: int = number, after: bool = after) -> None:
            owner = os if place == "replace" else run_folder
            plain, calls = getattr(owner, place), [0]

            def deadly(*args: object, **kwargs: object) -> object:
                calls[0] += 1
                if calls[0] == number and not after:
                    os.kill(os.getpid(), signal.SIGKILL)
                result = plain(*args, **kwargs)
                if calls[0] == number:
                    os.kill(os.getpid(), signal.SIGKILL)
                return result

            setattr(owner, place, deadly)
            toy_run(tmp_path / "run")

        code = wait_for(forked(work))
        assert code in (0, -signal.SIGKILL)
        kills += code != 0
    assert kills == 2
    assert outcome(toy_run(tmp_path / "run")) == outcome(run)


def test_terminated_in_order(undisturbed, tmp_path: Path) -> None:
    "SIGTERM: the step is finished, the state saved, and the exit code says what happened."
    run, seconds = undisturbed
    child = forked(lambda: toy_run(tmp_path / "run", save_every=1000, eval_every=1000))
    while not (tmp_path / "run" / "log.jsonl").exists():
        time.sleep(0.01)
    os.kill(child, signal.SIGTERM)
    wait_for(child)
    (step, *_) = snapshots(tmp_path / "run" / "checkpoints")
    assert 0 < step < SHORT["steps"]  # there would be none but step 0 without the signal
    whole = toy_run(tmp_path / "whole", save_every=1000, eval_every=1000)
    assert outcome(toy_run(tmp_path / "run", save_every=1000, eval_every=1000)) == outcome(whole)


def test_interrupted_by_hand(undisturbed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    "Ctrl-C in an update: KeyboardInterrupt for the caller, a run that can go on."
    from hyperlab.data.batches import TrainingBatches

    plain = TrainingBatches.__getitem__
    for step in (5, 14):
        press = lambda self, at, step=step: (os.kill(os.getpid(), signal.SIGINT) if at == step else None, plain(self, at))[1]
        monkeypatch.setattr(TrainingBatches, "__getitem__", press)
        with pytest.raises(KeyboardInterrupt):
            toy_run(tmp_path / "run")
        assert next(iter(snapshots(tmp_path / "run" / "checkpoints"))) == step
        monkeypatch.undo()
    assert outcome(toy_run(tmp_path / "run")) == outcome(undisturbed[0])


@pytest.mark.parametrize(("call", "step"), [(1, 8), (5, 16)], ids=["validation", "test"])
def test_interrupted_in_an_evaluation(undisturbed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: int, step: int) -> None:
    "Ctrl-C while a batch is being answered: in the first validation, and in the test at the end."
    plain, calls = evaluation.write, []

    def press(*args: object) -> object:
        calls.append(1)
        if len(calls) == call:
            os.kill(os.getpid(), signal.SIGINT)
        return plain(*args)

    monkeypatch.setattr(evaluation, "write", press)
    with pytest.raises(KeyboardInterrupt):
        toy_run(tmp_path / "run")
    assert len(calls) == call  # the next batch is not begun
    assert next(iter(snapshots(tmp_path / "run" / "checkpoints"))) == step
    monkeypatch.undo()
    assert outcome(toy_run(tmp_path / "run")) == outcome(undisturbed[0])


def test_full_disk(undisturbed, tmp_path: Path) -> None:
    "A write that fails in the middle of a save leaves the earlier states whole; with room again the run goes on."
    seen: list[int] = []

    def work() -> None:
        plain = run_folder.tensor_bytes

        def limited(tensors: dict[str, torch.Tensor]) -> bytes:
            seen.append(1)
            content = plain(tensors)
            if len(seen) == 4:  # from here on no file may grow past half of this one
                signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
                resource.setrlimit(resource.RLIMIT_FSIZE, (len(content) // 2, resource.RLIM_INFINITY))
            return content

        run_folder.tensor_bytes = limited
        try:
            toy_run(tmp_path / "run")
        except OSError as error:
            resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
            (tmp_path / "error").write_text(f"{error.errno} {error.__notes__}")

    assert wait_for(forked(work)) == 0
    number, notes = (tmp_path / "error").read_text().split(" ", 1)
    assert int(number) == errno.EFBIG
    assert "earlier checkpoints are whole" in notes
    assert not list((tmp_path / "run" / "checkpoints").glob(".*partial"))
    newest, skipped = newest_snapshot(tmp_path / "run" / "checkpoints")
    assert newest is not None
    assert not skipped
    assert newest.name == "step-00000004"
    assert outcome(toy_run(tmp_path / "run")) == outcome(undisturbed[0])


def broken_off(folder: Path, at: int) -> None:
    "A run that ends with an error before step `at`."
    from hyperlab.data.batches import TrainingBatches

    plain = TrainingBatches.__getitem__

    def get(self: TrainingBatches, step: int) -> object:
        if step == at:
            raise RuntimeError("the machine is gone")
        return plain(self, step)

    TrainingBatches.__getitem__ = get  # type: ignore[assignment]
    try:
        with pytest.raises(RuntimeError, match="the machine is gone"):
            toy_run(folder)
    finally:
        TrainingBatches.__getitem__ = plain  # type: ignore[method-assign]


FILES = ["manifest.json", "config.json", "weights-*.safetensors", "optimizer.safetensors", "progress.json"]


def test_every_damage_is_found(undisturbed, tmp_path: Path) -> None:
    "Truncate, flip a byte in, or delete each file of the newest state in turn: the one before is found, and it is said why."
    folder = tmp_path / "run"
    broken_off(folder, at=11)
    checkpoints = folder / "checkpoints"
    newest, second = list(snapshots(checkpoints).values())[:2]
    cases = 0
    for pattern in FILES:
        (path,) = newest.glob(pattern)
        content = path.read_bytes()
        middle = len(content) // 2
        for damage in (content[:middle], content[:middle] + bytes([content[middle] ^ 4]) + content[middle + 1 :], None):
            path.unlink()
            if damage is not None:
                path.write_bytes(damage)
            found, skipped = newest_snapshot(checkpoints)
            # a flipped bit in the manifest may leave it readable: then it accuses the file whose entry it changed
            assert found == second, (pattern, skipped)
            assert newest.name in skipped[0]
            assert damage is not None or f"{path.name} is missing" in skipped[0]
            path.write_bytes(content)
            cases += 1
    assert cases == 15
    assert newest_snapshot(checkpoints) == (newest, [])


def test_goes_on_from_the_last_good_state(undisturbed, tmp_path: Path) -> None:
    "The message names what was passed over, and the end is the same."
    folder = tmp_path / "run"
    broken_off(folder, at=15)
    newest = next(iter(snapshots(folder / "checkpoints").values()))
    (newest / "optimizer.safetensors").write_bytes(b"")
    with pytest.warns(UserWarning, match=rf"passed over {newest.name}: optimizer.safetensors has 0 bytes instead of \d+"):
        run = toy_run(folder)
    assert outcome(run) == outcome(undisturbed[0])
    assert newest.name in run.sessions_file.read()[-1]["passed_over"][0]


def test_lost_best_weights_are_made_again(undisturbed, tmp_path: Path) -> None:
    "A state is no use if the weights it calls the best are gone."
    folder = tmp_path / "run"
    broken_off(folder, at=15)
    checkpoints = folder / "checkpoints"
    (checkpoints / "step-00000008" / "manifest.json").unlink()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        run = toy_run(folder)
    assert any("the best weights, of step 8, are lost" in str(w.message) for w in caught)
    assert outcome(run) == outcome(undisturbed[0])


def test_second_run_is_refused_with_the_holder_named(tmp_path: Path) -> None:
    "From another process, while the first one trains."
    long = {"steps": 10_000, "eval_every": 10_000}
    first = forked(lambda: toy_run(tmp_path / "run", **long))
    try:
        while not (tmp_path / "run" / "log.jsonl").exists():
            time.sleep(0.02)
        with pytest.raises(hl.training.RunIsBusy, match=f"process {first} on .* since 20"):
            toy_run(tmp_path / "run", **long)
    finally:
        os.kill(first, signal.SIGKILL)
        wait_for(first)


def test_non_finite_numbers_stop_before_the_update(tmp_path: Path) -> None:
    "The task, the examples and the first bad module are named; the weights are as before; the batch can be replayed."
    model = toy_model("adapter-dagger")
    runaway = model.rule.generators["decoder"].of("up")[1]
    with torch.no_grad():
        runaway.fill_(3e38)
    before = {name: tensor.clone() for name, tensor in model.trained_tensors().items()}
    with pytest.raises(hl.training.NonFinite) as caught:
        hl.train(model, run_dir=tmp_path / "run", progress=False, **(SHORT | {"learning_rate": 1e-3}))
    message = str(caught.value)
    assert "toy-pet row" in message
    assert "toy-mood row" not in message
    assert "backbone.decoder.block.0" in message
    assert all(torch.equal(tensor, before[name]) for name, tensor in model.trained_tensors().items())
    (evidence,) = (tmp_path / "run" / "nonfinite").iterdir()
    again = hl.training.replay(evidence, backbone=model.detach())
    assert str(again) in message


def test_infinite_gradient_is_found(tmp_path: Path) -> None:
    "A loss that is finite with a gradient that is not."

    class Steep(torch.autograd.Function):
        @staticmethod
        def forward(ctx: object, x: torch.Tensor) -> torch.Tensor:
            return x.clone()

        @staticmethod
        def backward(ctx: object, gradient: torch.Tensor) -> torch.Tensor:
            return gradient * float("inf")

    model = toy_model("adapter-dagger")
    place = model.backbone.decoder.block[1].layer[2].layer_norm
    place.register_forward_hook(lambda module, inputs, output: Steep.apply(output))
    with pytest.raises(hl.training.NonFinite, match=r"gradient of 'backbone.decoder.block.1.layer.2.layer_norm.weight'"):
        hl.train(model, run_dir=tmp_path / "run", progress=False, **SHORT)
