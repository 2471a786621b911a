"""HyperGrid as its text has it: whole development sets, T5's words, gates as printed, weights chosen by the score on GLUE."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch
from datasets import Dataset, DatasetDict

import hyperlab as hl
from hyperlab.core.hooks import trained_names
from hyperlab.data import benchmarks
from hyperlab.data.splits import MissingSplit
from hyperlab.experiments.runs import question_of
from hyperlab.nano.toy import toy_backbone, toy_tokenizer
from hyperlab.training.evaluation import Evaluation
from hyperlab.training.recipes import Recipe, make_recipe

GRID = {"rows": 4, "columns": 4, "paper_start": True}


def made_up(size: int) -> Dataset:
    words = ["happy" if i % 2 else "sad" for i in range(size)]
    return Dataset.from_list(
        [{"sentence1": f"the dog is {w} {i}", "sentence2": "the dog runs", "label": i % 2} for i, w in enumerate(words)]
    )


@pytest.fixture
def rte(monkeypatch: pytest.MonkeyPatch) -> str:
    files = DatasetDict({"train": made_up(32), "validation": made_up(11), "test": made_up(4)})
    monkeypatch.setitem(benchmarks._TASKS, "rte", replace(hl.task("rte"), data=files))
    return "rte"


def grid_model(method: str = "hypergrid", **options: object) -> hl.AdaptedModel:
    torch.manual_seed(0)
    options = options or (GRID if method == "hypergrid" else {})
    return hl.adapt(toy_backbone(), method, ["rte"], tokenizer=toy_tokenizer(), **options)


@pytest.mark.parametrize("protocol", ["paper", "released"])
@pytest.mark.parametrize("method", ["hypergrid", "full"])
def test_the_development_set_is_whole_and_labels_are_words(rte: str, method: str, protocol: str, tmp_path: Path) -> None:
    settings = {"steps": 4, "batch_size": 8, "eval_every": 2, "paper": "hypergrid"}
    run = hl.train(grid_model(method), protocol=protocol, run_dir=tmp_path, progress=False, report_to="none", **settings)
    assert run.config["data"]["train"]["rte"]["rows"] == 32 and run.config["data"]["validation"]["rte"]["rows"] == 11
    assert run.result["split"] == {"rte": "validation"} and len(run.predictions) == 11
    assert set(run.predictions["target"]) == {"entailment", "not_entailment"}
    assert run.result["selection"]["rule"] == "average"
    assert question_of("rte", [run], [run]).truths == [i % 2 for i in range(11)]


def test_weights_are_chosen_by_the_score_on_glue() -> None:
    found = Evaluation({"cola": {"matthews": 40.0}, "mrpc": {"accuracy": 80.0, "f1": 90.0}, "cb": {"accuracy": 0.0}}, {}, {})
    assert (found.average("glue"), found.average("tasks")) == (62.5, pytest.approx(125 / 3))
    assert Evaluation({"cb": {"accuracy": 7.0}}, {}, {}).average("glue") == 7.0
    recipe = make_recipe("hypergrid", "paper")
    assert (recipe.selection, recipe.average, recipe.steps, recipe.clip) == ("average", "glue", 100_000, None)


def test_larger_models_train_for_longer() -> None:
    for backbone, steps in (("t5-base", 100_000), ("t5-large", 200_000), ("t5-3b", 200_000), ("t5-small", 100_000)):
        plan = hl.plan_run(method="hypergrid", backbone=backbone, tasks="rte,cb", protocol="paper")
        assert plan.recipe.steps == steps and plan.method.to_dict()["paper_start"] is True
        assert not any(line.startswith(("steps", "paper_start", "selection")) for line in plan.departures())
    assert hl.plan_run(method="hypergrid", backbone="t5-base", tasks="rte").method.to_dict()["paper_start"] is False


@pytest.mark.parametrize("protocol", ["clean", "paper", "released"])
def test_departures_say_what_is_true(protocol: str) -> None:
    options = {"paper_start": True}
    found = hl.departures(make_recipe("hypergrid", protocol), "hypergrid", options=options, tasks=["rte", "mnli", "cb"])
    said = " ".join(found)
    assert "clipped at norm" not in said or protocol == "clean"
    assert "not class numbers" not in said and "0.2" not in said and "paper_start" not in said
    assert "sampler" not in said and "momentum" not in said  # of code that was never released
    assert any("rte" in line and "once" in line for line in found)
    assert ("no code was released" in said) == (protocol == "released")
    assert any(
        "paper_start: False" in x for x in hl.departures(Recipe(protocol=protocol), "hypergrid", options={"paper_start": False})
    )
    clipped = hl.departures(make_recipe("hypergrid", "paper", clip=2.0), "hypergrid", options=options)
    assert any("clipped at norm 2" in line for line in clipped) and "clip: 2.0, hypergrid's paper has None" in clipped


def test_the_baselines_leave_the_embeddings_alone(tmp_path: Path) -> None:
    "MTL and PTFT of HyperGrid's tables."
    model = grid_model("full", train="all-but-embeddings")
    learned = {n for n, p in model.backbone.named_parameters() if p.requires_grad}
    assert learned == set(trained_names(model.backbone, "all-but-embeddings")) and "shared.weight" not in learned
    assert len(learned) > 20
    model.save(tmp_path / "model")
    torch.manual_seed(0)
    again = hl.load(tmp_path / "model", backbone=toy_backbone(), tokenizer=toy_tokenizer())
    assert again.method == model.method and again.method.to_dict() == {"train": "all-but-embeddings"}
    assert grid_model("full").method.to_dict() == {}  # as checkpoints and runs of plain fine-tuning say
    for row in (*hl.paper_table("hypergrid", 1).rows, *hl.paper_table("hypergrid", 3).rows):
        assert row.options == {"train": "all-but-embeddings"} if row.method == "full" else row.options.get("paper_start", True)
    assert "train: None, hypergrid's paper has 'all-but-embeddings'" in hl.departures(
        Recipe(protocol="paper", paper="hypergrid"), "full"
    )


def test_mnli_holds_rows_out_where_the_texts_say_so() -> None:
    mnli = hl.task("mnli")
    held, official = mnli.rule("paper"), hl.data.as_in_paper(mnli, "hyperdecoders").rule("paper")
    assert held.train.piece == "kept" and held.validation.piece == "held_out" and held.test.official == ("validation_matched",)
    assert official.train.piece == "all" and official.validation.official == (
        "validation_mismatched",
    )  # 9,832 rows in its Table 10
    released = mnli.rule("released")
    assert released.validation.official == ("validation_mismatched",) and released.drop_last and not released.leaks


def test_rows_by_name_are_those_of_the_paper(rte: str) -> None:
    "A model is asked about the rows that a run of its paper chooses and reports on, in the words that it learned."
    said = lambda method, **how: set(hl.evaluate(grid_model(method), "rte", **how).predictions["rte"])
    whole = hl.evaluate(grid_model("full"), "rte", split="validation", protocol="paper", paper="hypergrid")
    assert len(whole.predictions["rte"]) == 11, "the development set, which other papers halve"
    assert hl.evaluate(grid_model(), "rte", split="validation", protocol="paper").predictions["rte"], "of the method's own paper"
    with pytest.raises(MissingSplit, match="rte.*the paper chooses and reports on the whole development set"):
        said("hypergrid", protocol="paper")
    with pytest.raises(ValueError, match="hypergird.*hypergrid"):
        said("full", protocol="paper", paper="hypergird")
    with pytest.raises(ValueError, match="expected protocol='paper' or 'released' beside paper='hypergrid'"):
        said("full", paper="hypergrid")
