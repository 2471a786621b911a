"""Several callers at once: each gets its own answer, and nothing is left behind."""

import asyncio
import copy
import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import torch

import hyperlab as hl
from conftest import SMALL, TASKS, awaken, tiny_backbone
from hyperlab.core.backbones import RANDOM_STREAMS
from toy_runs import SHORT, outcome

LONG = os.environ.get("HYPERLAB_LONG") == "1"
CALLS = 200 if LONG else 8  # of each of the threads
THREADS = 8
METHODS = ["hyperformer++", "full", "hypergrid", "intrinsic-said", "hyperdecoder"]
ANSWER = {"max_new_tokens": 4, "min_new_tokens": 4}


def adapted(method: str) -> hl.AdaptedModel:
    "A model whose tasks answer differently, where a method has anything of a task's own."
    return awaken(hl.adapt(tiny_backbone(num_layers=1), method, TASKS, **SMALL.get(method, {}))).eval()


def at_once(*jobs: Callable[[], Any]) -> list[Any]:
    "What the jobs return, each in a thread of its own, all begun together."
    gate = threading.Barrier(len(jobs))

    def begin(job: Callable[[], Any]) -> Any:
        gate.wait()
        return job()

    with ThreadPoolExecutor(len(jobs)) as threads:
        return [future.result() for future in [threads.submit(begin, job) for job in jobs]]


def questions(batch: dict, model: hl.AdaptedModel) -> list[tuple[Callable[[], torch.Tensor], torch.Tensor]]:
    "Ways to ask a model, with the answer it gives when it is asked alone."
    ids, mask = batch["input_ids"], batch["attention_mask"]
    asked: list[Callable[[], torch.Tensor]] = []
    for task in TASKS:
        asked.append(lambda task=task: model.generate(ids, attention_mask=mask, task=task, **ANSWER))
        asked.append(lambda task=task: model(**batch, task=task).logits.detach())
        asked.append(lambda task=task: model.encode({"input_ids": ids, "attention_mask": mask}, task=task).states)
    asked.append(lambda: model.generate(ids, attention_mask=mask, task=[*TASKS, *TASKS], **ANSWER))
    asked.append(lambda: model.backbone(**batch).logits.detach())
    asked.append(lambda: model.backbone.generate(ids, attention_mask=mask, **ANSWER))
    return [(ask, ask()) for ask in asked]


@pytest.mark.parametrize("method", METHODS)
def test_every_thread_gets_its_own_answers(method: str, batch: dict) -> None:
    model = adapted(method)
    asked = questions(batch, model)
    plain = model.backbone(**batch).logits
    if method not in ("full", "hyperdecoder"):  # these have nothing that belongs to a single task
        assert not torch.equal(asked[1][1], asked[4][1])

    def wrong(thread: int) -> int:
        turns = (asked[(5 * turn + 3 * thread) % len(asked)] for turn in range(CALLS))
        return sum(not torch.equal(ask(), expected) for ask, expected in turns)

    assert sum(at_once(*(lambda t=t: wrong(t) for t in range(THREADS)))) == 0
    assert torch.equal(model.backbone(**batch).logits, plain)
    assert model.active.weights is None and not model.active.entering and not model.active.values
    if method != "full":
        fresh = tiny_backbone(num_layers=1)
        if method != "hypergrid":  # which trains the backbone itself
            assert torch.equal(model.detach()(**batch).logits, fresh(**batch).logits)


def test_threads_of_asyncio_get_their_own_answers(batch: dict) -> None:
    model = adapted("hyperformer++")
    asked, plain = questions(batch, model), model.backbone(**batch).logits

    async def ask_all() -> list[torch.Tensor]:
        return await asyncio.gather(*(asyncio.to_thread(ask) for ask, _ in asked for _ in range(CALLS)))

    answers = asyncio.run(ask_all())
    expected = [answer for _, answer in asked for _ in range(CALLS)]
    assert sum(not torch.equal(a, b) for a, b in zip(answers, expected, strict=True)) == 0
    assert torch.equal(model.backbone(**batch).logits, plain)


