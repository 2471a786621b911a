"""A task that was added can be taken away again, for every method: the others keep their bits, and the model is saved as before."""

from pathlib import Path

import pytest
import torch
from conftest import SMALL, TASKS, awaken, tiny_backbone

import hyperlab as hl

METHODS = [name for name in hl.available_methods() if name != "full"]


@pytest.mark.parametrize("method", METHODS)
def test_a_task_that_is_added_and_removed_leaves_no_trace(method: str, batch: dict, tmp_path: Path) -> None:
    model = awaken(hl.adapt(tiny_backbone(), method, TASKS, **SMALL.get(method, {}))).eval()
    before = {name: tensor.clone() for name, tensor in model.trained_tensors().items()}
    logits = {name: model(**batch, task=name).logits for name in TASKS}
    model.add_task("new", like=TASKS[-1])
    model.add_task("newer", like=TASKS[0])
    model.remove_task("new")
    assert model.tasks == [*TASKS, "newer"]
    assert torch.equal(model(**batch, task="newer").logits, logits[TASKS[0]])
    model.remove_task("newer")
    after = model.trained_tensors()
    assert before.keys() == after.keys() and all(torch.equal(after[name], tensor) for name, tensor in before.items())
    assert all(torch.equal(model(**batch, task=name).logits, found) for name, found in logits.items())
    model.remove_task(TASKS[0])
    assert all(torch.equal(model(**batch, task=name).logits, logits[name]) for name in TASKS[1:])
    model.save(tmp_path)
    assert hl.load(tmp_path, backbone=tiny_backbone()).tasks == TASKS[1:]


def test_the_last_task_stays_and_an_unknown_one_is_told() -> None:
    model = hl.adapt(tiny_backbone(), "hyperformer++", "rte", reduction_factor=4)
    with pytest.raises(ValueError, match="the only task of this model"):
        model.remove_task("rte")
    model.add_task("cb")
    with pytest.raises(ValueError, match="unknown task 'cbb'.*did you mean 'cb'"):
        model.remove_task("cbb")
