"""Runs that version 0.1.0 wrote: today's code lists, loads and scores a finished one, and ends one that was killed.

tests/golden/write_runs.py wrote them; the backbone lies beside them, because torch draws other random weights on other
processors.
"""

import json
import shutil
from pathlib import Path

import pytest
import torch
from conftest import FORWARD, PROJECT, margin
from safetensors.torch import load_file
from transformers import T5Config, T5ForConditionalGeneration

import hyperlab as hl
from hyperlab.core.files import read_json
from hyperlab.data.tokens import load_task_split
from hyperlab.nano.toy import toy_tasks, toy_tokenizer

RUNS = PROJECT / "tests" / "golden" / "runs-0.1.0"
RESUMED = json.loads((RUNS / "resumed.json").read_text())


def backbone() -> T5ForConditionalGeneration:
    shape = {"vocab_size": 64, "d_model": 32, "d_kv": 8, "d_ff": 64, "num_layers": 2, "num_heads": 4, "dropout_rate": 0.1}
    model = T5ForConditionalGeneration(T5Config(**shape, pad_token_id=0, eos_token_id=1, decoder_start_token_id=0))
    missing, unexpected = model.load_state_dict(load_file(RUNS / "backbone.safetensors"), strict=False)
    assert set(missing) <= {"encoder.embed_tokens.weight", "decoder.embed_tokens.weight", "lm_head.weight"} and not unexpected
    return model


@pytest.fixture
def finished() -> hl.Run:
    toy_tasks()
    return hl.Run(RUNS / "finished")


def test_a_finished_run_is_listed_with_its_scores(finished: hl.Run) -> None:
    (line,) = hl.runs(RUNS).query("run == 'finished'").to_dict("records")
    assert finished.finished and finished.config["versions"]["hyperlab"] == "0.1.0"
    assert (line["method"], line["toy-mood.accuracy"], line["toy-pet.accuracy"]) == ("hyperformer++", 97.5, 100.0)
    assert len(hl.curves(finished, "loss").data[0].x) == len(finished.log["loss"].dropna()) == 18
    assert len(finished.predictions) == 80 and finished.result["selection"]["rule"] == "average"


def test_a_finished_run_loads_and_scores_the_same(finished: hl.Run) -> None:
    "The weights are sure of their answers: no rounding turns one around."
    model = hl.load(finished.path, backbone=backbone(), tokenizer=toy_tokenizer())
    assert model.tasks == ["toy-mood", "toy-pet"]
    data = {task: load_task_split(task, "test", model, max_examples=40) for task in model.tasks}
    found = hl.evaluate(model, data)
    assert found.tasks == finished.result["tasks"]
    before = finished.predictions.groupby("task")["prediction"].agg(list).to_dict()
    assert {task: list(written) for task, written in found.predictions.items()} == before


@pytest.mark.rounding
@pytest.mark.filterwarnings("ignore:.*was begun with other versions")
def test_a_killed_run_goes_on_where_it_was(tmp_path: Path) -> None:
    """Eight updates from its last checkpoint to its end, with the weights that 0.1.0 itself reached.

    Other processors round differently, and Adam divides by the gradient's size, so digests may differ. The difference is
    measured against the way that the weights went in these updates: it was 0 on the processor that wrote the run, and
    6e-7 with other vector instructions; every update may add the rounding of a pass.
    """
    shutil.copytree(RUNS / "killed", tmp_path / "run")
    recipe = read_json(RUNS / "killed" / "config.json")["recipe"]
    options = read_json(RUNS / "killed" / "config.json")["model"]["options"]
    model = hl.adapt(backbone(), "hyperformer++", toy_tasks(), tokenizer=toy_tokenizer(), **options)
    names = "steps", "batch_size", "learning_rate", "eval_every", "save_every", "eval_examples", "log_every"
    asked = {name: recipe[name] for name in names}
    run = hl.train(model, run_dir=tmp_path / "run", progress=False, report_to="none", **asked)
    assert run.finished and [session["from_step"] for session in run.sessions_file.read()] == [0, 16]
    checkpoints = RUNS / "killed/checkpoints/step-00000016", run.path / "checkpoints" / f"step-{RESUMED['steps']:08d}"
    (start,), (end,) = (folder.glob("weights-*") for folder in checkpoints)
    start, end, expected = load_file(start), load_file(end), load_file(RUNS / "resumed.safetensors")
    assert end.keys() == expected.keys()
    torch.manual_seed(0)
    if torch.bernoulli(torch.full((64,), 0.5)).int().tolist() != RESUMED["random"]:
        pytest.skip("this build of torch draws other dropout masks than the one that wrote the run")
    distance = lambda a, b: sum(float((a[k] - b[k]).double().square().sum()) for k in a) ** 0.5
    margin("weights, as a share of their way", distance(end, expected) / distance(start, expected), 8 * FORWARD)
    losses = torch.tensor(run.log["loss"].dropna().to_numpy()), torch.tensor(RESUMED["losses"])
    margin("logged losses, relative", float((losses[0] / losses[1] - 1).abs().max()), 8 * FORWARD)
