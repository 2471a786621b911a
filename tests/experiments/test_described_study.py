"""The study of described tasks: who sees what, what the controls are, cells that run once, and what is said of them."""

from pathlib import Path

import pytest
import torch

import hyperlab as hl

from hyperlab.core.generators import TaskFeatures
from hyperlab.data.benchmarks import task_names
from hyperlab.experiments import described_study as chapter
from hyperlab.experiments.described_study import (
    CELLS,
    DESCRIBED_WAYS,
    DescribedCell,
    against_description,
    build_described,
    described_as,
    described_cells,
    described_picture,
    described_records,
    described_sentences,
    described_study,
    described_table,
    nearest_known,
    pack_described,
    paired_scores,
    random_features,
    run_described_cell,
    same_words,
    scores_of_ways,
    shuffled_tasks,
)

WORLD = ["nano-rte", "nano-qnli", "nano-sst2", "nano-imdb"]
TINY = {"folds": 2, "seeds": [0], "steps": 2, "examples": 8, "eval_examples": 4, "progress": False}


FOUR = ",".join(WORLD)


@pytest.mark.parametrize(("world", "folds"), [("nano-many", 8), ("nano-many", 4), ("nano,nano-fewshot", None)])
def test_every_task_is_left_out_once_and_never_trained_there(world: str, folds: int | None) -> None:
    cells = [one for one in described_cells(world=world, seeds=[0], folds=folds) if one.kind == "fold"]
    out = [name for one in cells for name in one.left_out]
    assert sorted(out) == sorted(task_names(world)) and len(out) == len(set(out))
    assert all(set(one.known) == set(task_names(world)) - set(one.left_out) for one in cells)
    shared = [one for one in described_cells(world=world, seeds=[0], folds=folds) if one.kind == "shared"]
    assert [one.known for one in shared] == [one.known for one in cells]
    assert DescribedCell("oracle").left_out == [] and len({one.name for one in [*cells, *shared]}) == len([*cells, *shared])


def features() -> TaskFeatures:
    made = torch.nn.functional.normalize(torch.randn(4, 2, 6, generator=torch.Generator().manual_seed(0)), dim=-1)
    return TaskFeatures(dict(zip(WORLD, made, strict=True)), "drawn")


def test_controls_are_what_they_are_called() -> None:
    found = features()
    assert all(one != other for seed in range(9) for one, other in shuffled_tasks(WORLD, seed).items())
    assert sorted(shuffled_tasks(WORLD, 1).values()) == sorted(WORLD)
    assert same_words("nano-rte", WORLD, 0) == "nano-qnli" and same_words("nano-rte", ["nano-rte", "nano-sst2"], 0) is None
    drawn = random_features(found.values["nano-rte"], "nano-rte", 0)
    assert float(drawn.norm()) == pytest.approx(float(found.values["nano-rte"].mean(0).norm()), rel=1e-5)
    assert not torch.equal(drawn, random_features(found.values["nano-rte"], "nano-rte", 1))
    near = TaskFeatures(found.values | {"new": found.values["nano-imdb"] + 0.01}, "drawn")
    assert nearest_known(near, "new", WORLD) == "nano-imdb"
    with pytest.raises(ValueError, match="at least two"):
        shuffled_tasks(["nano-rte"], 0)


def test_a_way_is_the_task_that_it_stands_for() -> None:
    cell = DescribedCell(world=FOUR, folds=4, fold=0)
    model, found = build_described(cell, features()), features()
    flat = lambda like: torch.cat([w.flatten() for site in model.weights(like).values() for w in site.values()])
    with torch.no_grad():
        for parameter in model.rule.parameters():
            if parameter.requires_grad:
                parameter.add_(0.05 * torch.randn_like(parameter))
    model.eval()
    as_way = {way: flat(described_as(model, found, "nano-rte", way, 0)) for way in DESCRIBED_WAYS}
    torch.testing.assert_close(as_way["same words"], flat("nano-qnli"))  # a known task's description gives the known task
    torch.testing.assert_close(as_way["nearest"], flat(nearest_known(found, "nano-rte", cell.known)))
    torch.testing.assert_close(as_way["shuffled"], flat(shuffled_tasks(WORLD, 0)["nano-rte"]))
    torch.testing.assert_close(as_way["mean"], flat(dict.fromkeys(cell.known, 1 / 3)))
    assert all(not torch.allclose(as_way["description"], flat(name)) for name in cell.known)


