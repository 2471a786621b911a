"""Rates, passes, resuming, ranks and padding of training batches; evaluation batches."""

import math
import os
import subprocess
import sys
from collections import Counter

import numpy as np
import pytest
import torch
from datasets import Dataset
from local_hub import PROJECT
from scipy.stats import chi2

import hyperlab as hl
from hyperlab.data.batches import TrainingBatches, evaluation_batches, in_order
from hyperlab.data.tokens import token_features
from hyperlab.data.batches import BatchPlan, _key, drawn_before, padding_cost, permuted, visited

SIZES = {"rte": 249, "mrpc": 367, "stsb": 575, "cola": 855, "sst2": 6735, "qnli": 10474}
UNLIKELY = 1e-6  # a test of a right sampler fails once in a million seeds, and the seeds are fixed


def lengths(sizes: dict[str, int] = SIZES, seed: int = 0) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    return {n: np.clip(rng.lognormal(3.2, 0.5, s).astype(int), 3, 128) for n, s in sizes.items()}


def surprise(counts: np.ndarray, expected: np.ndarray) -> float:
    "The probability of counts at least this far from the expected ones, by Pearson's chi-square"
    return float(chi2.sf(((counts - expected) ** 2 / expected).sum(), df=counts.size - 1))


def examples(plan: BatchPlan, steps: range, rank: int = 0, world_size: int = 1) -> Counter:
    draws = (plan.batch(step, rank, world_size) for step in steps)
    return Counter(pair for d in draws for pair in zip(d.tasks, d.rows.tolist(), strict=True))


def test_glue_probabilities_are_the_published_ones():
    published = {"rte": 0.096, "mrpc": 0.100, "stsb": 0.104, "cola": 0.109}
    published |= {"sst2": 0.134, "qnli": 0.140, "qqp": 0.158, "mnli": 0.159}
    found = hl.data.sampling_probabilities(hl.tasks("glue"), temperature=10)
    assert {name: round(p, 3) for name, p in found.items()} == published
    assert sum(found.values()) == pytest.approx(1)


def test_temperatures():
    sizes = {"a": 100, "b": 300}
    assert hl.data.sampling_probabilities(sizes, 1) == pytest.approx({"a": 0.25, "b": 0.75})
    for equal in ("equal", math.inf):
        assert hl.data.sampling_probabilities(sizes, equal) == {"a": 0.5, "b": 0.5}
    assert hl.data.sampling_probabilities({"a": 1, "b": 10**12}, 0.01)["b"] == 1  # no overflow
    for temperature in (0, -1, math.nan, "hot"):
        with pytest.raises(ValueError, match="temperature"):
            hl.data.sampling_probabilities(sizes, temperature)
    with pytest.raises(ValueError, match="nothing can be drawn from b"):
        hl.data.sampling_probabilities({"a": 1, "b": 0})
    with pytest.raises(ValueError, match="did you mean 'mnli'"):
        hl.data.sampling_probabilities(["mlni"])
    with pytest.raises(TypeError, match="list"):
        hl.data.sampling_probabilities("mnli")


def test_a_task_of_ones_own_is_counted():
    rows = [{"text": f"row {i}", "label": i % 2} for i in range(30)]
    data = {"train": rows, "validation": [{"text": "v", "label": 0}], "test": [{"text": "t", "label": 1}]}
    hl.register_task(hl.task_from("counted", data, "{text}", labels=("no", "yes")))
    found = hl.data.sampling_probabilities(["counted", "rte"], 1)
    assert found["counted"] == pytest.approx(30 / (30 + 2490))


@pytest.mark.parametrize("mixed", [False, True])
def test_a_step_depends_on_seed_and_step_alone(mixed: bool):
    plan = BatchPlan(lengths(), 16, mixed=mixed, seed=3)
    steps = [0, 1, 499, 500, 7, 10**6, 1234, 0, 10**9]
    first = [plan.batch(step) for step in steps]
    for step, draw in zip(steps, first, strict=True):
        fresh = BatchPlan(lengths(), 16, mixed=mixed, seed=3).batch(step)
        assert fresh.tasks == draw.tasks
        assert np.array_equal(fresh.rows, draw.rows)
    other = BatchPlan(lengths(), 16, mixed=mixed, seed=4)
    assert examples(other, range(100)) != examples(plan, range(100))


def test_another_process_draws_the_same():
    code = (
        "import numpy as np, hashlib; from hyperlab.data.batches import BatchPlan\n"
        "plan = BatchPlan({'a': np.arange(5, 90), 'b': np.arange(5, 900)}, 8, mixed=True)\n"
        "draws = [(d.tasks, d.rows.tolist()) for d in map(plan.batch, range(0, 3000, 7))]\n"
        "print(hashlib.sha1(repr(draws).encode()).hexdigest())"
    )
    path = os.pathsep.join(filter(None, [str(PROJECT), os.environ.get("PYTHONPATH", "")]))
    run = lambda seed: subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": path, "PYTHONHASHSEED": seed}, capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    assert run("1") == run("2") != ""


