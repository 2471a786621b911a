"""Plans against what is measured: bytes of small shapes within a tenth, for methods of every kind."""

import pytest
import torch
from conftest import tiny_config

import hyperlab as hl
from hyperlab.bench.measuring import step_memory
from hyperlab.bench.contenders import Workload, training_step
from hyperlab.bench.planning import Held, count_tasks

METHODS = ["full", "hyperformer++", "adapter", "compacter", "bitfit", "prompt-tuning", "hyperdecoder", "hypergrid", "pfeiffer"]
OPTIONS = {
    "hyperformer++": {"reduction_factor": 8},
    "adapter": {"reduction_factor": 8},
    "compacter": {"reduction_factor": 4},
    "polytropon": {},
    "pfeiffer": {"reduction_factor": 8},
    "hypergrid": {"rows": 8, "columns": 8},
}
NAMES = ["cola", "rte", "sst2"]
SHAPE = {"vocab_size": 96, "d_model": 64, "d_kv": 8, "d_ff": 128, "dropout_rate": 0.1}


def measured(method: str, load: Workload) -> object:
    model = hl.adapt(tiny_config(**SHAPE), method, NAMES, **OPTIONS.get(method, {})).train()
    loss, optimizer, step = training_step(model, load, task=[NAMES[i % 3] for i in range(load.batch_size)])
    step()
    return step_memory(model, loss, optimizer)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("load", [Workload(6, 12, 4), Workload(3, 40, 7)], ids=str)
def test_bytes_are_within_a_tenth_of_what_a_step_holds(method: str, load: Workload) -> None:
    sizes = {"batch_size": load.batch_size, "length": load.length, "target": load.target}
    made = hl.plan(tiny_config(**SHAPE), method, len(NAMES), **sizes, **OPTIONS.get(method, {}))
    found = measured(method, load)
    for part in ("weights", "gradients", "optimizer", "kept"):
        assert getattr(made, part) == pytest.approx(getattr(found, part), rel=0.1), part
    assert made.total == pytest.approx(found.peak, rel=0.1)


def test_checkpointing_keeps_what_the_plan_says_or_less() -> None:
    load, config = Workload(4, 48, 4), tiny_config(**SHAPE, num_layers=4)
    sizes = {"batch_size": 4, "length": 48, "target": 4, "reduction_factor": 8}
    plain, checkpointed = (hl.plan(config, "hyperformer++", 1, checkpointing=c, **sizes) for c in (False, True))
    model = hl.adapt(config, "hyperformer++", reduction_factor=8).train()
    model.gradient_checkpointing_enable()
    loss, optimizer, _ = training_step(model, load)
    assert step_memory(model, loss, optimizer).kept <= checkpointed.kept < plain.kept


@pytest.mark.parametrize("method", ["hyperformer++", "adapter", "polytropon"])
def test_parameters_for_many_tasks_are_those_that_are_built(method: str) -> None:
    chosen = hl.get_method(method, OPTIONS[method])
    count, own = count_tasks(tiny_config(**SHAPE), chosen, 7)
    model = hl.adapt(tiny_config(**SHAPE), chosen, [f"t{i}" for i in range(7)])
    assert count.trained == sum(p.numel() for p in model.parameters() if p.requires_grad)
    assert own > 0


def test_sharing_divides_what_is_shared() -> None:
    sizes = {"batch_size": 2, "length": 8, "target": 3, "memory": 24}
    alone = hl.plan(tiny_config(**SHAPE), "full", 1, **sizes)
    copied, sharded = (hl.plan(tiny_config(**SHAPE), "full", 1, 4, sharded=s, **sizes) for s in (False, True))
    assert copied.weights == alone.weights and copied.gradients == 2 * alone.gradients
    assert sharded.optimizer == pytest.approx(alone.optimizer / 4, rel=0.01) and sharded.kept == alone.kept
    assert sharded.examples == 8 and alone.seconds is None


def test_a_single_row_is_on_one_device() -> None:
    assert [Held(400, 4, True, True).share(n) for n in (1, 2, 3, 8)] == [400, 200, 200, 100]
    assert Held(400, 1, True, True).share(8) == 400


def test_time_is_work_over_speed_and_checkpointing_works_more() -> None:
    sizes = {"batch_size": 2, "length": 8, "target": 3, "reduction_factor": 8, "speed": 1e9}
    plain, again = (hl.plan(tiny_config(**SHAPE), "hyperformer++", 1, checkpointing=c, **sizes) for c in (False, True))
    assert plain.seconds is not None and again.seconds is not None and plain.seconds < again.seconds < 2 * plain.seconds


def test_half_precision_halves_the_weights() -> None:
    sizes = {"batch_size": 2, "length": 8, "target": 3, "reduction_factor": 8}
    single, half = (hl.plan(tiny_config(**SHAPE), "hyperformer++", 2, dtype=d, **sizes) for d in (torch.float32, torch.bfloat16))
    assert half.weights == pytest.approx(single.weights / 2, rel=0.01) and half.kept < 0.7 * single.kept
