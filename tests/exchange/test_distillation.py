"""A library that a hypernetwork wrote is written again by one that is fitted to it; what can't be learned is reported so."""

from pathlib import Path

import pytest
import torch
from conftest import awaken, margin, tiny_family

import hyperlab as hl
from hyperlab.nano.toy import toy_backbone, toy_tasks, toy_tokenizer

NAMES = [f"task{i}" for i in range(5)]
SMALL = {"rank": 3, "task_width": 8, "embedding_width": 8, "projector_width": 16}


def library() -> hl.AdaptedModel:
    "A hypernetwork whose tasks differ."
    model = awaken(hl.adapt(tiny_family("llama"), "hyper-lora", NAMES, **SMALL))
    with torch.no_grad():
        for name, parameter in model.rule.named_parameters():
            parameter.mul_(4 if "task_embedding" in name or "projector" in name else 1)
    return model.eval()


@pytest.mark.margins
def test_what_a_hypernetwork_wrote_is_reproduced_from_its_folders(tmp_path: Path) -> None:
    library().export(None, tmp_path, progress=False)
    made = hl.distil([tmp_path / name for name in NAMES], backbone=tiny_family("llama"), steps=300, progress=False,
                     **(SMALL | {"embedding_width": 16}))
    mean, left = made.table["missing from the mean update"], made.table["missing after reconstruction"]
    assert list(made.table.index) == NAMES == made.model.tasks and made.model.method.name == "hyper-lora"
    assert mean.mean() > 0.1  # the tasks differ, so there is something to learn
    margin("missing, as a share of what the mean update misses", left.mean() / mean.mean(), 0.2)
    assert not any("score" in column for column in made.table)  # nobody gave rows


def test_no_steps_reproduce_nothing_and_the_report_says_so() -> None:
    made = hl.distil(library(), steps=0, progress=False, **SMALL)
    torch.testing.assert_close(torch.tensor(made.table["missing after reconstruction"].to_numpy()), torch.ones(5).double())


def test_the_same_seed_gives_the_same_hypernetwork_and_leaves_others_alone() -> None:
    given = library()
    state = torch.get_rng_state()
    first, second = (hl.distil(given, steps=4, seed=3, progress=False, **SMALL).model for _ in range(2))
    assert torch.equal(torch.get_rng_state(), state)
    other = hl.distil(given, steps=4, seed=4, progress=False, **SMALL).model
    update = lambda model: model.weights("task1")["decoder.0.attention.q"]["down"]
    assert torch.equal(update(first), update(second)) and not torch.equal(update(first), update(other))


def test_tuning_on_the_tasks_goes_on_from_the_reconstruction_and_every_step_is_scored(tmp_path: Path) -> None:
    given = awaken(hl.adapt(toy_backbone(), "lora", toy_tasks(), tokenizer=toy_tokenizer(), rank=2)).eval()
    few = {"batch_size": 4, "max_examples": 16, "eval_examples": 8, "learning_rate": 1e-2, "report_to": "none", "test": False}
    small = SMALL | {"rank": 2, "steps": 4, "rows": toy_tasks(), "progress": False}
    made = hl.distil(given, tune=3, training=few | {"eval_every": 3, "run_dir": tmp_path}, **small)
    plain = hl.distil(given, **small)
    steps = ["of the library", "of the mean adapter", "after reconstruction", "after tuning"]
    assert [name for name in made.table if "score" in name] == [f"score {step}" for step in steps]
    assert made.table["missing after reconstruction"].tolist() == plain.table["missing after reconstruction"].tolist()
    assert made.table["missing after tuning"].tolist() != made.table["missing after reconstruction"].tolist()
    assert hl.Run(tmp_path).finished and made.table.notna().all(None) and made.losses == plain.losses


def test_bad_libraries_are_refused() -> None:
    with pytest.raises(ValueError, match="expected a library of several tasks"):
        hl.distil(hl.adapt(tiny_family("llama"), "lora", "rte"))
    with pytest.raises(ValueError, match="no low-rank update"):
        hl.distil(hl.adapt(tiny_family("llama"), "adapter-dagger", ["rte", "cola"], reduction_factor=8, train_norms=False))
