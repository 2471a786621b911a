"A new task from a few examples: what moves, what stays, and what is refused."

import datasets
import pytest
import torch

import hyperlab as hl
from hyperlab.toy import toy_backbone, toy_tasks, toy_tokenizer
from hyperlab.transfer import task_parameters, tuning
from hyperlab.updates import trained_parameters

datasets.disable_progress_bars()
QUICK = {"shots": 8, "candidates": (0, 2), "eval_examples": 10, "learning_rate": 1e-2, "progress": False}
OWN = ["hyperformer++", "adapter-dagger", "compacter++", "prompt-tuning", "bitfit"]


def build(method: str) -> hl.AdaptedModel:
    toy_tasks()
    options = {"reduction_factor": 4} if hasattr(hl.get_method(method), "reduction_factor") else {}
    torch.manual_seed(0)
    return hl.adapt(toy_backbone(), method, ["toy-mood"], tokenizer=toy_tokenizer(), **options)


def mood_logits(model: hl.AdaptedModel) -> torch.Tensor:
    ids = model.tokenizer(["the happy cat sits", "a gloomy dog"], return_tensors="pt", padding=True)
    with torch.no_grad():
        return model.eval()(ids["input_ids"], decoder_input_ids=ids["input_ids"][:, :2], task="toy-mood").logits


@pytest.mark.parametrize("method", OWN)
def test_what_belongs_to_the_new_task_moves_alone(method):
    model = build(method)
    before = mood_logits(model)
    found = hl.few_shot(model, "toy-pet", tune="task", **(QUICK | {"candidates": (2,)}))
    assert torch.equal(before, mood_logits(model))
    assert found.steps == 2 and model.tasks == ["toy-mood", "toy-pet"]
    mood, pet = (model.weights(name) for name in model.tasks)
    assert any(not torch.equal(w, pet[site][name]) for site, found in mood.items() for name, w in found.items())


def test_tuning_everything_moves_what_the_method_trains():
    model = build("hyperformer++")
    with tuning(model) as kept:
        assert len(kept) == len(trained_parameters(model))
    before = mood_logits(model)
    hl.few_shot(model, "toy-pet", tune="all", **(QUICK | {"candidates": (2,)}))
    assert not torch.equal(before, mood_logits(model))
    assert all(p.requires_grad for p in trained_parameters(model).values())


def test_a_saved_checkpoint_stays_what_it_was(tmp_path):
    model = build("hyperformer++")
    model.save(tmp_path / "model")
    files = {path.name: path.read_bytes() for path in (tmp_path / "model").iterdir()}
    hl.few_shot(hl.load(tmp_path / "model", backbone=toy_backbone(), tokenizer=toy_tokenizer()), "toy-pet", **QUICK)
    assert files == {path.name: path.read_bytes() for path in (tmp_path / "model").iterdir()}


def test_the_same_seed_gives_the_same_examples_and_result():
    one, two = (hl.few_shot(build("adapter-dagger"), "toy-pet", **QUICK) for _ in range(2))
    other = hl.few_shot(build("adapter-dagger"), "toy-pet", seed=1, **QUICK)
    assert one == two and one.losses != other.losses


def test_keeping_the_start_is_one_of_the_candidates():
    model = build("adapter-dagger")
    found = hl.few_shot(model, "toy-pet", **(QUICK | {"candidates": (0,)}))
    assert found.steps == 0 and found.start == found.scores


def test_refusals():
    with pytest.raises(ValueError, match="at least 2 examples, received 1"):
        hl.few_shot(build("adapter-dagger"), "toy-pet", shots=1)
    with pytest.raises(ValueError, match="unknown tune"):
        hl.few_shot(build("adapter-dagger"), "toy-pet", **(QUICK | {"tune": "some"}))
    with pytest.raises(ValueError, match="nothing that belongs to a single task"):
        hl.few_shot(build("full"), "toy-pet", **(QUICK | {"tune": "task"}))
    assert not task_parameters(build("full"))
