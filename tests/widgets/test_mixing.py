"""The mixer and the inspector without a browser: long work on demand, saved mixtures, what the panels share, switches and swaps."""

import asyncio
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from conftest import TASKS, awaken, tiny_backbone
from toy_runs import toy_model

import hyperlab as hl
from hyperlab.analysis.interpolation import answer
from hyperlab.nano.toy import toy_backbone, toy_tokenizer
from hyperlab.widgets.dashboard import Dashboard


def toy_board(**options: Any) -> tuple[Dashboard, Any, Any, Any]:
    board = hl.dashboard(toy_model().eval(), examples=8, **options)
    chart, mixer, inspector = board.panels[1:4]
    return board, chart, mixer, inspector


async def until(what: Callable[[], bool]) -> None:
    while not what():
        await asyncio.sleep(0.005)


def test_the_way_is_scored_on_demand_and_answers_come_in_between() -> None:
    async def visit() -> None:
        mixer = hl.TaskMixer(toy_model().eval(), examples=60)
        await asyncio.sleep(0.1)
        assert not mixer.path and not mixer.working  # nobody asked
        mixer.asked = {"number": 1, "pair": ["toy-mood", "toy-pet"], "path": True}
        assert mixer.answered == 1 and mixer.working
        await until(lambda: bool(mixer.path.get("points")))
        mixer.asked = {"number": 2, "mixture": {"toy-mood": 0.3, "toy-pet": 0.7}, "presets": True}
        assert mixer.answered == 2 and mixer.answer["nearest"] == "toy-pet" and mixer.working["what"] == "scoring the way"
        mixer.asked = {"number": 3, "stop": True}
        assert mixer.path["done"] and not mixer.path["whole"] and len(mixer.path["points"]) < 36
        await until(lambda: not mixer.working and len(mixer.presets) == 8)  # the examples that were asked for meanwhile
        mixer.asked = {"number": 4, "path": True}
        await until(lambda: not mixer.working)
        assert mixer.path["whole"] and len(mixer.path["points"]) == 36 and not mixer.notice

    asyncio.run(asyncio.wait_for(visit(), 120))


def test_a_report_waits_for_what_is_being_computed() -> None:
    async def visit() -> None:
        board, _, mixer, _ = toy_board()
        files: list[bytes] = []
        board.header.send = lambda content, buffers=(): files.extend(buffers)
        mixer.asked = {"number": 1, "path": True}
        board.header.asked = {"number": 1, "report": True}
        assert mixer.working and not files
        await until(lambda: bool(files))
        assert mixer.path["whole"] and not mixer.working
        states = [json.loads(found) for found in re.findall(r"frozen\((\{.*?\})\), el:", files[0].decode())]
        assert any(len(state.get("path", {}).get("points", [])) == 36 for state in states)

    asyncio.run(asyncio.wait_for(visit(), 120))
    board, _, mixer, _ = toy_board()
    assert "frozen(" in board.report()  # and without an event loop it comes at once


def test_a_saved_mixture_is_a_task_everywhere(tmp_path: Path) -> None:
    board, chart, mixer, inspector = toy_board(folder=tmp_path)
    mixer.asked = {"number": 1, "mixture": {"toy-mood": 0.25, "toy-pet": 0.75}, "save": "blend"}
    for panel in (mixer, inspector):
        made = {task["name"]: task for task in panel.tasks}["blend"]
        assert made["added"] and made["parts"] == {"toy-mood": 0.25, "toy-pet": 0.75}
    assert chart.points["names"][-1] == "blend" and chart.points["marks"] == ["", "", "mixture"]
    assert inspector.norms["tasks"][-1] == "blend"
    inspector.asked = {"number": 1, "task": "blend", "against": "blend", "text": "a happy cat"}
    assert mixer.mixture == {"blend": 1.0} and not inspector.notice and "for blend, minus blend" in inspector.view["title"]
    assert [word["word"] for word in mixer.answer["probabilities"]] == ["glad", "sad", "cat", "dog", "bird"]
    mixer.asked = {"number": 2, "pair": ["blend", "toy-pet"], "path": True}
    assert mixer.path["whole"] and not mixer.notice and {p["task"] for p in mixer.path["points"]} == {"toy-mood", "toy-pet"}
    mixer.asked = {"number": 3, "keep": "my-blend"}
    assert str((tmp_path / "my-blend").resolve()) in mixer.notice
    opened = hl.load(tmp_path / "my-blend", backbone=toy_backbone(), tokenizer=toy_tokenizer()).eval()
    assert opened.tasks == ["toy-mood", "toy-pet", "blend"]
    kept = mixer.model.weights("blend")
    assert all(torch.equal(w, kept[site][k]) for site, found in opened.weights("blend").items() for k, w in found.items())


