"""Training across chapters: what is learned, what a recipe changes, what a run leaves behind."""

from __future__ import annotations

import json
import math
import os
import random
from pathlib import Path

import pandas as pd
import pytest
import torch

from conftest import BACKWARD, FORWARD, SEED, fell, margin

import hyperlab as hl
from hyperlab.data.prompts import Accepted
from hyperlab.core.vector_history import kept_vectors
from hyperlab.data.batches import TrainingBatches
from hyperlab.data.task import Task
from hyperlab.papers.compacter import COMPARED_METHODS, TRAINING
from hyperlab.training.run_folder import snapshots
from hyperlab.nano.toy import toy_backbone, toy_tokenizer
from hyperlab.training.update import target_tokens, token_loss
from toy_runs import SHORT, furthest, outcome, toy_model, toy_run

RATES = {"hyperformer++": 3e-3, "adapter-dagger": 1e-2, "full": 1e-3}


@pytest.mark.slow
@pytest.mark.margins
@pytest.mark.parametrize("method", RATES)
def test_learns_the_toy_world(method: str, tmp_path: Path) -> None:
    "Loss falls, and test scores are far above the majority class on both tasks; without dropout, whose noise a short run keeps."
    settings = {"steps": 200, "batch_size": 32, "learning_rate": RATES[method], "eval_every": 200}
    model = toy_model(method, SEED, dropout=0.0)
    run = hl.train(model, run_dir=tmp_path, progress=False, report_to="none", seed=SEED, **settings)
    loss = run.log["loss"].dropna()
    margin("last loss, as a share of the first", loss.iloc[-1] / loss.iloc[0], 1 / 4)
    for name, scores in run.result["tasks"].items():
        labels = pd.Series(run.predictions.query("task == @name").target)
        majority = 100 * labels.value_counts(normalize=True).max()
        wrong = (100 - scores["accuracy"]) / (75 - majority)
        margin(f"{name}: wrong answers, as a share of those 25 points above the majority", wrong, 1)


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> hl.Run:
    return toy_run(tmp_path_factory.mktemp("finished") / "run", method="adapter-dagger")


def test_a_run_holds_what_it_promises(finished: hl.Run) -> None:
    result, config = finished.result, finished.config
    assert set(result["tasks"]) == {"toy-mood", "toy-pet"}
    values = [v for metrics in result["tasks"].values() for v in metrics.values()]
    assert result["average_metrics"] == pytest.approx(sum(values) / len(values))
    assert set(result["parameters"]) == {"trained", "total", "trained_percent_per_task"}
    model = toy_model("adapter-dagger")
    assert result["parameters"]["trained"] == sum(p.numel() for p in model.parameters() if p.requires_grad)
    assert config["recipe"]["steps"] == SHORT["steps"]
    assert {"torch", "transformers", "python"} <= set(config["versions"])
    assert config["data"]["train"]["toy-mood"]["rows"] == SHORT["max_examples"]
    assert {"seconds", "examples_per_second", "padding_waste", "peak_memory_bytes"} <= set(result["cost"])
    assert 0 <= result["cost"]["padding_waste"] < 0.5
    predictions = finished.predictions
    assert predictions.groupby("task").size().tolist() == [SHORT["eval_examples"]] * 2
    entry: Task = hl.task("toy-pet")
    written = predictions.query("task == 'toy-pet'")
    right = 100 * (written.prediction == written.target).mean()
    assert right == pytest.approx(result["tasks"]["toy-pet"]["accuracy"])
    assert set(entry.labels) >= set(written.target)


def test_every_update_is_logged_once(finished: hl.Run) -> None:
    steps = finished.log.dropna(subset=["loss"]).step.tolist()
    assert steps == list(range(SHORT["log_every"], SHORT["steps"] + 1, SHORT["log_every"]))
    assert finished.log.dropna(subset=["average_tasks"]).step.tolist() == [8, 16]


