"""What hl.train and hl.few_shot refuse, what a refusal leaves behind, and that nothing non-finite is saved or judged."""

import math
from pathlib import Path

import datasets
import pytest
import torch

import hyperlab as hl
from hyperlab.data.batches import TrainingBatches
from hyperlab.nano.toy import toy_backbone, toy_tasks, toy_tokenizer
from hyperlab.training.recipes import make_recipe
from hyperlab.training.run_folder import Run, snapshots
from hyperlab.training.update import nonfinite_state
from toy_runs import SHORT, outcome, toy_model, toy_run

datasets.disable_progress_bars()
NAN, INF = math.nan, math.inf
LAST = {"steps": 1, "warmup": 0, "eval_every": 1, "log_every": 1}


def plain_model(method: str, tasks: list[str] | None = None) -> hl.AdaptedModel:
    names = toy_tasks()
    options = {"reduction_factor": 4} if hasattr(hl.get_method(method), "reduction_factor") else {}
    torch.manual_seed(0)
    return hl.adapt(toy_backbone(), method, tasks or names, tokenizer=toy_tokenizer(), **options)


RATES = ("learning_rate", "weight_decay", "clip", "label_smoothing", "epochs")


@pytest.mark.parametrize("value", [NAN, INF, -INF], ids=str)
@pytest.mark.parametrize("name", RATES)
def test_a_rate_is_finite(name: str, value: float) -> None:
    with pytest.raises(ValueError, match=f"{name}: expected .*received -?(nan|inf)"):
        make_recipe("adapter", **{name: value})


