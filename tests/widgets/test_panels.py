"""Panels without a browser: every method, one task and two hundred, saved pages, and files that are what they say."""

import asyncio
import base64
import io
import json
import re
import runpy
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import numpy as np
import pytest
import torch
from conftest import PROJECT, SMALL, TASKS, awaken, tiny_backbone
from toy_runs import toy_model, toy_run

import hyperlab as hl
from hyperlab.analysis.probes import Instances
from hyperlab.nano.toy import toy_tokenizer
from hyperlab.widgets.panel import Panel, apart, front, open_model, page


def made(method: str, tasks: list[str] | None = None) -> hl.AdaptedModel:
    return awaken(hl.adapt(tiny_backbone(), method, tasks or TASKS, tokenizer=toy_tokenizer(), **SMALL.get(method, {}))).eval()


@pytest.mark.parametrize("method", hl.available_methods())
def test_every_method_has_a_dashboard(method: str) -> None:
    board = hl.dashboard(made(method))
    assert not board.header.notice, board.header.notice
    chart, mixer, inspector = board.panels[1:4]
    for number, panel in enumerate((chart, mixer, inspector), 1):
        panel.asked = {"number": number, "text": "a happy cat", "mixture": {"rte": 0.5, "sst2": 0.5}}
        assert panel.answered == number and not panel.notice, (method, panel.notice)
    assert mixer.answer["text"] is not None and "https://" not in board.report()


@pytest.mark.parametrize("count", [1, 200])
def test_one_task_and_two_hundred(count: int) -> None:
    names = [f"task-{i}" for i in range(count)]
    board = hl.dashboard(made("hyperformer++", names))
    chart, mixer, inspector = board.panels[1:4]
    assert chart.points["count"] == count and mixer.mixes == (count > 1) and not board.header.notice
    assert len(inspector.norms["rows"]) == min(count, 60)
    mixer.asked = {"number": 1, "mixture": {names[-1]: 1.0}, "text": "a cat"}
    assert mixer.mixture == inspector.mixture == {names[-1]: 1.0} and not mixer.notice
    assert len(board.report()) < 2_000_000


def test_an_empty_checkpoint_folder_says_what_is_missing(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="is empty: expected a checkpoint or a run"):
        open_model(tmp_path)
    assert "holds no checkpoint" in hl.dashboard(tmp_path).header.notice
    assert "No run in" in hl.RunBoard(tmp_path).about


def test_a_saved_page_holds_its_state_and_asks_for_nothing() -> None:
    mixer = hl.TaskMixer(toy_model().eval(), text="a </script> happy cat")
    saved = page("saved", [mixer])
    assert not re.search(r'(src|href)="(?!data:|#)', saved) and "a </script>" not in saved
    state = json.loads(re.search(r"frozen\((.*)\), el:", saved)[1].replace("<\\/", "</"))
    assert state["mixture"] == mixer.mixture and state["text"] == "a </script> happy cat"


@pytest.mark.parametrize("name", sorted(p.name for p in Path(hl.__file__).parent.glob("widgets/front/*.*")))
def test_the_front_fetches_nothing(name: str) -> None:
    text = front(name).replace("http://www.w3.org/2000/svg", "")
    assert not re.search(r"https?://|\bimport\s*\(|fetch\(|XMLHttpRequest|@import", text)


def test_what_the_inspector_saves_is_what_the_model_uses(tmp_path: Path) -> None:
    from safetensors.torch import load

    model = toy_model().eval()
    mixture = {"toy-mood": 0.3, "toy-pet": 0.7}
    inspector = hl.AdapterInspector(model)
    inspector.mixture = mixture
    used = {f"{site}/{k}": w.detach() for site, found in model.weights(mixture).items() for k, w in found.items()}
    tensors, arrays = load(inspector.export("safetensors")), np.load(io.BytesIO(inspector.export("npz")))
    assert set(tensors) == set(arrays.files) == set(used)
    assert all(torch.equal(tensors[k], w) and np.array_equal(arrays[k], w.numpy()) for k, w in used.items())
    inspector.asked = {"number": 1, "export": "exe"}
    assert "unknown kind of file" in inspector.notice


def test_a_mixture_that_is_saved_answers_as_it_did() -> None:
    model = toy_model().eval()
    mixer = hl.TaskMixer(model, text="a happy cat")
    mixer.asked = {"number": 1, "mixture": {"toy-mood": 0.35, "toy-pet": 0.65}, "save": "kept"}
    kept, mixed = model.weights("kept"), model.weights({"toy-mood": 0.35, "toy-pet": 0.65})
    assert all(torch.allclose(kept[site][k], w, atol=1e-6) for site, found in mixed.items() for k, w in found.items())