@pytest.mark.rounding
def test_first_logged_loss_is_the_plain_mean(tmp_path: Path) -> None:
    "Without dropout, and with a batch of one task, the log's first loss is transformers' own."
    settings = {"steps": 1, "log_every": 1, "mixed": False, "batch_size": 8}
    model = toy_model(dropout=0.0)
    from hyperlab.data.tokens import load_task_split

    tokens = {name: load_task_split(name, "train", model).tokens for name in model.tasks}
    batch = TrainingBatches(tokens, 8, mixed=False, seed=0)[0]
    theirs = model(batch["input_ids"], attention_mask=batch["attention_mask"], labels=batch["labels"], task=batch["task"]).loss
    run = hl.train(model, run_dir=tmp_path, progress=False, report_to="none", eval_examples=4, **settings)
    margin("loss, relative", abs(run.log["loss"].iloc[0] / theirs.item() - 1), FORWARD)


def test_selected_weights_are_the_best_average(tmp_path: Path) -> None:
    run = toy_run(tmp_path / "run", learning_rate=0.03, eval_every=4)
    evaluated = run.log.dropna(subset=["average_metrics"])
    best = evaluated.loc[evaluated.average_metrics.idxmax()]  # the first of equals
    assert run.result["selection"]["steps"]["average"] == best.step
    steps = set(snapshots(run.path / "checkpoints"))
    assert {int(best.step), 16} <= steps
    loaded = hl.load(run.path, backbone=toy_model().detach(), tokenizer=toy_model().tokenizer)
    kept = hl.load(run.path / "checkpoints" / f"step-{int(best.step):08d}", backbone=toy_model().detach())
    assert all(torch.equal(a, b) for a, b in zip(loaded.parameters(), kept.parameters(), strict=True))


@pytest.mark.parametrize("selection", ["last", "per-task"])
def test_other_selections(selection: str, tmp_path: Path) -> None:
    run = toy_run(tmp_path / "run", selection=selection, learning_rate=0.03, eval_every=4)
    steps, best = run.result["selection"]["steps"], run.result["validation"]
    expected = {name: 16 if selection == "last" else best[name][1] for name in ("average", "toy-mood", "toy-pet")}
    assert steps == expected


def test_early_stopping_counts_evaluations_without_a_better_average(tmp_path: Path) -> None:
    run = toy_run(tmp_path / "run", learning_rate=0.0, eval_every=2, patience=3)  # nothing is learned: no average is better
    assert run.result["stopped_early"]
    assert run.result["steps"] == 2 + 3 * 2
    assert outcome(toy_run(tmp_path / "run", learning_rate=0.0, eval_every=2, patience=3)) == outcome(run)


@pytest.mark.margins
@pytest.mark.parametrize("settings", [{"optimizer": "adafactor"}, {"precision": "bf16"}, {"gradient_checkpointing": True},
                                      {"loss": "sum", "label_smoothing": 0.1}, {"schedule": "constant", "accumulate": 2}],
                         ids=lambda s: next(iter(s)))  # fmt: skip
