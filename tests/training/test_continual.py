"""One more task for a trained model: old tasks stay bit for bit, or are held, or are forgotten; and what is refused."""

import copy

import pytest
import torch

import hyperlab as hl
from hyperlab.nano.toy import toy_backbone, toy_tasks, toy_tokenizer
from hyperlab.training import continual as chapter
from hyperlab.training.continual import KEEPS, Learning, flat_weights, forgetting, forward_transfer, learn_task
from hyperlab.training.update import NonFinite

QUICK = {"learning_rate": 0.02, "progress": False}
SMALL = dict.fromkeys(("hyperformer++", "hyperformer-stable", "adapter-dagger", "adapter-shared"), {"reduction_factor": 4})


def toy(method: str = "hyperformer++", **options: object) -> hl.AdaptedModel:
    torch.manual_seed(0)
    toy_tasks()
    made = hl.adapt(toy_backbone(), method, ["toy-mood"], tokenizer=toy_tokenizer(), **SMALL.get(method, {}), **options)
    with torch.no_grad():  # what starts at zero writes the same whatever happens to it
        for parameter in made.rule.parameters():
            if parameter.requires_grad:
                parameter.add_(0.02 * torch.randn_like(parameter))
    return made.eval()


def answers(model: hl.AdaptedModel, name: str) -> torch.Tensor:
    ids = torch.arange(3, 19).view(2, 8)
    with torch.no_grad():
        found: torch.Tensor = model.eval()(ids, task=name, decoder_input_ids=torch.tensor([[0, 4], [0, 5]])).logits
    return found


@pytest.mark.parametrize("method", ["hyperformer++", "hyperformer-stable", "task-hypernet", "hyper-lora", "adapter-dagger"])
def test_a_new_tasks_own_parameters_leave_old_tasks_bit_identical(method: str) -> None:
    model = toy(method)
    kept, logits = flat_weights(model, ["toy-mood"]).detach(), answers(model, "toy-mood")
    learn_task(model, "toy-pet", "task", steps=4, **QUICK)
    assert model.tasks == ["toy-mood", "toy-pet"]
    assert torch.equal(flat_weights(model, ["toy-mood"]), kept) and torch.equal(answers(model, "toy-mood"), logits)
    assert not torch.equal(flat_weights(model, ["toy-pet"]), kept)


@pytest.mark.parametrize("keep", KEEPS)
def test_every_way_adds_the_task_and_learns_it(keep: str) -> None:
    model = toy()
    start = learn_task(model, "toy-pet", keep, steps=2, **QUICK)
    assert start is not None and model.tasks == ["toy-mood", "toy-pet"]
    assert not torch.equal(flat_weights(model, ["toy-pet"]), flat_weights(model, ["toy-mood"]))
    assert learn_task(model, "toy-pet", keep, steps=1, **QUICK) is None  # it is known by now, and learned further


def moved(keep: str, **how: object) -> float:
    model = toy()
    before = flat_weights(model, ["toy-mood"]).detach()
    learn_task(model, "toy-pet", keep, steps=12, factor=1.0, **QUICK | how)
    return float(chapter.drift(flat_weights(model, ["toy-mood"]).detach(), before))


def test_the_regulariser_holds_what_is_written_for_old_tasks() -> None:
    free, held, tight = moved("nothing"), moved("weights", strength=1.0), moved("weights", strength=1000.0)
    assert free > 2 * held > 2 * tight > 0
    assert moved("weights", strength=0.0) == pytest.approx(free)


def test_replay_sees_the_few_rows_that_were_kept_and_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    asked, load = [], chapter.load_task_split
    noted = lambda name, split, *a, **k: asked.append((name, split, k)) or load(name, split, *a, **k)
    monkeypatch.setattr(chapter, "load_task_split", noted)
    model = toy()
    learn_task(model, "toy-pet", "replay", steps=2, replayed=5, seed=3, **QUICK)
    (old,) = [one for one in asked if one[0] == "toy-mood"]
    assert old[1:] == ("train", {"max_examples": 5, "seed": 3})
    asked.clear()
    learn_task(toy(), "toy-pet", "nothing", steps=1, **QUICK)
    assert {name for name, *_ in asked} == {"toy-pet"}


def test_shared_norms_stay_unless_they_are_asked_for() -> None:
    norms = lambda model: torch.cat([p.detach().flatten() for n, p in model.backbone.named_parameters() if "layer_norm" in n])
    model = toy()
    before = norms(model)
    learn_task(model, "toy-pet", "nothing", steps=2, **QUICK)
    assert torch.equal(norms(model), before)
    learn_task(model, "toy-pet", "nothing", steps=2, norms=True, **QUICK)
    assert not torch.equal(norms(model), before)


@pytest.mark.parametrize(("method", "keep", "how", "said"), [
    ("hyperformer++", "everything", {}, "unknown keep"),
    ("adapter-shared", "task", {}, "nothing that belongs to a single task"),
    ("full", "weights", {"norms": True}, "writes no weights"),
    ("hyperformer++", "task", {"steps": 0}, "steps=0"),
    ("hyperformer++", "nothing", {"factor": float("nan")}, "finite factor"),
    ("hyperformer++", "nothing", {"learning_rate": 1e30, "factor": 1e8, "steps": 9}, "not finite"),
])  # fmt: skip
def test_what_cannot_be_learned_leaves_the_model_as_it_was(method: str, keep: str, how: dict, said: str) -> None:
    model = toy(method)
    before = copy.deepcopy(model.trained_tensors())
    with pytest.raises((ValueError, NonFinite), match=said):
        learn_task(model, "toy-pet", keep, **QUICK | how)
    after = model.trained_tensors()
    assert model.tasks == ["toy-mood"] and before.keys() == after.keys()
    assert all(torch.equal(before[name], after[name]) for name in before)


def test_a_task_alone_has_no_old_ones_to_keep() -> None:
    with pytest.raises(ValueError, match="expected a model that knows other tasks than toy-mood"):
        learn_task(toy(), "toy-mood", "replay", **QUICK)
    with pytest.raises(ValueError, match="replayed=0"):
        Learning("replay", replayed=0)


def test_forgetting_and_transfer_by_hand() -> None:
    nan = float("nan")
    scores = [[90, 80, nan, nan], [88, 80, 70, nan], [80, 70, 60, 50]]
    assert forgetting(scores, 2) == {"of the start": 10.0, "of those that came": 10.0}
    assert forward_transfer([60, 30], [50, 50]) == -5