@pytest.mark.parametrize("name", ["../out", "a/b", "..", ".hidden", "/etc/passwd", "x" * 100, "kept", "a\nb"])
def test_a_folder_that_may_not_be_written_is_an_error_in_the_panel(tmp_path: Path, name: str) -> None:
    runs = tmp_path / "runs"
    (runs / "kept").mkdir(parents=True)
    mixer = hl.TaskMixer(toy_model().eval(), folder=runs)
    before = sorted(tmp_path.rglob("*"))
    mixer.asked = {"number": 1, "keep": name}
    assert mixer.answered == 1 and ("expected a folder name" in mixer.notice or "already: choose another" in mixer.notice)
    assert sorted(tmp_path.rglob("*")) == before


def test_mixer_and_inspector_share_text_task_and_site() -> None:
    _, chart, mixer, inspector = toy_board()
    half = {"toy-mood": 0.5, "toy-pet": 0.5}
    mixer.asked = {"number": 1, "text": "a merry dog", "site": "decoder.0.feedforward", "mixture": half}
    assert inspector.text == "a merry dog" and inspector.view["title"].startswith("decoder · 0 · feedforward")
    assert "0.50 toy-mood + 0.50 toy-pet" in inspector.view["title"] and mixer.view["site"] == "decoder.0.feedforward"
    inspector.asked = {"number": 1, "text": "a sad bird", "site": "encoder.1.attention", "task": "toy-pet"}
    assert mixer.text == "a sad bird" and mixer.view["site"] == "encoder.1.attention" and mixer.mixture == {"toy-pet": 1.0}
    assert chart.mixture == {"toy-pet": 1.0}
    mixer.asked = {"number": 2, "site": "attic"}
    assert "unknown site 'attic'" in mixer.notice and mixer.site == "encoder.1.attention"


def test_a_link_restores_the_state_in_another_kernel() -> None:
    first, second = (hl.TaskMixer(toy_model().eval(), text="x") for _ in range(2))
    first.asked = {"number": 1, "mixture": {"toy-mood": 0.4, "toy-pet": 0.6}, "save": "blend", "held": {"toy-pet": 1.0}}
    half = {"blend": 0.5, "toy-mood": 0.5}
    first.asked = {"number": 2, "mixture": half, "text": "a happy & sad cat", "site": "decoder.1.attention"}
    second.asked = {"number": 1, "restore": f"http://localhost:8866/#{first.state}"}
    assert not second.notice and second.mixture == pytest.approx({"toy-mood": 0.7, "toy-pet": 0.3})
    assert (second.text, second.site, second.held) == ("a happy & sad cat", "decoder.1.attention", {"toy-pet": 1.0})
    second.asked = {"number": 2, "restore": "mix=nobody:1"}
    assert "unknown task in this link 'nobody'" in second.notice and second.text == "a happy & sad cat"


def test_two_mixtures_answer_the_same_examples() -> None:
    model = toy_model().eval()
    mixer = hl.TaskMixer(model, text="a happy cat")
    mixer.asked = {"number": 1, "mixture": {"toy-mood": 1.0}, "held": {"toy-pet": 1.0}, "sides": True}
    rows = mixer.sides["rows"]
    assert mixer.sides["done"] and [row["task"] for row in rows] == [""] + ["toy-mood"] * 4 + ["toy-pet"] * 4
    for row in rows[1:]:
        for side, name in zip(row["sides"], model.tasks, strict=True):
            said = answer(model, row["text"], name, [row["gold"]])
            assert side["text"] == said.text and side["right"] == (said.text == row["gold"])
            assert side["p"] == pytest.approx(said.probabilities[row["gold"]], rel=1e-4)