def test_weights_that_one_caller_fixes_and_observes_are_not_anothers(batch: dict) -> None:
    model = adapted("hyperformer++")
    alone = {task: model(**batch, task=task).logits for task in TASKS}
    entered, left = threading.Event(), threading.Event()
    seen: list[str] = []

    def fixing() -> torch.Tensor:
        with model.acting(model.weights("cola")), model.observing(lambda site, *_: seen.append(str(site))):
            found = model(**batch, task="rte").logits
            entered.set()
            assert left.wait(60)
        return found

    def other() -> torch.Tensor:
        assert entered.wait(60)
        before = len(seen)
        found = model(**batch, task="rte").logits
        assert len(seen) == before
        left.set()
        return found

    fixed, free = at_once(fixing, other)
    assert torch.equal(fixed, alone["cola"]) and torch.equal(free, alone["rte"])

    async def coroutines() -> list[torch.Tensor]:
        turn = asyncio.Event()

        async def one() -> torch.Tensor:
            with model.acting(model.weights("cola")):
                turn.set()
                await asyncio.sleep(0)
                return model(**batch, task="rte").logits

        async def two() -> torch.Tensor:
            await turn.wait()
            return model(**batch, task="rte").logits

        return await asyncio.gather(one(), two())

    first, second = asyncio.run(coroutines())
    assert torch.equal(first, alone["cola"]) and torch.equal(second, alone["rte"])


@pytest.mark.parametrize("method", METHODS)
def test_checkpointed_gradients_are_the_same_beside_other_callers(method: str, batch: dict) -> None:
    model = adapted(method).train()
    model.gradient_checkpointing_enable()

    def gradients() -> list[torch.Tensor]:
        model.zero_grad()
        model(**batch, task="cola").loss.backward()
        return [p.grad.clone() for p in model.parameters() if p.grad is not None]

    alone, stop = gradients(), threading.Event()

    def ask() -> None:
        while not stop.is_set():
            model.generate(batch["input_ids"], task="rte", **ANSWER)

    def train() -> list[list[torch.Tensor]]:
        try:
            return [gradients() for _ in range(CALLS)]
        finally:
            stop.set()

    found, _, _ = at_once(train, ask, ask)
    assert all(torch.equal(a, b) for step in found for a, b in zip(step, alone, strict=True))
    assert all(module.training for module in model.modules())


def quick(method: str, seed: int = 0) -> hl.AdaptedModel:
    options: dict[str, dict[str, Any]] = {
        "hypergrid": {"rows": 4, "columns": 4},
        "intrinsic-said": {"dimension": 300},
        "hyperdecoder": {"encoder_size": 4, "decoder_size": 4, "hypernetwork_width": 8},
    }
    with torch.random.fork_rng(devices=()):
        torch.manual_seed(seed)
        from hyperlab.nano.toy import toy_backbone, toy_tasks, toy_tokenizer

        small = options.get(method, {} if method == "full" else {"reduction_factor": 4})
        return hl.adapt(toy_backbone(dropout=0.1), method, toy_tasks(), tokenizer=toy_tokenizer(), **small)


def trained(folder: Path, model: hl.AdaptedModel, **settings: Any) -> hl.Run:
    few = SHORT | {"steps": 6, "eval_every": 3, "log_every": 1} | settings
    return hl.train(model, run_dir=folder, progress=False, report_to="none", **few)


@pytest.mark.parametrize("method", METHODS)
def test_two_trainings_in_threads_end_with_the_bits_of_one_alone(method: str, tmp_path: Path) -> None:
    alone = [outcome(trained(tmp_path / f"alone-{seed}", quick(method), seed=seed)) for seed in (0, 1)]
    before, models = torch.get_rng_state(), [quick(method), quick(method)]
    runs = at_once(*(lambda seed=seed: trained(tmp_path / f"threads-{seed}", models[seed], seed=seed) for seed in (0, 1)))
    assert [outcome(run) for run in runs] == alone
    assert torch.equal(torch.get_rng_state(), before)


@pytest.mark.parametrize("method", METHODS)
def test_training_beside_callers_ends_with_the_bits_of_one_alone(method: str, tmp_path: Path) -> None:
    settings = {"gradient_checkpointing": method == "hyperformer++"}
    alone = outcome(trained(tmp_path / "alone", quick(method), **settings))
    model, stop, ids = quick(method), threading.Event(), torch.tensor([[5, 6, 7, 1]])

    def train() -> hl.Run:
        try:
            return trained(tmp_path / "beside", model, **settings)
        finally:
            stop.set()

    def ask() -> int:
        asked = 0
        while not stop.is_set():
            for task in model.tasks:
                model.generate(ids, task=task, **ANSWER)
                model.encode({"input_ids": ids}, task=task)
                asked += 1
        return asked

    run, asked, _ = at_once(train, ask, ask)
    assert outcome(run) == alone and asked > 0