def test_a_study_runs_once_and_its_pack_has_every_number(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trained, train = [], chapter.train
    monkeypatch.setattr(chapter, "train", lambda model, *a, **k: trained.append(list(model.tasks)) or train(model, *a, **k))
    found = described_study(world=FOUR, folder=tmp_path, **TINY)
    assert [set(one) & set(cell["scores"].get("description", {})) for one, cell in zip(trained, found, strict=True)] == [set()] * 5
    monkeypatch.setattr(chapter, "train", lambda *a, **k: pytest.fail("trained again"))
    own = {k: v for k, v in TINY.items() if k != "seeds"}
    table = hl.study("hyperformer-stable", FOUR, seeds=[0], folder=tmp_path, kind="described", **own)
    assert [path.suffix for path in sorted(tmp_path.iterdir())] == [".json"] * 5  # runs are cleared away
    packed = described_records(pack_described(tmp_path, tmp_path / "described.jsonl"))
    scores = lambda records: {(one["kind"], one["fold"]): one["scores"] for one in records}
    assert scores(packed) == scores(found)
    assert list(described_table(packed)["answered by"]) == list(table["answered by"]) == list(chapter.ROWS.values())


def made_up(description: float, nearest: float, seeds: int = 2) -> list[dict]:
    names, noise = [f"t{i}" for i in range(24)], torch.Generator().manual_seed(0)
    score = lambda level: {name: level + 2 * float(torch.randn((), generator=noise)) for name in names}
    both = lambda: {"description": score(description), "nearest": score(nearest)}
    what = {"kind": "fold", "world": "made-up", "method": "m", "fold": 0, "folds": 2, "steps": 7}
    return [{**what, "seed": seed, "scores": both(), "readable": both()} for seed in range(seeds)]


SAID = [(70, 60, "ahead of"), (60, 70, "behind"), (65, 65, "not to be told apart")]


@pytest.mark.parametrize(("description", "nearest", "said"), SAID)
def test_the_sentence_says_what_the_records_support(description: float, nearest: float, said: str) -> None:
    records = made_up(description, nearest)
    assert said in described_sentences(records) and "24 tasks" in described_sentences(records)
    assert "Not every fold has been run" in described_sentences(records)  # one of two
    one = against_description(records)["nearest"]
    assert abs(one.difference - (description - nearest)) < 2 and one.low < one.difference < one.high
    assert len(described_picture(records).data) == 1
    assert described_sentences([]) == "No fold has been run." and described_table([]).empty


def test_a_row_is_of_the_tasks_that_were_described_and_finished_cells_are_read(tmp_path: Path) -> None:
    records = [{"seed": 0, "scores": {"description": {"x": 60.0}}}, {"seed": 0, "scores": {"oracle": {"x": 70.0, "y": 10.0}}},
               {"seed": 1, "scores": {"shared": {"x": 5.0}}}]  # fmt: skip
    assert scores_of_ways(records) == {"description": {0: {"x": 60.0}}, "oracle": {0: {"x": 70.0}}}
    for kind in CELLS:
        one = DescribedCell(kind)
        (tmp_path / f"{one.name}.json").write_text('{"kind": "read"}')
        assert run_described_cell(one, tmp_path) == {"kind": "read"}


def test_pairs_are_the_same_tasks_of_the_same_seeds() -> None:
    one, other = {0: {"x": 1.0, "y": 2.0}, 1: {"x": 3.0, "y": 4.0}}, {0: {"y": 5.0, "x": 6.0, "z": 0.0}, 1: {"x": 7.0}, 2: {}}
    a, b = paired_scores(one, other)
    assert a.tolist() == [[1.0, 2.0]] and b.tolist() == [[6.0, 5.0]]
    with pytest.raises(ValueError, match="same tasks"):
        paired_scores({0: {"x": 1.0}}, {1: {"x": 1.0}})


def test_a_wrong_study_is_refused() -> None:
    with pytest.raises(ValueError, match="kind of cell"):
        DescribedCell("folded")
    with pytest.raises(ValueError, match="2 to 64 folds"):
        DescribedCell(folds=65)
    with pytest.raises(ValueError, match="kind of study"):
        hl.study("nano", ["nano-cb"], kind="few")
    with pytest.raises(ValueError, match="belong to few-shot studies"):
        hl.study("hyperformer-stable", "nano-many", shots=[4], kind="described")