@pytest.mark.parametrize("value", [NAN, INF, -1.0], ids=str)
def test_every_entry_of_rates_and_epochs_is_checked(value: float) -> None:
    for name in ("rates", "epochs"):
        with pytest.raises(ValueError, match=f"{name}: expected .*mapping.*received"):
            make_recipe("adapter", **{name: {"first": 1.0, "second": value}})


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"epochs": -1}, "epochs: expected a number above 0"),
        ({"epochs": 0}, "epochs: expected a number above 0"),
        ({"clip": 0}, "clip: expected a number above 0, received 0"),
        ({"clip": -1.0}, "clip: expected a number above 0, received -1"),
        ({"steps": 4, "warmup": 5}, "warmup: expected fewer updates than the run's 4, received 5"),
        ({"steps": 1, "warmup": 1}, "warmup: expected fewer updates than the run's 1, received 1"),
        ({"seed": -1}, "seed: expected at least 0, received -1"),
        ({"seed": 2**32}, "seed: expected at most 4,294,967,295, received 4294967296"),
        ({"batch_size": 10**9}, "batch_size: expected at most 65,536, received 1000000000"),
        ({"steps": 10**400}, "steps: expected at most"),
        ({"learning_rate": 10**400}, "learning_rate: expected at most"),
        ({"rates": {3: 1.0}}, "rates: expected a mapping of name to rate"),
        ({"paper": ""}, "unknown paper ''"),
    ],
    ids=lambda value: ",".join(value) if isinstance(value, dict) else "",
)
def test_out_of_range(wrong: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make_recipe("adapter", **wrong)


def test_a_warm_up_of_the_protocol_that_is_too_long_is_said(tmp_path: Path) -> None:
    "It is the protocol's number, so it is kept; but the run hardly learns, and that is not kept quiet."
    how = {"steps": 2, "eval_every": 2, "batch_size": 4, "protocol": "released", "eval_examples": 4, "max_examples": 8}
    with pytest.warns(UserWarning, match="warmup: the 500 updates of protocol 'released' are more than the run's 2"):
        hl.train(toy_model(), run_dir=tmp_path, progress=False, report_to="none", **how)


def test_a_batch_larger_than_the_rows_is_said(tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match="batch_size: 32 is more than the 8 training rows"):
        toy_run(tmp_path, steps=1, batch_size=32, max_examples=4)


@pytest.mark.parametrize("method", ["adapter-dagger", "polytropon", "full", "compacter++"])
def test_the_last_update_is_checked(method: str, tmp_path: Path) -> None:
    "A rate that is finite and far too high: no non-finite weight is saved, judged or called the result."
    settings = SHORT | LAST | {"learning_rate": 3e38, "clip": 1e9}
    with pytest.raises(hl.training.NonFinite) as caught:
        hl.train(plain_model(method), run_dir=tmp_path / "run", progress=False, report_to="none", **settings)
    message = str(caught.value)
    assert "step 1: weight of '" in message and "lower learning_rate" in message
    assert f"the last good state is '{tmp_path / 'run' / 'checkpoints' / 'step-00000000'}'" in message
    (evidence,) = (tmp_path / "run" / "nonfinite").iterdir()
    again = hl.training.replay(evidence, backbone=plain_model(method).detach())
    assert str(again) in message
    run = Run(tmp_path / "run")
    assert list(snapshots(run.checkpoints)) == [0] and not run.finished
    assert not [line for line in run.log_file.read() if "tasks" in line]  # no score of such weights


@pytest.mark.parametrize("method", ["adapter-dagger", "polytropon"])
def test_weights_that_went_bad_leave_evidence_at_the_next_step(method: str, tmp_path: Path) -> None:
    "Between saves; Polytropon refuses such weights before there is a loss."
    settings = SHORT | {
        "learning_rate": 3e38,
        "clip": 1e9,
        "warmup": 0,
        "steps": 6,
        "eval_every": 6,
        "save_every": 100,
        "log_every": 100,
    }
    rates = {"rates": {"routing": 3e38}} if method == "polytropon" else {}
    with pytest.raises(hl.training.NonFinite, match="step 1: weight of '.*the last good state is .*step-00000000"):
        hl.train(plain_model(method), run_dir=tmp_path / "run", progress=False, report_to="none", **settings, **rates)
    assert list((tmp_path / "run" / "nonfinite").iterdir())


def test_a_moment_that_is_not_finite_is_not_saved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    "A second moment of infinity would make every later update of its weight zero, without a word."
    from hyperlab.training.trainer import Trainer

    plain = Trainer.update

    def spoil(self: Trainer, interruption: object) -> None:
        plain(self, interruption)
        if self.progress.step == 3:
            next(iter(self.optimizer.state.values()))["exp_avg_sq"].view(-1)[0] = INF

    monkeypatch.setattr(Trainer, "update", spoil)
    with pytest.raises(hl.training.NonFinite, match="step 4: moment of 'exp_avg_sq of .*not finite.*state.*step-00000002"):
        toy_run(tmp_path / "run", "adapter-dagger")
    assert list(snapshots(tmp_path / "run" / "checkpoints"))[0] == 2


def test_a_model_with_nan_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    model = toy_model("adapter-dagger")
    with torch.no_grad():
        model.rule.generators["encoder"].of("up")[1][0, 0, 0] = NAN
    for fit in (lambda: hl.train(model, run_dir=tmp_path / "run", steps=1), lambda: hl.few_shot(model, "toy-pet", shots=4)):
        with pytest.raises(hl.training.NonFinite, match="model: expected finite weights before training.*encoder.values.up.1"):
            fit()
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("method", ["hyperformer++", "full", "bitfit"])
def test_half_precision_is_refused(method: str, tmp_path: Path) -> None:
    model = plain_model(method, ["toy-mood"]).half()
    for fit in (lambda: hl.train(model, run_dir=tmp_path / "run", steps=1), lambda: hl.few_shot(model, "toy-pet", shots=4)):
        with pytest.raises(ValueError, match=r"float32, bfloat16 or float64, received torch.float16.*model.float\(\)"):
            fit()
    assert model.tasks == ["toy-mood"] and not (tmp_path / "run").exists()


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float64], ids=str)
def test_other_precisions_train(dtype: torch.dtype, tmp_path: Path) -> None:
    settings = SHORT | {"steps": 2, "eval_every": 2}
    assert hl.train(toy_model("adapter-dagger").to(dtype), run_dir=tmp_path, progress=False, report_to="none", **settings).finished


def test_what_is_no_model_is_refused() -> None:
    for wrong in ("nano", None, toy_backbone()):
        with pytest.raises(TypeError, match="model: expected what hl.adapt or hl.load returns, received"):
            hl.train(wrong, steps=1)


@pytest.mark.parametrize("wrong", [5, b"runs", ["runs"], "a\0b", "x" * 300], ids=lambda value: type(value).__name__)
def test_a_folder_that_cannot_be(wrong: object) -> None:
    with pytest.raises((TypeError, ValueError), match="run_dir: expected a folder's name.*received"):
        hl.train(toy_model(), run_dir=wrong, steps=1)