def test_recipes_train_and_resume(settings: dict, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    "Each with an error in the middle: the end is that of the run without."
    short = {"steps": 8, "eval_every": 4, "log_every": 1} | settings
    short |= {"seed": SEED}
    whole = toy_run(tmp_path / "whole", **short)
    losses = whole.log["loss"].dropna()
    fell("loss", losses.iloc[:3].mean(), losses.iloc[-3:].mean(), 0.05)
    plain = TrainingBatches.__getitem__
    monkeypatch.setattr(TrainingBatches, "__getitem__", lambda self, step: plain(self, step) if step != 7 else 1 / 0)
    with pytest.raises(ZeroDivisionError):
        toy_run(tmp_path / "broken", **short)
    monkeypatch.undo()
    assert outcome(toy_run(tmp_path / "broken", **short)) == outcome(whole)


def test_kept_encodings_train_and_resume(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    "Encodings are not in a checkpoint: they are made again, and the run is the same to the last bit."

    def run(folder: Path) -> hl.Run:
        model = toy_model("hyperdecoder", encoder="none", decoder_size=4)
        short = SHORT | {"steps": 8, "eval_every": 4, "cache_encoder": True}
        done = hl.train(model, run_dir=folder, progress=False, report_to="none", **short)
        assert model.encodings is None
        return done

    whole, plain = run(tmp_path / "whole"), TrainingBatches.__getitem__
    assert whole.config["recipe"]["cache_encoder"] is True
    monkeypatch.setattr(TrainingBatches, "__getitem__", lambda self, step: plain(self, step) if step != 7 else 1 / 0)
    with pytest.raises(ZeroDivisionError):
        run(tmp_path / "broken")
    monkeypatch.undo()
    assert outcome(run(tmp_path / "broken")) == outcome(whole)


def test_vectors_are_kept_on_the_way_and_none_of_a_future_that_did_not_happen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, plain = toy_run(tmp_path / "whole", save_every=4), TrainingBatches.__getitem__
    kept = kept_vectors(whole.path)
    assert list(kept) == list(range(0, 17, 2)) and sum(p.stat().st_size for p in kept.values()) < 300_000
    monkeypatch.setattr(TrainingBatches, "__getitem__", lambda self, step: plain(self, step) if step != 7 else 1 / 0)
    with pytest.raises(ZeroDivisionError):
        toy_run(tmp_path / "broken", save_every=4)
    found = kept_vectors(tmp_path / "broken")
    assert list(found) == [0, 2, 4, 6]  # of step 6, which a run that goes on from step 4 has not reached
    (tmp_path / "broken" / "vectors" / "step-00000012.safetensors").write_bytes(kept[0].read_bytes())
    (tmp_path / "broken" / "vectors" / ".step-00000006.safetensors.1.part").write_bytes(b"half")
    monkeypatch.setattr(TrainingBatches, "__getitem__", lambda self, step: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        toy_run(tmp_path / "broken", save_every=4)
    assert sorted(p.name for p in (tmp_path / "broken" / "vectors").iterdir()) == [p.name for p in list(kept.values())[:3]]
    monkeypatch.setattr(TrainingBatches, "__getitem__", plain)
    assert outcome(toy_run(tmp_path / "broken", save_every=4)) == outcome(whole)


def test_encodings_can_be_kept_only_where_the_encoder_is_left_alone(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="changes what the encoder computes"):
        toy_run(tmp_path, cache_encoder=True)


@pytest.mark.slow
@pytest.mark.rounding
def test_compiled_run_is_the_same_run(tmp_path: Path) -> None:
    "The graph that torch.compile takes, run as it is: the same numbers but for rounding, and a model that is left uncompiled."
    model = toy_model("adapter-dagger")
    short = SHORT | {"steps": 4, "eval_every": 4}
    compiled = hl.train(model, run_dir=tmp_path / "compiled", progress=False, report_to="none", compile="eager", **short)
    plain = toy_run(tmp_path / "plain", method="adapter-dagger", **short)
    # every update adds the rounding of its gradients
    margin("logged numbers, relative", furthest(compiled.log, plain.log), short["steps"] * BACKWARD)
    assert torch._dynamo.utils.counters["frames"]["ok"] > 0
    assert model._compiled_call_impl is None


@pytest.mark.skipif("HYPERLAB_SLOW" not in os.environ, reason="minutes of work for the C++ compiler: set HYPERLAB_SLOW=1")
def test_inductor_trains_and_resumes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    "Compiled for real: it learns, and a run that is broken off ends with the same bits."
    short = {"steps": 8, "eval_every": 4, "log_every": 1, "compile": True, "method": "adapter-dagger"}
    whole = toy_run(tmp_path / "whole", **short)
    assert whole.log["loss"].iloc[-1] < whole.log["loss"].iloc[0]
    plain = TrainingBatches.__getitem__
    monkeypatch.setattr(TrainingBatches, "__getitem__", lambda self, step: plain(self, step) if step != 6 else 1 / 0)
    with pytest.raises(ZeroDivisionError):
        toy_run(tmp_path / "broken", **short)
    monkeypatch.undo()
    torch._dynamo.reset()  # as a new process would begin
    assert outcome(toy_run(tmp_path / "broken", **short)) == outcome(whole)


def test_two_speeds(tmp_path: Path) -> None:
    "Parameters picked out by name move at their own rate; the others stand still here."
    model = toy_model("adapter-dagger")
    before = {name: p.detach().clone() for name, p in model.named_parameters() if p.requires_grad}
    hl.train(model, run_dir=tmp_path, progress=False, report_to="none", rates={"gamma": 1e-2}, **(SHORT | {"learning_rate": 0.0}))
    moved = {name for name, p in model.named_parameters() if name in before and not torch.equal(p, before[name])}
    assert moved
    assert all("gamma" in name for name in moved)


def test_protocols_reach_the_run(tmp_path: Path) -> None:
    settings = {k: v for k, v in SHORT.items() if k != "learning_rate"}
    run = hl.train(toy_model(), protocol="released", run_dir=tmp_path, progress=False, report_to="none", **settings)
    recipe = run.config["recipe"]
    assert (recipe["loss"], recipe["label_smoothing"], recipe["warmup"], recipe["learning_rate"]) == ("sum", 0.1, 500, 3e-4)
    assert not recipe["mixed"]
    assert any(line.startswith("steps: 16") for line in run.result["departures"])
    assert set(run.predictions.target) <= {"0", "1", "2"}  # class numbers, as the released code has them


@pytest.mark.parametrize("table", TRAINING)
def test_compacters_tables_are_recipes(table: int) -> None:
    "Every learning rate of Tables 4, 11, 5 and 10, with the warm-up, batch and epochs that go with it."
    name, chosen = "boolq" if table == 2 else "mnli", TRAINING[table]
    for label, rate in chosen.rates.items():
        method, options = COMPARED_METHODS[label]
        about = {"tasks": [name], "small": table == 9, "options": options | ({"train_output": True} if table == 7 else {})}
        recipe = hl.training.make_recipe(method, "paper", paper="compacter", rows={name: 5_000}, **about)
        assert (recipe.learning_rate, recipe.warmup, recipe.batch_size) == (rate, chosen.warmup, chosen.batch_size), label
        assert recipe.steps == (20 if name == "boolq" else 3) * math.ceil(5_000 / chosen.batch_size)
        assert not [d for d in hl.departures(recipe, method, **about, rows={name: 5_000}) if "compacter's" in d], label
        assert hl.task(name).max_source_length == chosen.max_length


def test_epochs_become_updates(tmp_path: Path) -> None:
    "Two tasks of 64 rows, 3 epochs each by the paper, in batches of up to 100: six updates, looked at thrice."
    run = hl.train(toy_model("adapter-lowrank"), protocol="paper", max_examples=64, eval_examples=4, run_dir=tmp_path / "run",
                   progress=False, report_to="none")  # fmt: skip
    recipe = run.config["recipe"]
    assert recipe["epochs"] == {"toy-mood": 3, "toy-pet": 3}
    assert (recipe["steps"], recipe["eval_every"], recipe["learning_rate"], run.result["steps"]) == (6, 2, 3e-3, 6)
    assert any(d.startswith("2 tasks are trained together, for as many updates") for d in run.result["departures"])
    with pytest.raises(ValueError, match="expected steps or epochs, received both"):
        hl.train(toy_model(), steps=4, epochs=2)


def test_wrong_requests_fail_before_the_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Task, "load", lambda *a, **k: pytest.fail("asked for data"))
    cases = {
        "precision: fp16 is refused, because T5": {"precision": "fp16"},
        "unknown protocol 'papers'": {"protocol": "papers"},
        "steps: expected at least 1, received 0": {"steps": 0},
        "unknown setting of a recipe 'lerning_rate'": {"lerning_rate": 1.0},
        "batch_size: expected a multiple of processes × accumulate = 3": {"accumulate": 3},
        "report_to: 'nologger' is not installed": {"report_to": "nologger"},
        "unknown temperature 'even'": {"temperature": "even"},
        "unknown backend of torch.compile 'inducter'": {"compile": "inducter"},
        "rates: no trained parameter has 'gama'": {"rates": {"gama": 1e-2}},
        "epochs: expected a number for each of": {"steps": None, "epochs": {"toy-pet": 3}},
    }
    for message, wrong in cases.items():
        with pytest.raises(ValueError, match=message):
            hl.train(toy_model(), run_dir=tmp_path / "run", progress=False, **(SHORT | wrong))
    with pytest.raises(ValueError, match="unknown task 'nothing'"):
        hl.train(hl.adapt(toy_model().detach(), "full", ["nothing"]), run_dir=tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_loggers_get_the_logged_numbers(tmp_path: Path) -> None:
    from accelerate.tracking import GeneralTracker

    class Notes(GeneralTracker):
        name, requires_logging_directory, main_process_only = "notes", False, True

        def __init__(self) -> None:
            super().__init__()
            self.lines: list = []

        @property
        def tracker(self) -> list:
            return self.lines

        def store_init_configuration(self, values: dict) -> None:
            self.lines.append(values)

        def log(self, values: dict, step: int | None = None, **kwargs: object) -> None:
            self.lines.append({"step": step, **values})

    notes = Notes()
    run = hl.train(toy_model(), run_dir=tmp_path, progress=False, report_to=notes, **SHORT)
    assert notes.lines[0]["steps"] == SHORT["steps"]
    losses = [line["loss"] for line in notes.lines[1:] if "loss" in line]
    assert losses == run.log["loss"].dropna().tolist()
    assert any("toy-pet.accuracy" in line for line in notes.lines[1:])


def test_tensorboard_by_default_when_installed(tmp_path: Path) -> None:
    pytest.importorskip("tensorboard", reason="tensorboard is not installed")
    hl.train(toy_model(), run_dir=tmp_path / "run", progress=False, **SHORT)
    assert list((tmp_path / "run").rglob("events.out.tfevents*"))


@pytest.mark.parametrize("name", ["wandb", "trackio"])
def test_other_loggers_where_installed(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    "Offline, under the run's own name; a run that is called again is not begun again."
    pytest.importorskip(name, reason=f"{name} is not installed: pip install {name}")
    monkeypatch.setenv("WANDB_MODE", "offline")
    monkeypatch.setenv("TRACKIO_DIR", str(tmp_path / "trackio"))
    for _ in range(2):
        hl.train(toy_model(), run_dir=tmp_path / "run", progress=False, report_to=name, **SHORT)
    written = tmp_path / "run" / "wandb" if name == "wandb" else tmp_path / "trackio"
    assert len(list(written.glob("offline-run-*" if name == "wandb" else "hyperlab.db"))) == 1


def test_progress_shows_loss_speed_and_time_left(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    hl.train(toy_model(), run_dir=tmp_path / "run", report_to="none", **SHORT)
    shown = capsys.readouterr()
    assert "loss" in shown.err
    assert "step/s" in shown.err or "s/step" in shown.err
    assert "<" in shown.err  # elapsed<left
    assert "toy-pet" in shown.out + shown.err


def test_the_callers_chance_is_left_alone(tmp_path: Path) -> None:
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    model = toy_model()
    toy_run(tmp_path / "run")
    assert torch.equal(torch.rand(3), expected)
    assert model.training is not None


def test_smoothing_is_the_papers_formula() -> None:
    "(1 - e) NLL + e/V sum over the vocabulary, summed over tokens that are not padding."
    torch.manual_seed(0)
    logits, labels = torch.randn(3, 5, 11), torch.randint(0, 11, (3, 5))
    labels[1, 3:] = -100
    log_p, total = logits.log_softmax(-1), 0.0
    for row in range(3):
        for place in range(5):
            if labels[row, place] >= 0:
                p = log_p[row, place]
                total += -(0.9 * p[labels[row, place]] + 0.1 / 11 * p.sum()).item()
    assert token_loss(logits, labels, 0.1).item() == pytest.approx(total, rel=1e-5)
    assert target_tokens(labels) == 13


def test_runs_is_a_table(finished: hl.Run) -> None:
    table = hl.runs(finished.path.parent)
    assert table.method.tolist() == ["adapter-dagger"]
    assert table["toy-pet.accuracy"].iloc[0] == finished.result["tasks"]["toy-pet"]["accuracy"]
    assert math.isclose(hl.compare(table).loc["adapter-dagger", "average_tasks"], finished.result["average_tasks"])
    assert len(hl.curves(finished, "loss").data[0].x) == SHORT["steps"] // SHORT["log_every"]
    assert json.loads((finished.path / "result.json").read_text()) == finished.result


@pytest.fixture
def reading_task() -> str:
    "A made-up reading task: one animal in a context of fifty words, for a model that reads twenty-four at a time."
    from hyperlab.nano.toy import FILLER, PETS

    chance = random.Random(0)

    def row() -> dict:
        words = [chance.choice(FILLER) for _ in range(50)]
        pet = chance.choice(PETS)
        words[chance.randrange(50)] = pet
        context = " ".join(words)
        return {"question": "which", "context": context, "answers": {"text": [pet], "answer_start": [context.index(pet)]}}

    rows = {split: [row() for _ in range(size)] for split, size in {"train": 300, "validation": 20, "test": 60}.items()}
    reading = {"answer": Accepted("answers.text"), "metrics": ("squad_em",), "max_source_length": 24, "max_target_length": 4}
    return hl.register_task(hl.task_from("toy-reading", rows, "{question} {context}", **reading)).name


@pytest.mark.slow
@pytest.mark.margins
def test_long_contexts_are_read_to_their_end(reading_task: str, tmp_path: Path) -> None:
    "Trained and tested in chunks: right also where the answer lies behind what one reading holds."
    model = hl.adapt(toy_backbone(SEED), "full", [reading_task], tokenizer=toy_tokenizer())
    settings = {"steps": 150, "batch_size": 32, "learning_rate": 3e-3, "eval_every": 75, "seed": SEED}
    run = hl.train(model, run_dir=tmp_path / "run", progress=False, report_to="none", **settings)
    facts = run.config["data"]["test"][reading_task]
    assert facts["rows"] == 60 < facts["chunks"]
    written = run.predictions
    assert len(written) == 60
    late = written[[s.split().index(t) > 24 for s, t in zip(written.source, written.target, strict=True)]]
    assert len(late) > 20
    right = 100 * (late.prediction == late.target).mean()
    margin("wrong answers behind the first reading", 1 - right / 100, 0.2)
    assert run.result["tasks"][reading_task]["squad_em"] == pytest.approx(100 * (written.prediction == written.target).mean())


cuda = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")


@cuda
def test_cuda_bf16_step(tmp_path: Path) -> None:
    run = toy_run(tmp_path / "run", precision="bf16")
    assert run.config["device"].startswith("cuda")
    assert math.isfinite(run.log["loss"].dropna().iloc[-1])


@cuda
def test_cuda_memory_table(tmp_path: Path) -> None:
    "The table of costs has the device's memory, and checkpointing needs less of it."
    peaks = {}
    for checkpointing in (False, True):
        torch.cuda.reset_peak_memory_stats()
        run = toy_run(tmp_path / str(checkpointing), gradient_checkpointing=checkpointing, batch_size=512, max_examples=None)
        peaks[checkpointing] = hl.experiments.cost_of_run(run)["peak memory of the device (MiB)"]
    assert 0 < peaks[True] <= peaks[False]
