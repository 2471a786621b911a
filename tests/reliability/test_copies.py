"""Copies of a model answer as it does and are independent of it; what can't be copied, or is detached, says so."""

import copy
import io
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

import hyperlab as hl
from conftest import SMALL, TASKS, awaken, tiny_backbone

METHODS = hl.available_methods()
ANSWER = {"max_new_tokens": 4, "min_new_tokens": 4}


def adapted(method: str = "hyperformer++", **options: Any) -> hl.AdaptedModel:
    return awaken(hl.adapt(tiny_backbone(num_layers=1), method, TASKS, **(SMALL.get(method, {}) | options))).eval()


def step(model: hl.AdaptedModel, batch: dict) -> None:
    "One large step of training."
    optimizer = torch.optim.SGD([p for p in model.parameters() if p.requires_grad], lr=0.5)
    model(**batch, task="rte").loss.backward()
    optimizer.step()
    optimizer.zero_grad()


@pytest.mark.parametrize("method", METHODS)
def test_a_copy_answers_as_the_model_and_is_independent_of_it(method: str, batch: dict) -> None:
    model = adapted(method)
    model.add_task("late", like="rte")
    asked = lambda m: [m(**batch, task=t).logits.detach() for t in m.tasks] + [m.generate(batch["input_ids"], task="rte", **ANSWER)]
    before, plain = asked(model), model.backbone(**batch).logits.detach()
    twin = copy.deepcopy(model)
    assert twin.tasks == model.tasks and twin.backbone is not model.backbone
    assert not {p.data_ptr() for p in twin.parameters()} & {p.data_ptr() for p in model.parameters()}
    assert all(torch.equal(a, b) for a, b in zip(asked(twin), before, strict=True))
    assert [p.requires_grad for p in twin.parameters()] == [p.requires_grad for p in model.parameters()]
    step(twin, batch)
    assert not torch.equal(asked(twin)[1], before[1])
    assert all(torch.equal(a, b) for a, b in zip(asked(model), before, strict=True))
    moved = asked(twin)
    step(model, batch)
    assert all(torch.equal(a, b) for a, b in zip(asked(twin), moved, strict=True))
    if not model.method.trains.startswith("all"):
        fresh = tiny_backbone(num_layers=1)(**batch).logits
        assert torch.equal(twin.detach()(**batch).logits, fresh) and torch.equal(model.detach()(**batch).logits, fresh)
        assert plain.shape == fresh.shape


def test_a_copy_keeps_flags_ties_and_savings(batch: dict) -> None:
    model = adapted("hyperdecoder", encoder="none", decoder="task").train()
    model.gradient_checkpointing_enable()
    model.cache_encoder(limit=1000)
    model.rule.generators["decoder"].requires_grad_(False)
    twin = copy.deepcopy(model)
    assert twin.checkpointed and twin.backbone.is_gradient_checkpointing
    assert twin.encodings.limit == 1000 and not twin.encodings.held
    assert twin.training and [m.training for m in twin.modules()] == [m.training for m in model.modules()]
    assert [p.requires_grad for p in twin.parameters()] == [p.requires_grad for p in model.parameters()]
    untied = adapted("adapter-dagger", train_output=True)
    again = copy.deepcopy(untied)
    assert again.trained.untied == untied.trained.untied > 0
    assert again.detach().lm_head.weight is again.backbone.shared.weight
    checkpointed = adapted().train()
    checkpointed.gradient_checkpointing_enable()
    expected, twin = {}, copy.deepcopy(checkpointed)
    for one in (checkpointed, twin):
        (one(**batch, task="rte").loss + one(**batch, task="cola").loss).backward()
        expected[one is twin] = [p.grad for p in one.parameters() if p.requires_grad]
    assert all(torch.equal(a, b) for a, b in zip(expected[True], expected[False], strict=True))
    assert not checkpointed.materialize("rte").backbone.is_gradient_checkpointing


def test_a_copy_of_a_compiled_model_is_compiled_anew(batch: dict) -> None:
    model = adapted()
    model.compile(backend="eager")
    expected = model(**batch, task="rte").logits
    twin = copy.deepcopy(model)
    assert twin.compiled is not None and twin.compiled is not model.compiled
    torch.testing.assert_close(twin(**batch, task="rte").logits, expected)
    step(model, batch)
    torch.testing.assert_close(twin(**batch, task="rte").logits, expected)


