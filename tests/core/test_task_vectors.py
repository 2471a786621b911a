"""A task embedding in place of a task: the same weights as the task it belongs to, and a reason where there is none."""

import pytest
import torch
from conftest import SMALL, TASKS, awaken, tiny_backbone

import hyperlab as hl
from hyperlab.core.generators import TaskVector

WITHOUT = ("full", "adapter", "adapter-dagger", "lora", "hypergrid", "prompt-tuning", "bitfit")


def made(method: str) -> hl.AdaptedModel:
    model = awaken(hl.adapt(tiny_backbone(), method, TASKS, **SMALL.get(method, {}))).eval()
    assert isinstance(model, hl.AdaptedModel)
    return model


@pytest.mark.parametrize("method", ["hyperformer", "hyperformer++", "hyper-lora", "polytropon"])
@torch.no_grad()
def test_a_vector_is_the_task_it_belongs_to(method: str, batch: dict[str, torch.Tensor]) -> None:
    model = made(method)
    z = model.task_embeddings()
    assert z is not None
    vectors = [TaskVector(tuple(row.tolist())) for row in z]
    named = ["rte", "cola", {"rte": 0.25, "sst2": 0.75}, "rte", {"cola": 1.0}, "sst2"]
    given = [vectors[TASKS.index("rte")], "cola", named[2], vectors[TASKS.index("rte")], vectors[TASKS.index("cola")], "sst2"]
    for kept in (0, 10**7):
        model.cache_weights(kept)
        for one, same in ((given, named), (vectors[0], TASKS[0])):
            torch.testing.assert_close(model(**batch, task=one).logits, model(**batch, task=same).logits, atol=1e-5, rtol=1e-5)
    far = TaskVector(tuple((3 * z[0] - 1).tolist()))
    assert not torch.equal(model(**batch, task=far).logits, model(**batch, task=TASKS[0]).logits)
    assert model.weight_cache is not None and model.weight_cache.misses == 7  # a task and its vector are two entries


@pytest.mark.parametrize("method", [m for m in hl.available_methods() if m in WITHOUT])
def test_methods_without_task_embeddings_say_so(method: str, batch: dict[str, torch.Tensor]) -> None:
    with pytest.raises(ValueError, match="does not write its weights from one task embedding"):
        made(method)(**batch, task=TaskVector((0.0, 1.0)))


def test_what_can_be_no_vector_is_refused(batch: dict[str, torch.Tensor]) -> None:
    model = made("hyperformer++")
    with pytest.raises(ValueError, match="received 3"):
        model(**batch, task=TaskVector((0.0, 1.0, 2.0)))
    with pytest.raises(ValueError, match="no mixture"):
        model.task_embeddings([TaskVector((0.0,) * 12)])
    with pytest.raises(ValueError, match="of one width"):
        model(**batch, task=[TaskVector((0.0,)), TaskVector((0.0, 1.0))] + ["rte"] * 4)
