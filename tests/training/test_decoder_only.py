"""Decoders that stand alone: the same tasks as prompt and answer, trained, judged, planned and asked."""

from pathlib import Path

import pytest
import torch
from conftest import OTHER_FAMILIES, SMALL, TASKS, awaken, close, fell, tiny_family
from transformers import PreTrainedTokenizerFast

import hyperlab as hl
from hyperlab.nano.toy import toy_tasks, toy_tokenizer
from hyperlab.training.update import answer_logits, batch_logits, with_positions

ALONE = [name for name in OTHER_FAMILIES if name not in ("bart", "mbart")]


def open_tokenizer() -> PreTrainedTokenizerFast:
    "The toy tokenizer, which leaves texts open."
    from tokenizers import processors

    made = toy_tokenizer()
    made.backend_tokenizer.post_processor = processors.TemplateProcessing(single="$A", special_tokens=[])
    made.chat_template = "{% for m in messages %}toy-mood {{ m['content'] }} toy-pet{% endfor %}"
    return made


@pytest.mark.rounding
@pytest.mark.parametrize("method", ["hyper-lora", "hyperdecoder"])
@pytest.mark.parametrize("family", ALONE)
def test_answers_behind_padded_prompts_are_those_of_each_text_alone(family: str, method: str, batch: dict) -> None:
    model = awaken(hl.adapt(tiny_family(family), method, TASKS, **SMALL[method])).eval()
    given = {**batch, "task": ["rte"] * 6}
    with torch.no_grad():
        logits = answer_logits(model, model, given)
        for row, length in ((0, 9), (1, 5), (4, 3)):
            prompt, answer = batch["input_ids"][row, :length], batch["labels"][row]
            text = torch.cat([prompt, answer]).unsqueeze(0)
            labels = torch.cat([torch.full_like(prompt, -100), answer]).unsqueeze(0)
            alone = model(text, labels=labels, task="rte").logits[:, length - 1 : -1]
            close("logits of a row", logits[row : row + 1], alone)
        chosen = batch_logits(model, model, with_positions(given))
        close("logits at positions", chosen, logits.flatten(0, 1)[(batch["labels"] != -100).flatten()])


@pytest.mark.margins
@pytest.mark.parametrize("method", ["hyper-lora", "hyperformer++"])
def test_training_and_evaluation_run_as_they_do_behind_an_encoder(method: str, tmp_path: Path) -> None:
    tasks, tokenizer = toy_tasks(), open_tokenizer()
    model = hl.adapt(tiny_family("llama"), method, tasks, tokenizer=tokenizer, chat=True, **SMALL[method])
    short = {"eval_every": 30, "eval_examples": 8, "log_every": 1, "max_examples": 64, "progress": False, "report_to": "none"}
    run = hl.train(model, steps=30, batch_size=16, learning_rate=1e-2, run_dir=tmp_path / "run", **short)
    losses = run.log["loss"].dropna()
    fell("loss", float(losses.iloc[0]), float(losses.iloc[-1]), 0.2)
    found = hl.evaluate(model, tasks, max_examples=20)
    assert set(found.tasks) == set(tasks) and all(len(p) == 20 for p in found.predictions.values())
    assert isinstance(model.generate("grin", task=tasks[0], max_new_tokens=3), str)
    saved = hl.load(model.save(tmp_path / "saved"), backbone=tiny_family("llama"), tokenizer=tokenizer)
    assert saved.chat and saved.generate("grin", task=tasks[0]) == model.generate("grin", task=tasks[0])


def test_a_tokenizer_that_closes_prompts_is_refused() -> None:
    model = hl.adapt(tiny_family("llama"), "lora", toy_tasks(), tokenizer=toy_tokenizer())
    with pytest.raises(ValueError, match="leaves a prompt open"):
        hl.evaluate(model, "toy-mood", max_examples=4)


@pytest.mark.parametrize("family", ALONE)
def test_a_decoder_alone_can_be_planned_and_counted(family: str) -> None:
    forecast = hl.plan(tiny_family(family).config, "hyper-lora", tasks=2, batch_size=2, length=8, target=4)
    assert forecast.count.trained == hl.cost(hl.adapt(tiny_family(family), "hyper-lora", ["a", "b"])).count.trained
    assert forecast.kept > 0
