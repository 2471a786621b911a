"""Texts in, texts out, with a real tokenizer; and backbones by name from a hub."""

import torch
from conftest import awaken

import hyperlab as hl
from hyperlab.nano.toy import toy_backbone, toy_tasks, toy_tokenizer

TEXTS = ["the happy cat sits near a merry tree today", "a gloomy dog"]


def toy_model() -> hl.AdaptedModel:
    return awaken(hl.adapt(toy_backbone(), "hyperformer++", toy_tasks(), tokenizer=toy_tokenizer(), reduction_factor=8)).eval()


def test_texts_give_texts_and_padding_changes_nothing() -> None:
    model = toy_model()
    together = model.generate(TEXTS, task="toy-pet", max_new_tokens=4)
    assert [model.generate(text, task="toy-pet", max_new_tokens=4) for text in TEXTS] == together
    assert isinstance(model.generate(TEXTS[0], task="toy-pet"), str)
    mixed = model.generate(TEXTS, task=["toy-mood", "toy-pet"], max_new_tokens=4)
    assert mixed[1] == together[1]


def test_token_ids_give_token_ids() -> None:
    model = toy_model()
    encoded = model.tokenizer(TEXTS, return_tensors="pt", padding=True)
    inputs = {"input_ids": encoded["input_ids"], "attention_mask": encoded["attention_mask"]}
    tokens = model.generate(**inputs, task="toy-pet", max_new_tokens=4)
    assert isinstance(tokens, torch.Tensor)
    assert model.tokenizer.batch_decode(tokens, skip_special_tokens=True) == model.generate(TEXTS, task="toy-pet", max_new_tokens=4)


def test_several_answers_per_text() -> None:
    answers = toy_model().generate(TEXTS, task="toy-pet", num_beams=3, num_return_sequences=2, max_new_tokens=4)
    assert len(answers) == 4
