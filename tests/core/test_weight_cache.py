"""Weights that are kept by task: the same answers as without, for every method; bounded, counted, and never stale."""

import copy

import pytest
import torch
from conftest import FORWARD, SMALL, TASKS, awaken, close, tiny_backbone

import hyperlab as hl

MIXED = ["rte", "cola", {"rte": 0.25, "sst2": 0.75}, "rte", {"cola": 1.0}, "sst2"]


def made(method: str = "hyperformer++") -> hl.AdaptedModel:
    model = awaken(hl.adapt(tiny_backbone(), method, TASKS, **SMALL.get(method, {}))).eval()
    assert isinstance(model, hl.AdaptedModel)
    return model


@pytest.mark.parametrize("method", hl.available_methods())
@torch.no_grad()
def test_answers_are_the_same_with_kept_weights(method: str, batch: dict[str, torch.Tensor]) -> None:
    model, inputs = made(method), {k: batch[k] for k in ("input_ids", "attention_mask")}
    alone = model(**batch, task="rte").logits
    mixed, tokens = model(**batch, task=MIXED).logits, model.generate(**inputs, task=MIXED, max_new_tokens=5)
    model.cache_weights()
    for _ in range(2):
        assert torch.equal(model(**batch, task="rte").logits, alone), "one task: the same bits"
        close("logits of a mixed batch", model(**batch, task=MIXED).logits, mixed, 4 * FORWARD)
        assert torch.equal(model.generate(**inputs, task=MIXED, max_new_tokens=5), tokens)
    kept = model.weight_cache
    assert (kept is None) == model.reads_input
    if kept is not None and not model.rule.shifts_backbone:
        assert kept.misses == 4 and kept.hits > 0


@torch.no_grad()
def test_rows_are_bounded_and_the_oldest_goes_first(batch: dict[str, torch.Tensor]) -> None:
    model = made()
    model.cache_weights()
    model(**batch, task="rte")
    assert model.weight_cache is not None
    one = model.weight_cache.size
    model.cache_weights(2 * one)
    kept = model.weight_cache
    for task in ("rte", "cola", "rte", "sst2", "rte"):
        model(**batch, task=task)
    assert (kept.misses, kept.hits, kept.evicted, kept.size) == (3, 2, 1, 2 * one)
    assert list(kept.held) == [TASKS.index("sst2"), TASKS.index("rte")]


@torch.no_grad()
def test_a_task_that_changes_is_written_again(batch: dict[str, torch.Tensor]) -> None:
    model = made()
    fresh = copy.deepcopy(model)
    model.cache_weights()
    ask = lambda m, task: m(**batch, task=task).logits
    changes = [
        lambda m: next(m.rule.parameters()).mul_(1.5),  # as an optimiser does
        lambda m: m.add_task("cb", like="rte"),
        lambda m: hl.core.fill(m, {k: v + 0.1 for k, v in m.trained_tensors().items()}),
        lambda m: m.bfloat16().float(),  # rounds every weight, and may well come to lie where it lay
    ]
    for change in changes:
        before = ask(model, "rte")
        change(model), change(fresh)
        assert torch.equal(ask(model, "rte"), ask(fresh, "rte"))
        assert torch.equal(ask(model, "rte"), before) == (len(model.tasks) == 4 and change is changes[1])
    assert model.weight_cache is not None and model.weight_cache.emptied == len(changes)


def test_training_and_copies(batch: dict[str, torch.Tensor]) -> None:
    model = made()
    model.cache_weights(10**6)
    model(**batch, task="rte").loss.backward()  # gradients pass through the rule, not through what is kept
    assert any(p.grad is not None and p.grad.abs().sum() > 0 for p in model.rule.parameters())
    assert model.weight_cache is not None and not model.weight_cache.held
    twin = copy.deepcopy(model).weight_cache
    assert twin is not None and twin.limit == 10**6 and twin is not model.weight_cache
