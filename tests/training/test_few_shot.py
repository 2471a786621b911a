"A new task from a few examples: what moves, what stays, and what is refused."

import datasets
import pytest
import torch

import hyperlab as hl
import hyperlab.experiments.few_shot_study
import hyperlab.training.few_shot
from hyperlab.data.tokens import load_task_split
from hyperlab.experiments.paper_studies import make_run, variants_of
from hyperlab.training.few_shot import choose_start
from hyperlab.nano.toy import toy_backbone, toy_tasks, toy_tokenizer
from hyperlab.training.few_shot import tuning
from hyperlab.training.update import trained_parameters

datasets.disable_progress_bars()
QUICK = {"shots": 8, "candidates": (0, 2), "eval_examples": 10, "learning_rate": 1e-2, "progress": False}
OWN = ["hyperformer++", "adapter-dagger", "compacter++", "prompt-tuning", "bitfit"]


def build(method: str, tasks: list[str] | None = None) -> hl.AdaptedModel:
    toy_tasks()
    options = {"reduction_factor": 4} if hasattr(hl.get_method(method), "reduction_factor") else {}
    torch.manual_seed(0)
    return hl.adapt(toy_backbone(), method, tasks or ["toy-mood"], tokenizer=toy_tokenizer(), **options)


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


@pytest.mark.parametrize(("tune", "piece"), [("base", ".bases."), ("heads", ".heads."), ("task", "task_embedding")])
def test_a_part_of_the_hypernetwork_moves_alone(tune, piece):
    model = build("hyperformer-stable")
    before = {name: p.clone() for name, p in trained_parameters(model).items()}
    hl.few_shot(model, "toy-pet", tune=tune, **(QUICK | {"candidates": (2,)}))
    after = trained_parameters(model)
    moved = {name for name, p in before.items() if p.shape != after[name].shape or not torch.equal(p, after[name])}
    assert moved and all(piece in name or "task_embedding" in name for name in moved)  # the new task's row is added
    assert all(torch.equal(p, after[name][: len(p)]) for name, p in before.items() if "task_embedding" in name)


def test_the_examples_choose_what_is_tuned_and_how_fast():
    model = build("hyperformer-stable")
    asked = {"tune": ["all", "task", "base", "heads"], "factors": (0.2, 1.0), "candidates": (0, 2)}
    found = hl.few_shot(model, "toy-pet", **(QUICK | asked))
    best = min(found.trials, key=lambda trial: trial.loss)
    tried = {(kind, factor, steps) for kind in asked["tune"] for factor in (0.2, 1.0) for steps in (0, 2)}
    assert {(t.tune, t.factor, t.steps) for t in found.trials} == tried
    assert (found.tune, found.steps, found.rate) == (best.tune, best.steps, best.factor * 1e-2)
    lacking = hl.few_shot(build("hyperformer++"), "toy-pet", **(QUICK | {"tune": ["base", "heads"]}))
    assert {trial.tune for trial in lacking.trials} == {"heads"}
    with pytest.raises(ValueError, match="no base of its sites and no hypernetwork"):
        hl.few_shot(build("adapter-dagger"), "toy-pet", **(QUICK | {"tune": ["base", "heads"]}))


def test_a_fit_says_when_nothing_was_learned():
    found = hl.few_shot(build("adapter-dagger"), "toy-pet", **(QUICK | {"candidates": (0,)}))
    assert "nothing was learned" in str(found)


def test_a_saved_checkpoint_stays_what_it_was(tmp_path):
    model = build("hyperformer++")
    model.save(tmp_path / "model")
    files = {path.name: path.read_bytes() for path in (tmp_path / "model").iterdir()}
    hl.few_shot(hl.load(tmp_path / "model", backbone=toy_backbone(), tokenizer=toy_tokenizer()), "toy-pet", **QUICK)
    assert files == {path.name: path.read_bytes() for path in (tmp_path / "model").iterdir()}


def test_the_same_seed_gives_the_same_examples_and_result():
    one, two = (hl.few_shot(build("adapter-dagger"), "toy-pet", **QUICK) for _ in range(2))
    other = hl.few_shot(build("adapter-dagger"), "toy-pet", seed=1, **QUICK)
    assert one == two and one.trials != other.trials


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
    assert not build("full").task_parameters()