def test_the_board_of_real_runs_and_the_map_over_training(tmp_path: Path) -> None:
    for seed in (0, 1):
        run = toy_run(tmp_path / f"run-{seed}", seed=seed)
    board = hl.RunBoard(tmp_path)
    assert len(board.rows) == 2 and board.rows[0]["setting"] == board.rows[1]["setting"] and len(board.curves["run-0"]["loss"]) == 8
    assert all(row["scores"]["average_tasks"] == hl.Run(tmp_path / row["run"]).result["average_tasks"] for row in board.rows)
    model = toy_model()
    moved = hl.EmbeddingMap(model, history=run)
    places = np.frombuffer(moved.paths, np.float32).reshape(len(moved.steps), 2, 2)
    assert len(moved.steps) >= 2 and np.abs(places[0] - places[-1]).max() > 0


def heard(panel: Panel, **state: object) -> None:
    "A message from the page."
    panel._handle_msg({"content": {"data": {"method": "update", "state": state}}, "buffers": []})


def test_the_page_may_choose_only_listed_models(tmp_path: Path) -> None:
    for name in ("listed/first", "listed/second", "elsewhere"):
        hl.load("nano").save(tmp_path / name)
    board, other = hl.dashboard(tmp_path / "listed"), str(tmp_path / "elsewhere")
    assert [name for _, name in board.header.choices] == ["first", "second"]
    shown, facts = list(board.panels), (board.header.chosen, board.header.choices)
    heard(board.header, asked={"number": 1, "choose": other})
    assert f"unknown model '{other}'" in board.header.notice and board.header.answered == 1
    heard(board.header, choices=[[other, "mine"]], chosen=other, asked={"number": 2, "choose": other})  # nor may it write the list
    assert f"unknown model '{other}'" in board.header.notice and (board.header.chosen, board.header.choices) == facts
    assert all(a is b for a, b in zip(board.panels, shown, strict=True))
    heard(board.header, asked={"number": 3, "choose": board.header.choices[1][0]})
    assert board.header.chosen.endswith("second") and not board.header.notice and board.panels[1] is not shown[1]


def test_the_page_may_not_choose_the_folder_of_runs(tmp_path: Path) -> None:
    toy_run(tmp_path / "elsewhere" / "secret")
    (tmp_path / "runs").mkdir()
    board = hl.RunBoard(tmp_path / "runs")
    heard(board, folder=str(tmp_path / "elsewhere"), asked={"number": 1, "again": True})
    assert board.answered == 1 and board.folder == str(tmp_path / "runs") and not board.rows


class Counting(Panel):
    "Counts in steps, and answers questions."

    script = "mixer.js"

    def count(self, until: int) -> Iterator[tuple[float, float]]:
        try:
            for number in range(until):
                self.numbers.append(number)
                yield number + 1, until
        finally:
            self.ended = True

    def respond(self, asked: Mapping[str, object]) -> None:
        self.numbers, self.ended = [], False
        if asked.get("count"):
            self.start("counting", self.count(asked["count"]))


async def until(what: Callable[[], bool]) -> None:
    while not what():
        await asyncio.sleep(0.01)


def test_long_work_lets_answers_through_and_can_be_stopped() -> None:
    async def visit() -> None:
        busy, other, told = Counting(), hl.TaskMixer(toy_model().eval()), []
        busy.observe(lambda change: told.append(change["new"]), "working")
        busy.asked = {"number": 1, "count": 10**9}
        assert busy.answered == 1 and busy.working == {"what": "counting", "done": 0, "total": 0}  # answered before it is done
        await until(lambda: len(busy.numbers) > 3)
        other.asked = {"number": 1, "mixture": {"toy-mood": 0.3, "toy-pet": 0.7}}
        so_far = len(busy.numbers)
        assert other.answered == 1 and other.mixture == {"toy-mood": 0.3, "toy-pet": 0.7}
        await asyncio.sleep(0.1)
        assert len(busy.numbers) <= so_far + 1  # work stands aside after an answer …
        await until(lambda: len(busy.numbers) > so_far + 3)  # … and goes on
        busy.asked = {"number": 2, "stop": True}
        assert busy.answered == 2 and busy.ended and busy.working == {}
        so_far = len(busy.numbers)
        await asyncio.sleep(0.3)
        assert len(busy.numbers) == so_far and any(now.get("done") for now in told)
        busy.asked = {"number": 3, "count": 5}
        await until(lambda: not busy.working)
        assert busy.numbers == list(range(5)) and not busy.notice

    asyncio.run(asyncio.wait_for(visit(), 60))