def test_answers_on_a_scale_and_texts_with_the_wanted_answer() -> None:
    made = hl.adapt(tiny_backbone(), "hyperformer++", ["rte", "stsb"], tokenizer=toy_tokenizer(), reduction_factor=4)
    model = awaken(made).eval()
    mixer = hl.TaskMixer(model, text="a happy cat")
    scale, = mixer.answer["scales"]
    assert (scale["low"], scale["high"], len(scale["values"])) == (0.0, 5.0, 26) and 0 <= scale["mass"] <= 1
    mixer.asked = {"number": 1, "mixture": {"rte": 1.0}}
    assert mixer.answer["scales"] == [] and [w["word"] for w in mixer.answer["probabilities"]] == ["entailment", "not_entailment"]
    toys = hl.TaskMixer(toy_model().eval())
    toys.asked = {"number": 1, "presets": True}
    assert {row["task"] for row in toys.presets} == {"toy-mood", "toy-pet"} and len(toys.presets) == 8
    toys.asked = {"number": 2, "text": toys.presets[-1]["text"]}
    assert (toys.answer["source"], toys.answer["gold"]) == ("toy-pet", toys.presets[-1]["gold"])


def test_a_comparison_reaches_norms_and_units() -> None:
    inspector = hl.AdapterInspector(toy_model().eval(), text="a happy cat")
    plain = [site["norm"] for site in inspector.sites], inspector.norms["rows"], inspector.reactions, inspector.units["rows"]
    inspector.asked = {"number": 1, "against": "toy-pet"}
    less = [site["norm"] for site in inspector.sites], inspector.norms["rows"], inspector.reactions, inspector.units["rows"]
    assert all(a != b for a, b in zip(plain, less, strict=True))
    inspector.asked = {"number": 2, "task": "toy-pet"}
    assert max(site["norm"] for site in inspector.sites) < 1e-5 and max(map(abs, inspector.norms["rows"][1])) == 0
    assert all(unit["activation"] == 0 for unit in inspector.reactions) and inspector.units["limit"] == 0


def test_an_empty_text_is_a_sentence_where_weights_depend_on_it() -> None:
    options = {"encoder_size": 8, "decoder_size": 8}
    model = awaken(hl.adapt(tiny_backbone(), "hyperdecoder", TASKS, tokenizer=toy_tokenizer(), **options)).eval()
    board = hl.dashboard(model)
    mixer, inspector = board.panels[2:4]
    for number, text in enumerate(("", "a happy cat", "  "), 1):
        mixer.asked = {"number": number, "text": text}
        assert not mixer.notice and bool(text.strip()) == bool(mixer.view) == bool(inspector.view) == bool(inspector.norms)
        assert ("type one to see them" in inspector.about) == (not text.strip())
    inspector.asked = {"number": 1, "export": "npz"}
    assert "type one first" in inspector.notice


def test_parts_are_switched_off_and_come_back() -> None:
    model = toy_model().eval()
    inspector = hl.AdapterInspector(model, text="a happy cat")
    every = [str(site) for site in model.sites]
    inspector.asked = {"number": 1, "off": every}
    with model.acting({}):
        bare = answer(model, "a happy cat", "toy-mood", ["glad", "sad"])
    assert [w["after"] for w in inspector.switched["words"]] == pytest.approx(list(bare.probabilities.values()), rel=1e-4)
    units = [f"{every[0]}/{i}" for i in range(inspector.sites[0]["units"])]
    inspector.asked = {"number": 2, "off": units}
    assert not inspector.notice and inspector.switched["words"][0]["after"] != inspector.switched["words"][0]["before"]
    inspector.asked = {"number": 3, "off": []}
    assert inspector.switched == {} and inspector.off == []


def test_the_effect_of_every_site_is_computed_in_steps() -> None:
    async def visit() -> None:
        model = toy_model().eval()
        inspector = hl.AdapterInspector(model, text="a happy cat")
        inspector.asked = {"number": 1, "patch": {"other": "toy-pet"}}
        assert inspector.answered == 1 and inspector.working
        await until(lambda: len(inspector.patch.get("effects", [])) > 1)
        inspector.asked = {"number": 2, "site": "decoder.0.feedforward"}
        assert inspector.view["title"].startswith("decoder · 0") and inspector.working
        await until(lambda: not inspector.working)
        said = inspector.patch["answer"]
        alone = [answer(model, "a happy cat", name, [said]).probabilities[said] for name in model.tasks]
        assert len(inspector.patch["effects"]) == len(model.sites) and not inspector.notice
        assert 2.718281828 ** inspector.patch["all"] == pytest.approx(alone[1] / alone[0], rel=1e-3)
        inspector.asked = {"number": 3, "patch": {"other": "nobody"}}
        assert "unknown task 'nobody'" in inspector.notice

    asyncio.run(asyncio.wait_for(visit(), 120))