def test_sampling_and_adapting_beside_a_training_do_not_change_it(tmp_path: Path) -> None:
    alone = outcome(trained(tmp_path / "alone", quick("hyperformer++")))
    model, backbone, stop = quick("hyperformer++"), tiny_backbone(num_layers=1), threading.Event()

    def train() -> hl.Run:
        try:
            return trained(tmp_path / "beside", model)
        finally:
            stop.set()

    def draw() -> int:
        drawn, ids = 0, torch.tensor([[5, 6, 7, 1]])
        while not stop.is_set():
            model.generate(ids, task=model.tasks[0], do_sample=True, max_new_tokens=2)
            other = hl.adapt(backbone, "hyperformer++", TASKS, **SMALL["hyperformer++"])
            other.materialize("rte")
            other.detach()
            hl.adapt(backbone.config, "full", TASKS)
            drawn += 1
        return drawn

    run, drawn = at_once(train, draw)
    assert outcome(run) == alone and drawn > 0


def test_answers_beside_a_training_are_those_of_weights_it_had(tmp_path: Path) -> None:
    "Logits of the first token, asked for at any time, are those of a snapshot: every update is saved, and there is dropout."
    model, stop, ids = quick("adapter-dagger"), threading.Event(), torch.tensor([[5, 6, 7, 1]])
    name = model.tasks[0]
    options = {"return_dict_in_generate": True, "output_scores": True, **ANSWER}
    score = lambda m: m.generate(ids, task=name, **options).scores[0]
    few = SHORT | {"steps": 6, "eval_every": 6, "save_every": 1, "keep": 20, "log_every": 1}

    def train() -> hl.Run:
        try:
            return hl.train(model, run_dir=tmp_path / "run", progress=False, report_to="none", **few)
        finally:
            stop.set()

    def ask() -> list[torch.Tensor]:
        found = []
        while not stop.is_set():
            found.append(score(model))
        return found

    _, found = at_once(train, ask)
    reference = quick("adapter-dagger")
    known = []
    from hyperlab.training.run_folder import load_weights, snapshots

    for path in snapshots(tmp_path / "run" / "checkpoints").values():
        load_weights(path, reference)
        known.append(score(reference))
    assert len(known) == 7 and found
    assert all(any(torch.equal(answer, state) for state in known) for answer in found)


def test_a_model_is_trained_by_one_run_at_a_time(tmp_path: Path) -> None:
    model, begun, refused = quick("hyperformer++"), threading.Event(), threading.Event()
    real = model.generate

    def generate(*args: Any, **options: Any) -> Any:  # called by the run's evaluation
        begun.set()
        assert refused.wait(60)
        return real(*args, **options)

    model.generate = generate  # type: ignore[method-assign]

    def again() -> list[str]:
        assert begun.wait(60)
        found = []
        tries = [
            lambda: hl.train(model, run_dir=tmp_path / "two", steps=1, progress=False, report_to="none"),
            lambda: model.add_task("late"),
            lambda: model.mix("late", {model.tasks[0]: 1.0}),
            lambda: model.detach(),
        ]
        try:
            for attempt in tries:
                with pytest.raises(RuntimeError, match="is being trained") as caught:
                    attempt()
                found.append(str(caught.value))
        finally:
            refused.set()
        return found

    few = SHORT | {"steps": 2, "eval_every": 1, "log_every": 1}
    run, messages = at_once(lambda: hl.train(model, run_dir=tmp_path / "one", progress=False, report_to="none", **few), again)
    assert run.finished and len(messages) == 4 and "copy.deepcopy(model)" in messages[0]
    del model.generate
    model.add_task("late")  # nothing is left behind


def test_a_failed_call_leaves_the_model_free(batch: dict) -> None:
    model = adapted("hypergrid")
    expected = model(**batch, task="rte").logits
    with pytest.raises(Exception, match="task"):
        model(**batch, task="unknown")
    with pytest.raises(IndexError):
        model.generate(torch.tensor([[1000]]), task="rte", **ANSWER)  # no such token
    (found,) = at_once(lambda: model(**batch, task="rte").logits)
    assert torch.equal(found, expected) and not RANDOM_STREAMS._is_owned()
    assert copy.deepcopy(model)(**batch, task="rte").logits.equal(expected)


def test_adapting_one_backbone_twice_at_once_is_refused(batch: dict) -> None:
    for _ in range(5):
        backbone = tiny_backbone(num_layers=1)

        def once(backbone: Any = backbone) -> str:
            try:
                hl.adapt(backbone, "hyperformer++", TASKS, **SMALL["hyperformer++"])
            except ValueError as error:
                return str(error)
            return "adapted"

        found = sorted(at_once(once, once, once))
        assert found[0] == "adapted" and all("adapted already" in text for text in found[1:])