@pytest.mark.parametrize("method", ["hyperformer++", "hypergrid", "intrinsic-said", "full"])
def test_an_adapted_backbone_is_not_copied(method: str, batch: dict) -> None:
    model = adapted(method)
    parts: list[Callable[[], Any]] = [
        lambda: copy.deepcopy(model.backbone),
        lambda: copy.deepcopy(model.backbone.encoder.block[0]),
        lambda: copy.deepcopy({"backbone": model.backbone}),
        lambda: pickle.dumps(model.backbone),
        lambda: torch.save(model.backbone, io.BytesIO()),
    ]
    for attempt in parts:
        with pytest.raises(RuntimeError, match="this backbone is adapted"):
            attempt()
    plain = copy.deepcopy(model.detach())
    assert torch.equal(plain(**batch).logits, model.backbone(**batch).logits)
    assert not any("_not_copied" in vars(module) for module in model.backbone.modules())
    pickle.loads(pickle.dumps(model.backbone))


def test_a_model_is_not_pickled() -> None:
    model = adapted()
    for attempt in (pickle.dumps, lambda m: torch.save(m, io.BytesIO()), copy.copy):
        with pytest.raises(TypeError, match=r"use model\.save\(folder\) and hl\.load\(folder\)"):
            attempt(model)


def detached_calls(model: hl.AdaptedModel, batch: dict, folder: Path) -> dict[str, Callable[[], Any]]:
    ids = batch["input_ids"]
    return {
        "forward": lambda: model(**batch, task="rte"),
        "generate": lambda: model.generate(ids, task="rte"),
        "encode": lambda: model.encode({"input_ids": ids}, task="rte"),
        "weights": lambda: model.weights("rte"),
        "acting": lambda: model.acting({}).__enter__(),
        "observing": lambda: model.observing(print).__enter__(),
        "task_embeddings": lambda: model.task_embeddings(),
        "projected_embeddings": lambda: model.projected_embeddings(),
        "add_task": lambda: model.add_task("new"),
        "mix": lambda: model.mix("new", {"rte": 1.0}),
        "materialize": lambda: model.materialize("rte"),
        "save": lambda: model.save(folder / "saved"),
        "save_pretrained": lambda: model.save_pretrained(folder / "saved"),
        "description": lambda: model.description(),
        "trained_tensors": lambda: model.trained_tensors(),
        "compile": lambda: model.compile(backend="eager"),
        "cache_encoder": lambda: model.cache_encoder(),
        "gradient_checkpointing_enable": lambda: model.gradient_checkpointing_enable(),
        "gradient_checkpointing_disable": lambda: model.gradient_checkpointing_disable(),
        "deepcopy": lambda: copy.deepcopy(model),
        "train": lambda: hl.train(model, run_dir=folder / "run", steps=1, progress=False),
    }


@pytest.mark.parametrize("again", [False, True], ids=["plain", "adapted again"])
def test_a_detached_model_answers_nothing(again: bool, batch: dict, tmp_path: Path) -> None:
    model = hl.adapt(tiny_backbone(num_layers=1), "hyperformer++", ["rte", "mrpc"], **SMALL["hyperformer++"])
    calls = detached_calls(model, batch, tmp_path)
    backbone = model.detach()
    expected = backbone(**batch).logits
    other = awaken(hl.adapt(backbone, "hyperformer++", TASKS, **SMALL["hyperformer++"])) if again else None
    adapted_answer = other(**batch, task="rte").logits if other else None
    for name, call in calls.items():
        with pytest.raises(RuntimeError, match="was detached from its backbone.*adapt the backbone again"):
            call()
        assert not [path for path in tmp_path.rglob("*") if path.is_file()], name
    assert model.detach() is backbone  # once more does no harm
    if other:
        assert torch.equal(other(**batch, task="rte").logits, adapted_answer)
        other.detach()
    assert torch.equal(backbone(**batch).logits, expected)
    assert not backbone._forward_hooks and "forward" not in vars(backbone)