def test_work_that_fails_says_so_and_a_process_apart_does_not_stop_the_loop() -> None:
    async def visit() -> None:
        panel, beats = Counting(), []
        panel.start("waiting", apart(time.sleep, 1.0))
        while panel.working:
            beats.append(time.monotonic())
            await asyncio.sleep(0.005)
        assert len(beats) > 20 and not panel.notice  # the loop went on beating
        panel.start("dividing", apart(divmod, 1, 0))
        await until(lambda: not panel.working)
        assert panel.notice.startswith("dividing: ") and "zero" in panel.notice

    asyncio.run(asyncio.wait_for(visit(), 60))


def test_a_layout_that_takes_long_stops_nothing_and_can_be_stopped() -> None:
    rng = np.random.default_rng(0)
    inputs = Instances(torch.tensor(rng.normal(size=(400, 8)), dtype=torch.float32), ["a", "b"] * 200, ["yes"] * 400)

    async def visit() -> None:
        chart = hl.EmbeddingMap(toy_model().eval(), instances=inputs)
        chart.asked = {"number": 1, "shown": chart.shown | {"what": "instances"}}
        plane = chart.coordinates
        chart.asked = {"number": 2, "shown": chart.shown | {"how": "tsne"}}
        assert chart.answered == 2 and chart.working["what"] == "t-SNE of 400 points" and chart.coordinates == plane
        chart.asked = {"number": 3, "stop": True}
        assert not chart.working and chart.shown["how"] == "pca" and chart.coordinates == plane  # said is what is drawn
        chart.asked = {"number": 4, "shown": chart.shown | {"how": "tsne"}}
        chart.asked = {"number": 5, "mixture": {"toy-pet": 1.0}}
        assert chart.answered == 5 and chart.mixture == {"toy-pet": 1.0} and chart.working
        await until(lambda: not chart.working)
        assert chart.shown["how"] == "tsne" and chart.coordinates != plane and not chart.notice
        laid = chart.coordinates
        chart.asked = {"number": 6, "shown": chart.shown | {"how": "pca"}}
        chart.asked = {"number": 7, "shown": chart.shown | {"how": "tsne"}}
        assert chart.coordinates == laid and not chart.working  # a layout is made once

    asyncio.run(asyncio.wait_for(visit(), 600))


def test_a_mixture_saved_in_the_mixer_is_on_the_map_with_a_mark_of_its_own() -> None:
    board = hl.dashboard(toy_model().eval())
    chart, mixer, inspector = board.panels[1:4]
    before = np.frombuffer(chart.coordinates, np.float32).reshape(2, 2)
    mixer.asked = {"number": 1, "mixture": {"toy-mood": 0.35, "toy-pet": 0.65}, "save": "kept"}
    assert chart.points["names"] == ["toy-mood", "toy-pet", "kept"] and chart.points["marks"] == ["", "", "mixture"]
    assert "saved mixture of 0.35 toy-mood + 0.65 toy-pet" in chart.points["details"][2]
    assert chart.legend[-1] == {"name": "saved mixture", "colour": "#7F7F7F", "shape": "pentagon"}
    places = np.frombuffer(chart.coordinates, np.float32).reshape(3, 2)
    assert np.allclose(places[:2], before, atol=1e-5) and np.allclose(places[2], chart.here, atol=1e-3)
    for task in (mixer.tasks[2], inspector.tasks[2]):
        assert task["name"] == "kept" and task["shape"] == "pentagon" and task["added"]


def test_the_stored_first_screen_is_what_the_shipped_model_shows() -> None:
    tool = runpy.run_path(str(PROJECT / "tools" / "first_screen.py"))
    stored, live = json.loads(front("first_screen.json")), tool["first_states"]()

    def same(a: object, b: object, where: str) -> None:
        if isinstance(a, dict) and isinstance(b, dict):
            assert a.keys() == b.keys(), f"{where}: run tools/first_screen.py"
            if "base64" in a and "codes" not in where:
                drawn, now = (np.frombuffer(base64.b64decode(x["base64"]), np.float32) for x in (a, b))
                assert drawn.shape == now.shape and np.allclose(drawn, now, atol=1e-3), f"{where}: run tools/first_screen.py"
            else:
                for name in a:
                    same(a[name], b[name], f"{where}.{name}")
        elif isinstance(a, list) and all(isinstance(x, float) for x in a):
            assert np.allclose(a, b, atol=1e-3), f"{where}: run tools/first_screen.py"
        else:
            assert a == b, f"{where}: run tools/first_screen.py"

    same(stored, live, "first screen")


def test_the_server_starts_without_torch() -> None:
    code = "import sys, hyperlab.widgets.server as s; assert s.first_screen('nano')['panels'] and 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=300)
