"""Tuning is fair: the same points for every method, no test row, nothing tried twice, and the shipped record is what is used."""

from dataclasses import replace
from pathlib import Path

import pytest

import hyperlab as hl
from hyperlab.core.files import read_json, write_json
from hyperlab.experiments import tune as chapter
from hyperlab.experiments.tune import Budget, Trial, Tuned, ship_tuning, trial_settings, tuning_table
from hyperlab.training import recipes
from hyperlab.training.recipes import make_recipe, own_trials, tuned_recipe, tuning_records

SMALL = Budget(trials=3, rungs=(2, 4), kept=(1,), eval_examples=8)
HOW = {"tasks": "nano-sst2", "budget": SMALL, "progress": False}


def test_every_method_looks_as_far_around_its_centre() -> None:
    points = chapter.latin_points(6, 4)
    chosen = {m: [trial_settings(m, p) for p in points] for m in hl.available_methods()}
    for method, settings in chosen.items():
        centre = chapter.CENTRES.get(method, 3e-3)
        factors = [s["learning_rate"] / centre for s in settings]
        assert factors == pytest.approx([s["learning_rate"] / 1e-3 for s in chosen["full"]], rel=0.05)  # two digits
        assert [s["clip"] for s in settings] == [s["clip"] for s in chosen["full"]]


def test_a_trial_loads_no_test_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    real = recipes.load_splits
    monkeypatch.setattr(recipes, "load_splits", lambda model, split, *a, **k: asked.append(split) or real(model, split, *a, **k))
    hl.tune("adapter-shared", tmp_path, **HOW)
    assert set(asked) == {"train", "validation"}


def test_a_run_without_test_rows_reports_validation(tmp_path: Path) -> None:
    model = hl.nano.nano_adapted("adapter-shared", names=["nano-sst2"])
    run = hl.train(model, steps=2, eval_examples=8, test=False, run_dir=tmp_path / "run", progress=False, report_to="none")
    assert run.result["split"] == {"nano-sst2": "validation"} and run.config["data"]["test"] == {}
    assert run.config["recipe"]["test"] is False
    other = hl.nano.nano_adapted("adapter-shared", names=["nano-sst2"])
    with pytest.raises(ValueError, match="another run.*test"):
        hl.train(other, steps=2, eval_examples=8, run_dir=tmp_path / "run", progress=False, report_to="none")


def test_what_was_tried_is_not_tried_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real, count = chapter.validate_trial, []

    def counted(*given: object) -> dict:
        count.append(given)
        if len(count) == 3:
            raise KeyboardInterrupt
        return real(*given)

    monkeypatch.setattr(chapter, "validate_trial", counted)
    with pytest.raises(KeyboardInterrupt):
        hl.tune("adapter-shared", tmp_path, **HOW)
    found = hl.tune("adapter-shared", tmp_path, **HOW)
    assert len(count) == 5, "two before the stop, the stopped one, and two that were left"
    monkeypatch.setattr(chapter, "validate_trial", None)
    assert hl.tune("adapter-shared", tmp_path, **HOW).record() == found.record()


def test_another_budget_in_the_same_folder_is_refused(tmp_path: Path) -> None:
    hl.tune("adapter-shared", tmp_path, **HOW)
    with pytest.raises(ValueError, match="choose another folder"):
        hl.tune("adapter-shared", tmp_path, **HOW | {"budget": replace(SMALL, trials=4)})


@pytest.mark.parametrize(("given", "said"), [({"kept": (1, 1)}, "rungs"), ({"kept": (9,)}, "1 to 7"), ({"kept": (0,)}, "1 to 7")])
def test_a_budget_that_can_not_be_is_refused(given: dict, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        Budget(**given)


def test_a_diverging_trial_is_recorded_and_climbs_no_further(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(chapter.CENTRES, "full", 1e30)  # the centre diverges, and what lies far below it does not
    space = chapter.Space(width=1e75)
    found = hl.tune("full", tmp_path, space=space, **HOW)
    failed = [trial for trial in found.trials if trial.failed]
    assert failed and all(trial.scores == {2: 0.0} for trial in failed), found.table


def test_the_best_is_the_best_of_the_last_rung_on_validation(tmp_path: Path) -> None:
    found = hl.tune("adapter-shared", tmp_path, **HOW)
    climbed = [trial for trial in found.trials if 4 in trial.scores]
    assert len(climbed) == 1 and found.best is climbed[0]
    assert found.best.losses[2] == min(trial.losses[2] for trial in found.trials)


def test_when_every_trial_fails_the_reason_is_said() -> None:
    failed = [Trial({"learning_rate": rate}, {240: 0.0}, {240: 1e9}, "weights are not finite") for rate in (1.0, 10.0)]
    found = Tuned("adapter-shared", "nano", failed, Budget(trials=2, kept=(1,)))
    with pytest.raises(ValueError, match="adapter-shared: expected a trial that reaches 720 .* weights are not finite; lower"):
        _ = found.best


def test_the_base_of_the_stable_variant_is_slower_than_its_heads() -> None:
    first = trial_settings("hyperformer-stable", [0.5, 0.5, 0.0, 0.0])
    assert first == {"learning_rate": 3e-3, "clip": 1.0, "rates": {"embedding": 9e-3, "bases": 1e-3}}
    assert trial_settings("hyperformer-stable", [0.5, 0.0, 0.0, 0.0])["rates"] == {"bases": 1e-3}


def test_every_method_was_tuned_with_one_budget_and_its_winner_is_used() -> None:
    records = tuning_records()
    alone = {method for method in hl.available_methods() if own_trials(method)}
    assert set(hl.available_methods()) - set(records) - alone == set(), "tune it: python -m hyperlab.sweep nbs/tune.ipynb …"
    for method in alone - set(records):  # what it was given is one of the settings that were tried
        assert own_trials(method)["best"] in [trial["settings"] for trial in own_trials(method)["trials"]]
        assert make_recipe(method, "nano").learning_rate == own_trials(method)["best"]["learning_rate"]
    assert len({str(record["budget"]) for record in records.values()}) == 1
    for method, record in records.items():
        last = str(record["budget"]["rungs"][-1])
        scores = [trial["scores"][last] for trial in record["trials"] if last in trial["scores"]]
        best = next(trial for trial in record["trials"] if trial["settings"] == record["best"])
        assert best["scores"][last] == max(scores)
        recipe = make_recipe(method, "nano")
        assert recipe.protocol == "clean" and recipe.learning_rate == record["best"]["learning_rate"]
        assert recipe.clip == record["best"]["clip"] and recipe.rates == record["best"].get("rates", {})
    assert set(tuning_table().method) == set(records)


def test_given_settings_go_before_tuned_ones() -> None:
    assert make_recipe("full", "nano", learning_rate=0.5).learning_rate == 0.5
    assert tuned_recipe("a method of one's own") == {"learning_rate": 3e-3}
    with pytest.raises(ValueError, match="nano"):
        make_recipe("full", "nanno")


def test_shipping_keeps_what_other_folders_brought(tmp_path: Path) -> None:
    for method in ("one", "two"):
        (tmp_path / method / "x").mkdir(parents=True)
        write_json(tmp_path / method / "x" / "tuned.json", {"method": method, "best": {}})
        ship_tuning(tmp_path / method, tmp_path / "all.json")
    assert set(read_json(tmp_path / "all.json")) == {"one", "two"}
