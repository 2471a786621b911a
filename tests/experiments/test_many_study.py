"""The study of many tasks: mixtures for new combinations, equal parameters, and cells that are run once."""

from pathlib import Path

import numpy as np
import pytest

import hyperlab as hl
from hyperlab.experiments import many_study as chapter
from hyperlab.experiments.many_study import (
    MANY_CONTENDERS,
    MANY_SIZES,
    WAYS,
    ManyCell,
    ahead_table,
    build_cell,
    combination,
    combination_table,
    contender_options,
    fitted_reduction,
    many_picture,
    many_records,
    many_study,
    many_table,
    pack_many,
    probe_factors,
    probe_table,
    run_cell,
)
from hyperlab.nano.many import FACTORS, MANY, MANY_HELDOUT, factors_of

TINY = {"sizes": [(4, 8)], "seeds": [0], "steps": 2, "eval_examples": 4, "held_out": 1, "progress": False}


def test_the_nearest_task_shares_most_and_the_mean_knows_nothing() -> None:
    for name in MANY_HELDOUT:
        shares = lambda other, name=name: sum(factors_of(other)[f] == factors_of(name)[f] for f in FACTORS)
        (nearest,) = combination(name, MANY, "nearest")
        assert shares(nearest) == max(map(shares, MANY))
        assert set(combination(name, MANY, "mean").values()) == {1 / len(MANY)}
        weighted = lambda mixture, shares=shares: sum(w * shares(other) for other, w in mixture.items())
        order = [weighted(combination(name, MANY, way)) for way in ("mean", "sharing", "additive")]
        assert order[0] < order[1] < order[2]
    with pytest.raises(ValueError, match="way"):
        combination(MANY_HELDOUT[0], MANY, "farthest")


def test_embeddings_that_are_sums_of_factors_give_a_combination_its_own() -> None:
    rng = np.random.default_rng(0)
    vectors = {(f, value): rng.standard_normal(5) for f, values in FACTORS.items() for value in values}
    embedding = lambda name: sum(vectors[f, value] for f, value in factors_of(name).items())
    for name in MANY_HELDOUT:
        mixed = sum(w * embedding(other) for other, w in combination(name, MANY, "additive").items())
        np.testing.assert_allclose(mixed, embedding(name), atol=1e-9)


@pytest.mark.parametrize("tasks", [8, 64])
def test_the_small_adapter_is_as_close_to_equal_parameters_as_a_bottleneck_can_be(tasks: int) -> None:
    count = lambda method, options: chapter.count_added(method, options, tasks)
    wanted = count("hyperformer++", contender_options("hyperformer++", tasks))
    chosen = contender_options("adapter-dagger-small", tasks)
    assert chosen["reduction_factor"] == fitted_reduction("adapter-dagger", "hyperformer++", tasks)
    away = abs(count("adapter-dagger", chosen) - wanted)
    others = [2, 4, 8, 16, 32, 64]
    assert all(away <= abs(count("adapter-dagger", chosen | {"reduction_factor": f}) - wanted) for f in others)


def test_a_probe_reads_factors_that_are_there_and_not_those_that_are_not() -> None:
    model = build_cell(ManyCell("hyperformer-stable"))
    at_start = probe_factors(model)
    assert all(found["accuracy"] < 60 for found in at_start.values())
    table = model.rule.task_embedding.weight
    table.data.zero_()
    for row, name in enumerate(MANY):  # the embedding is the decision
        table.data[row, FACTORS["decision"].index(factors_of(name)["decision"])] = 1.0
    assert probe_factors(model)["decision"]["accuracy"] > 95
    assert probe_factors(build_cell(ManyCell("adapter-shared", tasks=4))) == {}


def test_a_study_runs_once_and_its_pack_has_every_number(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = ["hyperformer-stable", "adapter-shared"]
    found = many_study(tmp_path / "cells", names, **TINY)
    monkeypatch.setattr(chapter, "train", lambda *a, **k: pytest.fail("trained again"))
    assert many_study(tmp_path / "cells", names, **TINY) == [run_cell(ManyCell(**one_of(f)), tmp_path / "cells") for f in found]
    assert [path.suffix for path in sorted((tmp_path / "cells").iterdir())] == [".json", ".json"]  # runs are cleared away
    packed = many_records(pack_many(tmp_path / "cells", tmp_path / "many.jsonl"))
    assert {one["contender"]: one["score"] for one in packed} == {one["contender"]: one["score"] for one in found}
    stable, shared = (next(one for one in packed if one["contender"] == name) for name in names)
    assert set(stable["combinations"]) == set(WAYS) and set(shared["combinations"]) == {"mean"}
    assert stable["score"] == pytest.approx(np.mean(list(stable["scores"].values())))
    assert set(probe_table(packed).factor) == set(FACTORS) and "adapter-shared" not in set(probe_table(packed).contender)
    assert list(many_table(packed).contender) == names and "4 × 8" in many_table(packed)
    assert list(combination_table(packed)["additive"])[1] == ""
    assert [trace.name for trace in many_picture(packed).data] == names


def one_of(record: dict) -> dict:
    return {k: record[k] for k in ("contender", "tasks", "examples", "seed", "steps", "eval_examples", "held_out")}


def test_who_is_ahead_is_said_of_the_same_tasks_and_seeds() -> None:
    rng = np.random.default_rng(0)
    base = {"tasks": 64, "examples": 50, "steps": 10}
    noise = lambda: {name: float(v) for name, v in zip(MANY, rng.normal(70, 1, len(MANY)), strict=True)}
    cells = [base | {"contender": "adapter-dagger", "seed": seed, "scores": noise()} for seed in (0, 1, 2, 3)]
    lifted = [base | {"contender": "hyperformer-stable", "seed": c["seed"], "scores": {n: v + 5 for n, v in c["scores"].items()}}
              for c in cells[:3]]  # fmt: skip
    alone = base | {"contender": "adapter-shared", "seed": 9, "scores": noise()}  # no seed in common with the others
    (row,) = ahead_table([*reversed(cells), *lifted, alone]).to_dict("records")
    assert (row["contender"], row["ahead of"], row["by"], row["seeds"]) == ("hyperformer-stable", "adapter-dagger", "+5.0*", 3)
    assert row["from"] == row["to"] == "+5.0", "pairs of the same seed differ by five everywhere"
    assert ahead_table(cells).empty


def test_cells_say_what_is_wrong() -> None:
    with pytest.raises(ValueError, match="contender"):
        ManyCell("hyperformer")
    with pytest.raises(ValueError, match="tasks: expected 2 to 64, received 65"):
        ManyCell("adapter-shared", tasks=65)
    with pytest.raises(ValueError, match="held_out"):
        ManyCell("adapter-shared", held_out=99)
    assert set(MANY_CONTENDERS) >= {"hyperformer++", "adapter-shared"} and (64, 50) in MANY_SIZES
    assert hl.experiments.many_records is many_records
