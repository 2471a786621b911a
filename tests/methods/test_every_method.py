"""One battery for every registered method: a method that is added is tested by being registered."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from conftest import (
    NEAR_FAMILIES,
    OTHER_FAMILIES,
    PROJECT,
    SEED,
    SMALL,
    TASKS,
    awaken,
    batch_for,
    close,
    close_gradients,
    fell,
    tiny_backbone,
    tiny_family,
)

import hyperlab as hl

METHODS = hl.available_methods()
MIXED = ["rte", "cola", "rte", "sst2", "cola", "rte"]


def build(name: str, tasks: list[str] = TASKS, **changes: object) -> hl.AdaptedModel:
    return awaken(hl.adapt(tiny_backbone(), name, tasks, **(SMALL.get(name, {}) | changes))).eval()


@pytest.mark.parametrize("name", METHODS)
def test_a_method_says_itself_when_to_use_it(name: str) -> None:
    said = vars(hl.core.method.METHODS[name])  # not what it derives from
    assert {"paper", "formula", "when", "when_not"} <= set(said), "write them beside its name and title"
    assert all(said[key].endswith(".") and said[key][0].isupper() for key in ("when", "when_not")), "sentences"
    assert not re.search(r"\d[.,]\d|\d %", said["when"] + said["when_not"]), "figures come from records"


def part(batch: dict, rows: list[int]) -> dict:
    return {key: value[rows] for key, value in batch.items()}


def rows_of(task: str) -> list[int]:
    return [i for i, t in enumerate(MIXED) if t == task]


@pytest.mark.rounding
@pytest.mark.parametrize("name", METHODS)
def test_mixed_batch_equals_the_tasks_alone(name: str, batch: dict) -> None:
    model = build(name)
    mixed = model(**batch, task=MIXED).logits
    for task in TASKS:
        alone = model(**part(batch, rows_of(task)), task=task).logits
        close(f"logits of {task}", mixed[rows_of(task)], alone)


@pytest.mark.rounding
@pytest.mark.parametrize("name", METHODS)
def test_mixed_gradients_equal_the_sum_of_the_tasks(name: str, batch: dict) -> None:
    model = build(name)

    def gradients(losses: list) -> dict[str, torch.Tensor]:
        model.zero_grad()
        sum(losses).backward()
        return {n: p.grad.clone() for n, p in model.named_parameters() if p.requires_grad and p.grad is not None}

    def token_sum(rows: list[int], task: object) -> torch.Tensor:
        logits = model(**part(batch, rows), task=task).logits
        return torch.nn.functional.cross_entropy(logits.flatten(0, 1), batch["labels"][rows].flatten(), reduction="sum")

    mixed = gradients([token_sum(list(range(6)), MIXED)])
    alone = gradients([token_sum(rows_of(task), task) for task in TASKS])
    close_gradients(mixed, alone)


@pytest.mark.parametrize("name", METHODS)
def test_every_trained_parameter_learns_and_nothing_else_asks(name: str, batch: dict) -> None:
    model = build(name)
    model(**batch, task=MIXED).loss.backward()
    for key, parameter in model.named_parameters():
        assert (parameter.grad is not None) == parameter.requires_grad, key
    trained = sum(p.numel() for p in model.parameters() if p.requires_grad)
    assert hl.cost(model).count.trained == trained


@pytest.mark.margins
@pytest.mark.parametrize("name", METHODS)
def test_training_a_little_lowers_the_loss(name: str, batch: dict) -> None:
    torch.manual_seed(SEED)
    model = hl.adapt(tiny_backbone(), name, TASKS, **SMALL.get(name, {})).train()
    rate = 3e-2 if name == "prompt-tuning" else 3e-3  # a prompt's vectors are as long as embeddings, other weights are short
    optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=rate)
    losses = []
    for _ in range(30):
        loss = model(**batch, task=MIXED).loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    fell("loss", losses[0], losses[-1], 0.05)


@pytest.mark.rounding
@pytest.mark.parametrize("name", METHODS)
def test_added_task_is_a_copy_and_changes_no_other(name: str, batch: dict) -> None:
    model = build(name)
    before = {task: model(**batch, task=task).logits for task in TASKS}
    model.add_task("new", like="rte")
    for task in TASKS:
        assert torch.equal(model(**batch, task=task).logits, before[task])
    close("logits of the new task", model(**batch, task="new").logits, before["rte"])
    shared = {p.data_ptr() for p in model.parameters()}
    assert len(shared) == len(list(model.parameters()))  # no parameter is another one's storage


@pytest.mark.rounding
@pytest.mark.parametrize("name", METHODS)
def test_mixture_is_a_task_once_it_is_kept(name: str, batch: dict) -> None:
    model = build(name)
    parts = {"rte": 0.3, "sst2": 0.7}
    mixed = model(**batch, task=parts).logits
    model.mix("blend", parts)
    close("logits of the mixture", model(**batch, task="blend").logits, mixed)
    pure = model(**batch, task={"rte": 1.0}).logits
    assert torch.equal(pure, model(**batch, task="rte").logits)


@pytest.mark.rounding
@pytest.mark.parametrize("name", METHODS)
def test_materialized_equals_generated(name: str, batch: dict) -> None:
    model = build(name)
    inputs = {k: v for k, v in batch.items() if k != "labels"}
    if model.rule.reads_input:
        with pytest.raises(ValueError, match="no static form"):
            model.materialize("rte")
        return
    for task in ("rte", {"cola": 0.5, "rte": 0.5}):
        static = model.materialize(task)
        close("static logits", static(**batch).logits, model(**batch, task=task).logits)
        for beams in (1, 3):
            options = {"max_new_tokens": 7, "num_beams": beams}
            assert torch.equal(static.generate(**inputs, **options), model.generate(**inputs, task=task, **options))


@pytest.mark.parametrize("beams", [1, 3])
@pytest.mark.parametrize("name", METHODS)
def test_generate_mixed_equals_one_by_one(name: str, beams: int, batch: dict) -> None:
    model = build(name)
    options = {"max_new_tokens": 6, "min_new_tokens": 6, "num_beams": beams}
    ids, mask = batch["input_ids"], batch["attention_mask"]
    together = model.generate(ids, task=MIXED, attention_mask=mask, **options)
    for row, task in enumerate(MIXED):
        alone = model.generate(ids[row : row + 1], task=task, attention_mask=mask[row : row + 1], **options)
        assert torch.equal(together[row : row + 1], alone)
    uncached = model.generate(ids, task=MIXED, attention_mask=mask, use_cache=False, **options)
    assert torch.equal(together, uncached)


@pytest.mark.rounding
@pytest.mark.parametrize("name", METHODS)
def test_gradient_checkpointing_changes_nothing(name: str, batch: dict) -> None:
    model = build(name).train()

    def gradients() -> dict[str, torch.Tensor]:
        model.zero_grad()
        torch.manual_seed(3)
        (model(**batch, task=MIXED).loss + model(**batch, task="cola").loss).backward()
        return {n: p.grad.clone() for n, p in model.named_parameters() if p.requires_grad}

    plain = gradients()
    model.gradient_checkpointing_enable()
    close_gradients(gradients(), plain)


@pytest.mark.parametrize("name", [n for n in METHODS if not hl.get_method(n).trains.startswith("all")])
def test_detach_gives_the_untouched_backbone(name: str, batch: dict) -> None:
    backbone = tiny_backbone()
    plain, keys = backbone(**batch).logits, list(backbone.state_dict())
    model = awaken(hl.adapt(backbone, name, TASKS, **SMALL.get(name, {}))).eval()
    assert not torch.allclose(model(**batch, task="rte").logits, plain, atol=1e-4)
    assert list(backbone.state_dict()) == keys
    assert model.detach() is backbone
    assert torch.equal(backbone(**batch).logits, plain)
    assert all(p.requires_grad for p in backbone.parameters())


LOAD_ALL_AND_RUN = """
import pathlib, sys, torch
saved, batch, tests = sys.argv[1:]
sys.path.insert(0, tests)
from conftest import tiny_backbone
import hyperlab as hl
inputs, out = torch.load(batch, weights_only=True), {}
with torch.no_grad():
    for folder in pathlib.Path(saved).iterdir():
        model = hl.load(folder, backbone=tiny_backbone())
        out[folder.name] = {task: model(**inputs, task=task).logits for task in model.tasks}