def test_a_file_in_the_place_of_the_folder(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    for place in (tmp_path / "file", tmp_path / "file" / "run"):
        with pytest.raises(ValueError, match="run_dir: expected a folder's name.*file' is a file; choose another one"):
            hl.train(toy_model(), run_dir=place, steps=1)
    assert (tmp_path / "file").read_text() == "mine"


@pytest.mark.parametrize("wrong", [5, {"tensorboard": 1}, [3], False], ids=repr)
def test_what_is_no_logger_is_refused(wrong: object, tmp_path: Path) -> None:
    with pytest.raises((TypeError, ValueError), match="report_to: expected .*received"):
        hl.train(toy_model(), run_dir=tmp_path, steps=1, report_to=wrong)


REFUSED = {
    "recipe": {"learning_rate": NAN},
    "rate without a parameter": {"rates": {"nowhere": 1.0}},
    "machine": {"batch_size": 9, "accumulate": 2},
    "method": {"cache_encoder": True, "gradient_checkpointing": True},
    "backend": {"compile": "nocompiler"},
}


REFUSALS = dict(
    zip(REFUSED, ["finite number", "no trained parameter", "a multiple", "the encoder computes", "backend"], strict=True)
)


@pytest.mark.parametrize("why", REFUSED)
def test_a_refused_start_does_not_block_its_folder(why: str, tmp_path: Path) -> None:
    model = toy_model("adapter-dagger")
    with pytest.raises(ValueError, match=REFUSALS[why]):
        hl.train(model, run_dir=tmp_path / "run", progress=False, report_to="none", **(SHORT | REFUSED[why]))
    assert not (tmp_path / "run" / "config.json").exists()
    assert not model.backbone.is_gradient_checkpointing and model.encodings is None
    assert toy_run(tmp_path / "run", "adapter-dagger", steps=2, eval_every=2).finished


def test_a_start_that_its_logger_refuses_does_not_block(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from accelerate import Accelerator

    def refuse(*args: object, **kwargs: object) -> None:
        raise ConnectionError("no such logger here")

    monkeypatch.setattr(Accelerator, "init_trackers", refuse)
    with pytest.raises(ConnectionError):
        toy_run(tmp_path / "run")
    assert not (tmp_path / "run" / "config.json").exists()


def test_a_run_without_an_update_gives_way_and_one_with_updates_does_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = TrainingBatches.__getitem__
    for broken in (0, 3):
        folder = tmp_path / f"run-{broken}"
        fail = lambda self, step, at=broken: plain(self, step) if step != at else 1 / 0
        monkeypatch.setattr(TrainingBatches, "__getitem__", fail)
        with pytest.raises(ZeroDivisionError):
            toy_run(folder)
        monkeypatch.undo()
    whole = toy_run(tmp_path / "whole", learning_rate=1e-3, method="adapter-dagger")
    assert outcome(toy_run(tmp_path / "run-0", learning_rate=1e-3, method="adapter-dagger")) == outcome(whole)
    with pytest.raises(ValueError, match="holds another run: recipe.learning_rate"):
        toy_run(tmp_path / "run-3", learning_rate=1e-3)
    assert outcome(toy_run(tmp_path / "run-3")) == outcome(toy_run(tmp_path / "same"))


def test_a_damaged_record_is_named(tmp_path: Path) -> None:
    run = toy_run(tmp_path / "run", steps=2, eval_every=2)
    (run.path / "config.json").write_text('{"model": ')
    with pytest.raises(ValueError, match=r"config.json' is damaged: expected JSON .*restore it"):
        toy_run(tmp_path / "run", steps=2, eval_every=2)


def test_gradients_of_the_caller_are_not_trained_on(tmp_path: Path) -> None:
    "A backward pass before hl.train, or before hl.few_shot, changes nothing."
    short = SHORT | {"steps": 2, "eval_every": 2}
    runs, fits = [], []
    for used in (False, True):
        model, other = toy_model("adapter-dagger"), plain_model("adapter-dagger", ["toy-mood"])
        for one in (model, other) if used else ():
            ids = one.tokenize(["the happy cat"])["input_ids"]
            one(ids, labels=ids, task="toy-mood").loss.backward()
        runs.append(outcome(hl.train(model, run_dir=tmp_path / str(used), progress=False, report_to="none", **short)))
        fits.append(hl.few_shot(other, "toy-pet", shots=8, candidates=(2,), eval_examples=8, progress=False))
    assert runs[0] == runs[1] and fits[0] == fits[1]


def test_random_states_of_the_caller_are_given_back(tmp_path: Path) -> None:
    import random

    import numpy as np

    torch.manual_seed(7)
    states = lambda: (random.getstate(), str(np.random.get_state()), torch.get_rng_state().tolist())  # noqa: NPY002
    model = toy_model("adapter-dagger")
    before = states()
    hl.train(model, run_dir=tmp_path, progress=False, report_to="none", **(SHORT | {"steps": 2, "eval_every": 2}))
    assert states() == before


def state(model: hl.AdaptedModel) -> list[object]:
    "All that a failed fit must leave alone."
    modes = [module.training for module in model.modules()]
    parameters = [(name, id(p), p.requires_grad, p.grad) for name, p in model.named_parameters()]
    return [list(model.tasks), parameters, modes, torch.get_rng_state().tolist()]


FAILURES = {
    "nan rate": {"learning_rate": NAN},
    "nan rates": {"rates": {"": NAN}},
    "rate far too high": {"learning_rate": 3e38},
    "nan factor": {"factors": (NAN,)},
    "no factor": {"factors": ()},
    "no candidate": {"candidates": ()},
    "negative candidate": {"candidates": (-1,)},
    "half a shot": {"shots": 2.5},
    "negative seed": {"seed": -1},
    "empty batch": {"batch_size": 0},
    "unknown start": {"like": "nowhere"},
    "unknown protocol": {"protocol": "papers"},
}


@pytest.mark.parametrize("training", [True, False], ids=["train", "eval"])
@pytest.mark.parametrize("why", FAILURES)
def test_a_failed_fit_leaves_the_model_as_it_was(why: str, training: bool) -> None:
    model = plain_model("hyperformer++", ["toy-mood"]).train(training)
    before, weights = state(model), {name: tensor.clone() for name, tensor in model.state_dict().items()}
    with pytest.raises((ValueError, hl.training.NonFinite)) as caught:
        hl.few_shot(model, "toy-pet", **({"shots": 8, "candidates": (0, 2), "eval_examples": 8, "progress": False} | FAILURES[why]))
    ((name, value),) = FAILURES[why].items()
    assert name in str(caught.value) or f"'{value}'" in str(caught.value)
    after = model.state_dict()
    assert state(model) == before and after.keys() == weights.keys()
    assert all(torch.equal(tensor, weights[name]) for name, tensor in after.items())


@pytest.mark.parametrize("method", ["hyperformer++", "adapter-dagger", "polytropon", "full", "prompt-tuning"])
@pytest.mark.parametrize("at", [1, 2], ids=["start", "end"])
def test_an_interrupted_fit_leaves_the_model_as_it_was(method: str, at: int, monkeypatch: pytest.MonkeyPatch) -> None:
    "Ctrl-C in the test of the start, and in that of the end, when everything is learned."
    from hyperlab.training import few_shot

    model, calls, plain = plain_model(method, ["toy-mood"]), [], few_shot.evaluate
    before, weights = state(model), {name: tensor.clone() for name, tensor in model.state_dict().items()}

    def press(*arguments: object) -> object:
        calls.append(1)
        if len(calls) == at:
            raise KeyboardInterrupt
        return plain(*arguments)

    monkeypatch.setattr(few_shot, "evaluate", press)
    with pytest.raises(KeyboardInterrupt):
        hl.few_shot(model, "toy-pet", shots=8, candidates=(2,), eval_examples=8, progress=False)
    after = model.state_dict()
    assert len(calls) == at and state(model) == before and after.keys() == weights.keys()
    assert all(torch.equal(tensor, weights[name]) for name, tensor in after.items())


def test_nonfinite_state_names_the_first() -> None:
    model = toy_model("adapter-dagger")
    assert nonfinite_state(model) is None
    with torch.no_grad():
        model.rule.generators["decoder"].of("down")[0][0, 0, 0] = INF
    assert nonfinite_state(model) == ("weight", "rule.generators.decoder.values.down.0")