@pytest.mark.parametrize("mixed", [False, True])
@pytest.mark.parametrize("world_size", [2, 4, 8])
def test_ranks_are_disjoint_and_together_one_process(mixed: bool, world_size: int):
    plan = BatchPlan(lengths(), 16, mixed=mixed)
    for step in (0, 1, 2, 777):
        whole = plan.batch(step)
        shares = [BatchPlan(lengths(), 16, mixed=mixed).batch(step, rank, world_size) for rank in range(world_size)]
        assert all(len(share.rows) == 16 // world_size for share in shares)
        pairs = [pair for share in shares for pair in zip(share.tasks, share.rows.tolist(), strict=True)]
        assert sorted(pairs) == sorted(zip(whole.tasks, whole.rows.tolist(), strict=True))
        if len(set(whole.rows)) == 16:
            assert len(set(pairs)) == 16
    with pytest.raises(ValueError, match="world_size 3"):
        plan.batch(0, 0, 3)


@pytest.mark.parametrize("mixed", [False, True])
def test_tasks_come_at_their_rates(mixed: bool):
    plan = BatchPlan(lengths(), 8, mixed=mixed, window=40)
    steps = 10 * plan.window
    counts = Counter(task for step in range(steps) for task in plan.batch(step).tasks)
    for task, p in plan.probabilities.items():  # exact at the end of a window, but for one draw
        assert abs(counts[task] - p * steps * 8) < (1 if mixed else 8)


def test_a_single_step_draws_a_task_with_its_probability():
    few = lengths(dict.fromkeys(SIZES, 250))
    names, target = list(SIZES), hl.data.sampling_probabilities(SIZES)

    class Rated(BatchPlan):  # 250 rows each, so that a plan is quick, at the rates of the real sizes
        def __init__(self, seed: int):
            super().__init__(few, 1, seed=seed, window=250)
            self.probabilities = target

    drawn = Counter(Rated(seed).batch(5).tasks[0] for seed in range(2_000))
    counts = np.array([drawn[name] for name in names])
    assert surprise(counts, 2_000 * np.array(list(target.values()))) > UNLIKELY
    wrong = np.array(list(hl.data.sampling_probabilities(SIZES, temperature=5).values()))
    assert surprise(counts, 2_000 * wrong) < UNLIKELY, "this test could not tell T=10 from T=5"


@pytest.mark.parametrize("mixed", [False, True])
def test_every_example_is_seen_once_before_any_is_seen_again(mixed: bool):
    plan = BatchPlan(lengths({"few": 16, "some": 100, "many": 1000}), 8, mixed=mixed, window=25)
    for windows in (1, 3, 10):
        seen = examples(plan, range(windows * plan.window))
        for task, size in (("few", 16), ("some", 100), ("many", 1000)):
            counts = np.array([seen[task, row] for row in range(size)])
            assert counts.max() - counts.min() <= 1


def test_ranks_see_every_example_at_the_right_rate():
    plan = BatchPlan(lengths({"a": 64, "b": 200}), 16, temperature=1, window=50)
    steps = range(40 * plan.window)
    for rank in range(2):
        seen = examples(plan, steps, rank, 2)
        counts = np.array([seen["b", row] for row in range(200)])
        assert surprise(counts, np.full(200, counts.mean())) > UNLIKELY
    half = examples(plan, steps, 0, 2)
    lost = np.array([half["b", row] if row % 10 else 0 for row in range(200)])  # a sampler that never shows every tenth
    assert surprise(lost, np.full(200, lost.mean())) < UNLIKELY


def test_adding_a_task_leaves_the_order_of_the_others():
    alone = BatchPlan(lengths({"a": 100}), 10, window=10)
    both = BatchPlan(lengths({"a": 100, "b": 100}), 10, window=10)
    first = [row for step in range(10) for row in alone.batch(step).rows]
    count = sum(both.batch(step).tasks[0] == "a" for step in range(10)) * 10
    seen = {row for task, row in examples(both, range(10)) if task == "a"}
    assert seen == set(visited(np.arange(count), 100, _key(0, "a")).tolist())
    assert set(first) == set(range(100))


@pytest.mark.parametrize("size", [1, 2, 3, 7, 255, 256, 257, 5000])
def test_permuted_is_a_permutation(size: int):
    for key in range(5):
        found = permuted(np.arange(size), size, np.full(size, key, np.uint64))
        assert sorted(found.tolist()) == list(range(size))


def test_every_pass_has_another_order():
    passes = visited(np.arange(500), 100, 7).reshape(5, 100)
    assert len({tuple(one) for one in passes.tolist()}) == 5
    again = (passes[:-1] == passes[1:]).mean()  # a random order keeps one place in a hundred
    assert again < 0.05


@pytest.mark.parametrize("size", [2, 3, 7, 16])
def test_every_place_goes_everywhere_equally_often(size: int):
    keys = 6_000
    place, key = np.tile(np.arange(size), keys), np.repeat(np.arange(keys, dtype=np.uint64), size)
    table = np.zeros((size, size))
    np.add.at(table, (place, permuted(place, size, key)), 1)
    statistic = ((table - keys / size) ** 2 / (keys / size)).sum()
    assert chi2.sf(statistic, df=(size - 1) ** 2) > UNLIKELY


def test_all_orders_of_three_are_equally_likely():
    place, key = np.tile(np.arange(3), 6_000), np.repeat(np.arange(6_000, dtype=np.uint64), 3)
    orders = Counter(map(tuple, permuted(place, 3, key).reshape(-1, 3).tolist()))
    assert surprise(np.array(list(orders.values())), np.full(6, 1_000.0)) > UNLIKELY


def test_counts_never_fall_and_always_sum():
    rng = np.random.default_rng(0)
    for _ in range(50):
        p = rng.dirichlet(np.full(6, 0.3)) * 0.94 + 0.01
        window, offset = math.ceil(1 / p.min()) + 1, rng.integers(0x10000) / 0x10000
        counts = np.array([drawn_before(n * window, p, offset) for n in range(200)])
        assert (counts.sum(1) == np.arange(200) * window).all()
        assert (np.diff(counts, axis=0) >= 0).all()
        assert (abs(counts - np.arange(200)[:, None] * window * p) < 1).all()


def test_a_rare_task_makes_the_window_grow():
    plan = BatchPlan(lengths({"big": 5_000, "rare": 5}), 4, temperature=1, window=10)
    assert plan.window > 1000
    assert Counter(plan.batch(s).tasks[0] for s in range(plan.window))["rare"] >= 1


@pytest.mark.parametrize("mixed", [False, True])
def test_padding_is_small(mixed: bool):
    plan = BatchPlan(lengths(), 32, mixed=mixed)
    assert padding_cost(plan, 500) <= 1.05
    assert padding_cost(BatchPlan(lengths(), 32, mixed=mixed, by_length=False), 500) > 1.5


def tokens(count: int, seed: int = 0) -> Dataset:
    "Rows whose first token is their number plus ten"
    rng = np.random.default_rng(seed)
    ids = [[i + 10, *rng.integers(2, 9, rng.integers(1, 40)).tolist(), 1] for i in range(count)]
    labels = [[2] * (i % 3) + [1] for i in range(count)]
    none = [0] * count
    columns = {"input_ids": ids, "labels": labels, "source_cut": none, "target_cut": none}
    columns |= {"input_length": [len(i) for i in ids], "label_length": [len(i) for i in labels]}
    return Dataset.from_dict(columns, features=token_features())


@pytest.mark.parametrize("mixed", [False, True])
def test_batches_hold_the_rows_they_say(mixed: bool):
    data = {"a": tokens(300), "b": tokens(40, 1)}
    batches = TrainingBatches(data, 16, mixed=mixed, pad_token_id=0, window=1)  # lengths and tasks vary within a batch
    for step in (0, 1, 900):
        batch = batches[step]
        assert batch["input_ids"].shape == batch["attention_mask"].shape
        for row, (task, index) in enumerate(zip(batch["task"], batch["index"].tolist(), strict=True)):
            real = data[task][index]
            assert batch["input_ids"][row][batch["attention_mask"][row].bool()].tolist() == real["input_ids"]
            assert batch["labels"][row][batch["labels"][row] != -100].tolist() == real["labels"]
        assert (batch["input_ids"][batch["attention_mask"] == 0] == 0).all()
        assert batch["attention_mask"].sum(1).max() == batch["input_ids"].shape[1]
    shares = [TrainingBatches(data, 16, rank, 2, mixed=mixed)[5] for rank in range(2)]
    whole = TrainingBatches(data, 16, mixed=mixed)[5]
    assert sorted(i for s in shares for i in s["index"].tolist()) == sorted(whole["index"].tolist())
    assert TrainingBatches(data, 16, pad_to_multiple_of=8)[0]["input_ids"].shape[1] % 8 == 0


def test_a_task_without_rows_is_named():
    with pytest.raises(ValueError, match="nothing can be drawn from b"):
        TrainingBatches({"a": tokens(5), "b": tokens(5).select([])})


@pytest.mark.parametrize("world_size", [1, 3])
def test_evaluation_sees_each_row_once(world_size: int):
    data = tokens(101)
    found = [b for rank in range(world_size) for b in evaluation_batches(data, "a", 16, rank, world_size)]
    index = torch.cat([b["index"] for b in found]).tolist()
    assert sorted(index) == list(range(101))
    firsts = [i for b in found for i in b["input_ids"][:, 0].tolist()]
    assert in_order(firsts, index) == [i + 10 for i in range(101)]
    widths = [b["input_ids"].shape[1] for b in evaluation_batches(data, "a", 16)]
    assert widths == sorted(widths, reverse=True)
    with pytest.raises(ValueError, match="1 rows twice"):
        in_order(["x", "y"], [0, 0])