torch.save(out, batch + ".out")
"""


@torch.no_grad()
def test_saved_models_load_in_a_new_process_with_identical_logits(tmp_path: Path, batch: dict) -> None:
    torch.save(batch, tmp_path / "batch.pt")
    expected = {}
    for name in METHODS:
        model = build(name)
        model.add_task("late", like={"rte": 0.5, "cola": 0.5})
        model.save(tmp_path / "saved" / name)
        expected[name] = {task: model(**batch, task=task).logits for task in model.tasks}
    arguments = [tmp_path / "saved", tmp_path / "batch.pt", PROJECT / "tests"]
    subprocess.run([sys.executable, "-c", LOAD_ALL_AND_RUN, *arguments], check=True)
    loaded = torch.load(tmp_path / "batch.pt.out", weights_only=True)
    assert loaded.keys() == expected.keys()
    for name, logits in expected.items():
        assert logits.keys() == loaded[name].keys()
        assert all(torch.equal(logits[task], loaded[name][task]) for task in logits), name


# What a method is refused for on a family, and what the error says.
ALONE = [name for name in OTHER_FAMILIES if name not in ("bart", "mbart")]
REFUSED = {("prompt-tuning", name): "no encoder" for name in ALONE}
REFUSED |= {("hypergrid", name): "defined for the T5 family" for name in OTHER_FAMILIES}
REFUSED |= {("adapter", name): "train_norms=False" for name in ("bart", "mbart", "gpt2", "gemma3_text")}
VARIANTS = {"hyperdecoder with LoRA": ("hyperdecoder", {**SMALL["hyperdecoder"], "adapter": "lora"})}
FAMILIES = [*OTHER_FAMILIES, *NEAR_FAMILIES]
PAIRS = [(method, family) for method in [*METHODS, *VARIANTS] for family in FAMILIES if (method, family) not in REFUSED]


@pytest.mark.parametrize(("method", "family"), REFUSED)
def test_a_method_that_does_not_carry_over_says_why(method: str, family: str) -> None:
    with pytest.raises(ValueError, match=REFUSED[method, family]):
        hl.adapt(tiny_family(family), method, TASKS, **SMALL.get(method, {}))


@pytest.mark.rounding
@pytest.mark.parametrize(("method", "family"), PAIRS)
def test_every_method_on_every_family(method: str, family: str, batch: dict, tmp_path: Path) -> None:
    name, options = VARIANTS.get(method, (method, SMALL.get(method, {})))
    model = awaken(hl.adapt(tiny_family(family), name, TASKS, **options)).eval()
    given = batch_for(model.backbone, batch)
    output = model(**given, task=MIXED)
    output.loss.backward()
    for key, parameter in model.named_parameters():
        assert (parameter.grad is not None) == parameter.requires_grad, key
    assert hl.cost(model).count.trained == sum(p.numel() for p in model.parameters() if p.requires_grad)
    with torch.no_grad():
        check_tasks(model, given, output.logits)
        check_answers(model, given)
        logits = model(**given, task="rte").logits
        loaded = hl.load(model.save(tmp_path), backbone=tiny_family(family))
        assert torch.equal(loaded(**given, task="rte").logits, logits)
    plain = tiny_family(family)(**given).logits
    assert not torch.allclose(plain, logits, atol=1e-4)
    if not model.method.trains.startswith("all"):
        assert torch.equal(model.detach()(**given).logits, plain)


def test_a_model_materialised_when_polytropon_had_an_adapter_of_its_own_loads(tmp_path: Path, batch: dict) -> None:
    static = build("polytropon").materialize("rte")
    static.save(tmp_path)
    file = tmp_path / "config.json"
    own, record = '{"adapter": "LoRA", "rank": 2, "alpha": 1.0, "dropout": 0.0', json.loads(file.read_text())
    for part in record["hyperlab"]["options"]["parts"].values():
        assert part["adapter"] == json.loads(own + "}")
        part["adapter"] = {"adapter": "LowRank", "rank": 2}
    file.write_text(json.dumps(record))
    assert torch.equal(hl.load(tmp_path, backbone=tiny_backbone())(**batch).logits, static(**batch).logits)


def check_tasks(model: hl.AdaptedModel, given: dict, mixed: torch.Tensor) -> None:
    "A mixed batch is its tasks alone, and a task that is added is a copy that changes no other."
    for task in TASKS:
        close(f"logits of {task}", mixed[rows_of(task)], model(**part(given, rows_of(task)), task=task).logits)
    before = model(**given, task="rte").logits
    model.add_task("new", like="rte")
    assert torch.equal(model(**given, task="rte").logits, before)
    close("logits of the new task", model(**given, task="new").logits, before)


def check_answers(model: hl.AdaptedModel, given: dict) -> None:
    "Answers of a mixed batch are those of the rows alone, with beams and without a cache; static adapters give the same."
    ids, mask = given["input_ids"], given["attention_mask"]
    for beams in (1, 2):
        options = {"max_new_tokens": 4, "min_new_tokens": 4, "num_beams": beams}
        together = model.generate(ids, task=MIXED, attention_mask=mask, **options)
        for row in (0, 1, 4):  # the last two are padded
            real = mask[row].bool()
            alone = model.generate(ids[row, real].unsqueeze(0), task=MIXED[row], **options)
            assert torch.equal(together[row : row + 1], alone)
        assert torch.equal(together, model.generate(ids, task=MIXED, attention_mask=mask, use_cache=False, **options))
        if not model.rule.reads_input:
            static = model.materialize("rte").generate(ids, attention_mask=mask, **options)
            assert torch.equal(static, model.generate(ids, task="rte", attention_mask=mask, **options))