def test_norms_stay_where_they_are_if_asked():
    model = build("hyperformer++")
    norms = {name: p.clone() for name, p in trained_parameters(model).items() if "layer_norm" in name}
    hl.few_shot(model, "toy-pet", norms=False, **(QUICK | {"candidates": (2,)}))
    after = trained_parameters(model)
    assert norms and all(torch.equal(p, after[name]) for name, p in norms.items())
    hl.few_shot(build_again := build("hyperformer++"), "toy-pet", **(QUICK | {"candidates": (2,)}))
    assert any(not torch.equal(p, trained_parameters(build_again)[name]) for name, p in norms.items())


@pytest.mark.parametrize("like", ["auto", "simplex"])
def test_a_start_is_chosen_on_the_examples_alone(like, monkeypatch):
    seen = []
    load = hyperlab.training.few_shot.load_task_split

    def noted(kind, rows):
        seen.append((kind, rows))
        return rows

    note = lambda name, split, *a, **k: noted(split, load(name, split, *a, **k))
    monkeypatch.setattr(hyperlab.training.few_shot, "load_task_split", note)
    monkeypatch.setattr(hyperlab.training.few_shot, "choose_start", lambda m, rows, way: choose_start(m, noted("asked", rows), way))
    model = build("hyperformer++", ["toy-mood", "mood-two"])
    found = hl.few_shot(model, "toy-pet", like=like, **QUICK)
    rows = [rows for kind, rows in seen if kind == "asked"]
    assert rows == [rows for kind, rows in seen if kind == "train"] and len(rows[0].rows) == QUICK["shots"]
    assert found.start_from.chosen == like and set(found.start_from.losses) == {"toy-mood", "mood-two"}
    assert found.start_from.found <= min(found.start_from.losses.values())


def test_a_mixture_alone_is_learned_without_touching_the_model():
    model = build("hyperformer++", ["toy-mood", "mood-two"])
    before = mood_logits(model)
    found = hl.few_shot(model, "toy-pet", like="simplex", **(QUICK | {"candidates": (0,)}))
    assert found.steps == 0 and torch.equal(before, mood_logits(model))


def test_searching_a_start_needs_something_that_tasks_own():
    with pytest.raises(ValueError, match="nothing to choose"):
        hl.few_shot(build("full"), "toy-pet", like="auto", **QUICK)
    model = build("full")
    with pytest.raises(ValueError, match="expected at most"):
        hl.few_shot(model, "toy-pet", **(QUICK | {"shots": 10**6}))
    assert model.tasks == ["toy-mood"]  # refused before anything changed


def test_every_method_sees_the_same_examples():
    models = [build(method) for method in ("adapter-dagger", "hyperformer++")]
    rows = [load_task_split("toy-pet", "train", model, max_examples=8, seed=3).rows["source"][:] for model in models]
    assert list(rows[0]) == list(rows[1])


def test_a_stopped_study_goes_on(tmp_path, monkeypatch):
    build("adapter-dagger").save(tmp_path / "model")
    made = []

    def fit(*arguments, **options):
        if len(made) == 2:
            raise KeyboardInterrupt
        made.append(options["seed"])
        return hl.few_shot(*arguments, **options)

    plain = lambda source: hl.load(source, backbone=toy_backbone(), tokenizer=toy_tokenizer())
    monkeypatch.setattr(hyperlab.experiments.few_shot_study, "load", plain)
    monkeypatch.setattr(hyperlab.experiments.few_shot_study, "few_shot", fit)
    asked = (tmp_path / "model", ["toy-pet"], [4], [0, 1, 2], tmp_path / "study")
    how = {k: QUICK[k] for k in ("eval_examples", "learning_rate")} | {"candidates": [0, 2], "progress": False}
    with pytest.raises(KeyboardInterrupt):
        hl.study(*asked, **how)
    made.clear()
    found = hl.study(*asked, **how)
    assert made == [2] and found["seed"].tolist() == [0, 1, 2]
    assert found["zero-shot"].notna().sum() == 1


PARTS = [(study, place) for study, count in (("hyperformer-4", 6), ("hyperformer-stable", 5)) for place in range(count)]


@pytest.mark.parametrize(("study", "place"), PARTS)
def test_every_part_can_be_taken_out_of_hyperformer(study, place, tmp_path):
    variant = variants_of(study)[place]  # one without its projector has no rate for it, and so on
    settings = {"backbone": "nano", "tasks": "nano-rte", "seed": 0, "steps": 1, "eval_every": 1, "eval_examples": 4}
    assert make_run(tmp_path / "run", variant.method, variant.options, **settings).finished
