"""Claims of the papers: each names an experiment, and the verdict follows from the records by the declared rule."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

import hyperlab as hl
from hyperlab.experiments.claim_effects import Effect, Records, packed_runs, read_records, run_effect
from hyperlab.experiments.claims_tested import FAILS, HOLDS, UNDECIDED, ClaimResult, ClaimTable, verdict, what_decides
from hyperlab.experiments.measured import Measured
from hyperlab.nano.settings import setting_of
from hyperlab.nano.many import MANY
from hyperlab.papers.claims import Claim, claimed_experiments, known_claims, printed_effects

CLAIMS = {claim.name: claim for claim in known_claims()}
ABOVE = CLAIMS["hyperformer/above-adapters"]


def runs(method: str, scores: list[float], tasks: list[str] | None = None, options: dict | None = None, **more) -> list[Measured]:
    "Made-up runs with seeds 0, 1, …: every task has the same accuracy."
    given = {**setting_of(method).options, **(options or {})}
    of = lambda score: {name: {"accuracy": score} for name in tasks or hl.tasks("nano")}
    recipe = more.pop("recipe", {})
    return [
        Measured(method, given, "nano", seed, of(score), 0.1, more.get("steps", 1200), (), recipe=recipe)
        for seed, score in enumerate(scores)
    ]


def said(claim: Claim, *measured: list[Measured]) -> ClaimResult:
    records = Records([run for group in measured for run in group])
    return ClaimResult(claim, "nano", run_effect(claim, "nano", records))


@pytest.mark.parametrize("claim", known_claims(), ids=lambda claim: claim.name)
def test_a_claim_names_an_experiment_that_exists(claim: Claim) -> None:
    assert claim.experiment in claimed_experiments()
    assert claim.experiment.startswith(f"{claim.paper}/") and claim.name.startswith(f"{claim.paper}/")


@pytest.mark.parametrize("claim", known_claims(), ids=lambda claim: claim.name)
def test_the_papers_own_figures_bear_a_claim_out(claim: Claim) -> None:
    for backbone, value in printed_effects(claim).items():
        assert claim.at_least < value < claim.at_most, (backbone, value)


def test_there_are_claims_of_every_paper_and_sentences_are_our_own() -> None:
    assert 25 <= len(CLAIMS) <= 40
    assert {claim.paper for claim in CLAIMS.values()} == {"hyperformer", "compacter", "hyperdecoders", "hypergrid"}
    assert len({claim.sentence for claim in CLAIMS.values()}) == len(CLAIMS)


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ([85, 85.2, 85.4], [80, 80.3, 80.1], HOLDS),
        ([80, 80.3, 80.1], [85, 85.2, 85.4], FAILS),
        ([80, 84, 88], [81, 80, 82], UNDECIDED),  # two of three seeds say yes
        ([85, 85.2], [80, 80.3], UNDECIDED),  # however clear: two seeds decide nothing
        ([85, 85.2, 85.4], [80], UNDECIDED),
    ],
)
def test_verdicts_of_made_up_records(first: list[float], second: list[float], expected: str) -> None:
    result = said(ABOVE, runs("hyperformer++", first), runs("adapter-dagger", second))
    assert result.verdict == expected
    assert bool(result.needed) == (expected == UNDECIDED)


def test_a_sentence_changes_when_a_record_changes() -> None:
    a, b = runs("hyperformer++", [85, 85.2, 85.4]), runs("adapter-dagger", [80, 80.3, 80.1])
    before = said(ABOVE, a, b)
    worse = [replace(run, scores={task: {"accuracy": found["accuracy"] - 10} for task, found in run.scores.items()}) for run in a]
    after = said(ABOVE, worse, b)
    assert (before.verdict, after.verdict) == (HOLDS, FAILS)
    assert before.sentence != after.sentence and "+5.1" in before.sentence and "-4.9" in after.sentence


def test_only_runs_with_one_budget_are_compared() -> None:
    a, longer = runs("hyperformer++", [85, 85.2, 85.4], steps=1200), runs("adapter-dagger", [90, 90, 90.2], steps=2400)
    assert said(ABOVE, a, longer).effect is None
    same = runs("adapter-dagger", [80, 80.3, 80.1], steps=1200)
    assert said(ABOVE, a, longer, same).verdict == HOLDS
    few = runs("adapter-dagger", [20, 20.3, 20.1], recipe={"max_examples": 100})
    assert said(ABOVE, a, few).effect is None


def test_an_ablation_never_passes_for_the_method_nor_the_other_way_round() -> None:
    claim = CLAIMS["hyperformer/conditional-norm"]
    whole, without = runs("hyperformer", [85, 85.2, 85.4]), runs("hyperformer", [80, 80.3, 80.1], options={"layer_norm": "shared"})
    assert said(claim, whole).effect is None and said(claim, without).effect is None
    assert said(claim, whole, without).verdict == HOLDS


def test_few_rows_takes_the_fewest_rows() -> None:
    claim, groups = CLAIMS["hyperformer/few-rows"], []
    for rows, gap in ((100, 3.0), (500, -3.0), (None, -6.0)):
        recipe = {"max_examples": rows}
        groups += [
            runs("hyperformer++", [70 + gap, 70.2 + gap, 70.1 + gap], recipe=recipe),
            runs("full", [70, 70.1, 70.2], recipe=recipe),
        ]
    found = said(claim, *groups)
    assert found.verdict == HOLDS and "100 rows" in found.effect.set_up


def test_small_tasks_are_those_of_the_paper() -> None:
    claim, small = CLAIMS["hyperformer/small-tasks"], ("nano-cola", "nano-mrpc", "nano-stsb", "nano-rte")
    raised = [
        replace(run, scores={task: {"accuracy": found["accuracy"] + 4 * (task in small)} for task, found in run.scores.items()})
        for run in runs("hyperformer++", [70, 71, 72])
    ]
    found = said(claim, raised, runs("adapter-dagger", [80, 80, 80]))
    assert found.effect.value == pytest.approx(4) and found.verdict == HOLDS  # though it is worse on average


def test_settings_are_chosen_on_validation_and_never_on_test() -> None:
    low = [replace(run, validation=50.0, recipe={"learning_rate": 1e-3}) for run in runs("hyperformer++", [99, 99.1, 99.2])]
    high = [replace(run, validation=60.0, recipe={"learning_rate": 2e-3}) for run in runs("hyperformer++", [70, 70.1, 70.2])]
    assert said(ABOVE, low, high, runs("adapter-dagger", [80, 80.1, 80.2])).verdict == FAILS


def test_a_lucky_single_trial_does_not_take_the_place_of_three_seeds() -> None:
    trial = [replace(run, validation=99.0, recipe={"learning_rate": 1e-3}) for run in runs("hyperformer++", [99])]
    three = [replace(run, validation=60.0, recipe={"learning_rate": 2e-3}) for run in runs("hyperformer++", [70, 70.1, 70.2])]
    assert said(ABOVE, trial, three, runs("adapter-dagger", [80, 80.1, 80.2])).effect.seeds == (3, 3)


def test_a_model_for_each_task_is_joined_over_tasks() -> None:
    claim, names = CLAIMS["hyperformer/above-single-task"], hl.tasks("nano")
    single = [run for name in names for run in runs("full", [80, 80.3, 80.1], [name])]
    assert said(claim, runs("hyperformer++", [85, 85.2, 85.4]), single).verdict == HOLDS
    together = runs("full", [80, 80.3, 80.1])
    assert said(claim, runs("hyperformer++", [85, 85.2, 85.4]), together).effect is None  # one model for all is another claim


def test_packed_files_are_read_and_trials_without_test_rows_are_not_evidence(tmp_path: Path) -> None:
    line = {"method": "full", "options": {}, "backbone": "nano", "seed": 0, "steps": 1200, "average_metrics": 80.0,
            "tasks": {name: {"accuracy": 80.0} for name in hl.tasks("nano")}}  # fmt: skip
    fit = {"method": "full", "task": "nano-cb", "shots": 4, "seed": 0, "steps": 8}
    trial = line | {"seed": 7, "recipe": {"test": False}}
    (tmp_path / "some.jsonl").write_text("\n".join(map(json.dumps, (line | {"seed": 5}, fit, trial))) + "\n")
    assert [run.seed for run in packed_runs([tmp_path])] == [5, 7]
    seeds = {run.seed for run in read_records(tmp_path).measured if run.method == "full" and run.backbone == "nano"}
    assert 5 in seeds and 7 not in seeds


@pytest.mark.parametrize("bounds", [(0.0, float("inf")), (-1.0, 1.0), (float("-inf"), 1.0)])
def test_the_rule_is_exhaustive_and_a_narrower_interval_never_turns_a_verdict(bounds: tuple[float, float]) -> None:
    claim = replace(ABOVE, at_least=bounds[0], at_most=bounds[1])
    for value in (-3.0, -0.9, 0.0, 0.4, 0.95, 3.0):
        found = [verdict(claim, Effect(value, value - r, value + r, (3, 3), "seeds")) for r in (8.0, 1.0, 0.3, 0.01)]
        decided = [kind for kind in found if kind != UNDECIDED]
        assert len(set(decided)) <= 1 and found[len(found) - len(decided) :] == decided, (value, found)


def test_what_would_decide_names_the_command_the_seeds_or_the_number_of_them() -> None:
    assert "python -m hyperlab.reproduce hyperformer table-1 --scale nano" in what_decides(ABOVE, "nano", None)
    assert what_decides(ABOVE, "nano", Effect(1, 1, 1, (3, 1), "seeds")).startswith("2 more seeds of Adapters†: python -m")
    many = what_decides(ABOVE, "nano", Effect(2.0, -2.0, 6.0, (3, 3), "seeds"))
    assert "about 12 seeds instead of 3" in many and many.endswith("--scale nano --seeds 12")


def many_lines(contender: str, score: float, **more: object) -> list[str]:
    cell = {"contender": contender, "examples": 50, "steps": 600, "recipe": {"learning_rate": 1e-3}, **more}
    return [json.dumps(cell | {"seed": seed, "scores": {MANY[0]: score + seed, MANY[1]: score}}) for seed in range(3)]


def test_many_tasks_are_a_world_of_their_own_and_the_small_adapter_is_not_the_adapter(tmp_path: Path) -> None:
    small = {"method": "adapter-dagger", "options": {"reduction_factor": 64}}
    lines = many_lines("hyperformer++", 70.0) + many_lines("adapter-dagger", 60.0)
    (tmp_path / "many.jsonl").write_text("\n".join(lines + many_lines("adapter-dagger-small", 20.0, **small)))
    frame = hl.claims("hyperformer", tmp_path).frame.set_index(["claim", "world"])
    found = frame.loc[("hyperformer/above-adapters", "nano-many")]
    assert found["verdict"] == HOLDS and found["effect"] == pytest.approx(10.0) and found["seeds"] == 3


def test_the_page_of_shipped_records_says_everything_in_words() -> None:
    table = hl.claims("compacter")
    frame, html = table.frame, table._repr_html_()
    assert set(frame["verdict"]) <= {HOLDS, FAILS, UNDECIDED} and set(frame["paper"]) == {"compacter"}
    assert all(word in html for word in set(frame["verdict"])) and "<script" not in html
    counted = frame[frame["world"] == "counting"]
    assert list(counted["verdict"]) == [HOLDS] and counted["effect"].iloc[0] == pytest.approx(0.047, abs=5e-4)
    assert int(table.counts.to_numpy().sum()) == len(frame) == len(table.results)


def test_an_unknown_paper_is_named_with_those_that_are_known() -> None:
    with pytest.raises(ValueError, match=r"hyperformer.*compacter"):
        hl.claims("hyperfromer")


def test_a_page_escapes_what_it_shows() -> None:
    claim = replace(ABOVE, sentence="a < b & c")
    assert "a &lt; b &amp; c" in ClaimTable([ClaimResult(claim, "nano", None)])._repr_html_()
