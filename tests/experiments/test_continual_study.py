"""The study of tasks that keep coming: orders by seed, sequences that run once, and numbers and pictures of them."""

from pathlib import Path

import numpy as np
import pytest

import hyperlab as hl

from hyperlab.experiments import continual_study as chapter
from hyperlab.experiments.continual_study import (
    CONTINUAL,
    ContinualCell,
    continual_numbers,
    continual_picture,
    continual_records,
    continual_sentence,
    continual_study,
    continual_table,
    kept_all,
    pack_continual,
    run_continual_cell,
    score_matrix,
)
from hyperlab.nano.many import MANY

TINY = {"begun": 2, "coming": 2, "start_steps": 2, "steps": 2, "eval_examples": 4, "shown": 2, "progress": False}


def test_a_seed_draws_an_order_and_all_contenders_have_it() -> None:
    orders = {seed: [ContinualCell(name, seed=seed).order for name in CONTINUAL] for seed in range(3)}
    assert all(one == own[0] for own in orders.values() for one in own)
    assert len({tuple(own[0]) for own in orders.values()}) == 3
    one = ContinualCell("one adapter")
    assert set(one.order) <= set(MANY) and len(set(one.order)) == one.begun + one.coming
    assert one.tested == [*one.order[: one.shown], *one.order[one.begun :]]
    with pytest.raises(ValueError, match="contender"):
        ContinualCell("two adapters")
    with pytest.raises(ValueError, match="1 to 24 shown"):
        ContinualCell("one adapter", shown=25)


def test_a_sequence_runs_once_and_an_embedding_forgets_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = ["new embedding alone", "hypernetwork, regularised", "an adapter each"]
    found = continual_study(names, folder=tmp_path, seeds=[0], **TINY)
    monkeypatch.setattr(chapter, "train", lambda *a, **k: pytest.fail("trained again"))
    monkeypatch.setattr(chapter, "learn_task", lambda *a, **k: pytest.fail("learned again"))
    table = hl.study(names, "nano-many", seeds=[0], folder=tmp_path, kind="continual", **TINY)
    packed = continual_records(pack_continual(tmp_path, tmp_path / "continual.jsonl"))
    assert sorted(one["contender"] for one in packed) == sorted(names) == sorted(table["contender"])
    for one in found:
        matrix = score_matrix(one)
        missing = [[False, False, True, True], [False] * 3 + [True], [False] * 4]
        assert matrix.shape == (3, 4) and np.isnan(matrix).tolist() == missing
        assert len(one["came"]) == 2 and all(came["like"] for came in one["came"])
    assert all(kept_all(one) for one in found if one["keep"] == "task")
    again = {k: v for k, v in TINY.items() if k != "progress"}
    assert run_continual_cell(ContinualCell(names[0], **again), tmp_path)["matrix"] == found[0]["matrix"]


def made_up(contender: str, drop: float) -> dict:
    matrix = [[80.0, 90.0, None], [80.0 - drop, 90.0 - drop, 70.0]]
    return {"contender": contender, "seed": 0, "shown": 2, "came": [{"before": 55.0}], "majority": [50.0], "matrix": matrix}


def test_numbers_sentence_and_picture_by_hand() -> None:
    still, lost = made_up("new embedding alone", 0.0), made_up("one adapter", 20.0)
    numbers = continual_numbers(lost)
    assert numbers["forgotten of the start"] == 20 and numbers["forward transfer"] == 5 and numbers["learned"] == 70
    assert numbers["at the end"] == 200 / 3 and kept_all(still) and not kept_all(lost)
    said = continual_sentence([still, lost])
    assert "No old task changed its score at any stage with: new embedding alone." in said and "one adapter (20.0 points)" in said
    assert list(continual_table([lost, still])["forgotten of the start"]) == ["none", "20.0"]
    heat = continual_picture([still, lost]).data
    assert len(heat) == 2 and heat[1].z[1][0] == 65 and continual_sentence([]) == "No sequence has been run."
