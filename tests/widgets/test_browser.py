"""The dashboard in a real browser: Voilà and JupyterLab, keys and pixels, no error on the page and no request to the outside."""

from __future__ import annotations

import io
import json
import os
import re
import shutil
import statistics
import struct
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest
import torch
from served_pages import ROOT, SHOTS, SOURCE, Watched, jupyterlab, run_all_cells, say, voila
from toy_runs import toy_model, toy_run

import hyperlab as hl
from hyperlab.analysis.probes import Instances
from hyperlab.nano.toy import toy_backbone, toy_tokenizer
from hyperlab.training.run_folder import load_weights
from hyperlab.widgets import panel as panel_module
from hyperlab.widgets.panel import front, page

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def dashboard(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with voila(tmp_path_factory.mktemp("voila")) as address:
        yield address


def move_by_key(seen: Watched) -> dict[str, float]:
    "Move the first slider one step by keyboard; milliseconds until the adapter was drawn, and until the answer was."
    before = {name: seen.fact("mixer", name) for name in ("norm", "answer")}
    canvas, old = ".hl-mixer canvas.hl-heat", seen.pixels(".hl-mixer canvas.hl-heat")
    value = seen.page.locator(".hl-mixer .hl-sliders output").first.text_content()
    for _ in range(10):  # JupyterLab takes the focus back while cells still run
        seen.page.locator(".hl-mixer .hl-sliders input").first.focus()
        seen.page.keyboard.press("ArrowRight")
        seen.page.wait_for_timeout(800)
        if seen.page.locator(".hl-mixer .hl-sliders output").first.text_content() != value:
            break
    seen.until(lambda: seen.fact("mixer", "answer") != before["answer"] and seen.fact("mixer", "norm") != before["norm"])
    seen.until(lambda: seen.pixels(canvas) != old)
    assert seen.page.locator(".hl-mixer .hl-sliders output").first.text_content() != value
    seen.page.wait_for_timeout(100)
    return {name: float(seen.fact("mixer", f"{name}Ms") or "nan") for name in ("view", "answer")}


def quiet_path(seen: Watched) -> None:
    "Wait until the mixer is there and computes nothing."
    seen.page.wait_for_selector(".hl-mixer .hl-sliders input")
    seen.until(lambda: seen.page.locator(".hl-mixer .hl-working").is_hidden())


def drag_the_ring(seen: Watched) -> None:
    "Drag the mixture over the map with the mouse; sliders and inspector follow, and the ring ends where its mixture lies."
    ring = seen.page.get_by_label("you are here: the mixture")
    before, title = ring.get_attribute("aria-valuetext"), seen.page.locator(".hl-inspector .hl-sub").text_content()
    ring.scroll_into_view_if_needed()
    box, plane = ring.bounding_box(), seen.page.locator(".hl-map .hl-plane").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    seen.page.mouse.move(x, y)
    seen.page.mouse.down()
    seen.page.mouse.move(plane["x"] + plane["width"] / 2, plane["y"] + plane["height"] / 2, steps=12)
    seen.until(lambda: seen.page.locator(".hl-inspector .hl-sub").text_content() != title)  # while the button is down
    seen.page.mouse.move(plane["x"] + plane["width"] / 2 + 30, plane["y"] + plane["height"] / 2 + 20, steps=4)
    seen.page.mouse.up()
    seen.until(lambda: seen.page.get_by_label("you are here: the mixture").get_attribute("aria-valuetext") not in (before, None))
    after = seen.page.get_by_label("you are here: the mixture").get_attribute("aria-valuetext") or ""
    if SOURCE == "nano":
        assert len(after.split(",")) == 3, after  # a mixture of the three nearest tasks
    seen.until(lambda: seen.page.locator(".hl-mixer .hl-sliders input").count() >= len(after.split(",")))


def save_files(seen: Watched) -> None:
    "Save what the inspector shows as an image, and its weights as a NumPy archive."
    with seen.page.expect_download() as image:
        seen.page.get_by_label("save the matrices as a PNG image").click()
    drawn = Path(image.value.path()).read_bytes()
    width, height = struct.unpack(">II", drawn[16:24])
    assert drawn[:8] == b"\x89PNG\r\n\x1a\n" and width >= 720 and height > 200 and image.value.suggested_filename.endswith(".png")
    if SHOTS:
        (Path(SHOTS) / "saved.png").write_bytes(drawn)
    with seen.page.expect_download() as archive:
        seen.page.get_by_role("button", name="npz").click()
    arrays = np.load(io.BytesIO(Path(archive.value.path()).read_bytes()))
    assert any(name.endswith("/down") for name in arrays.files) and all(np.isfinite(arrays[name]).all() for name in arrays.files)


def test_the_first_screen_shows_the_map_before_the_kernel_can(
    browser: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    began = time.monotonic()
    with voila(tmp_path) as address:
        up, seen = time.monotonic() - began, Watched(browser)
        process = psutil.Process(int((tmp_path / "server.pid").read_text()))
        seen.page.goto(address, wait_until="commit")
        plane, shown = seen.page.locator("#first-map .hl-plane"), float("nan")
        if SOURCE == "nano":
            seen.page.wait_for_selector("#first-map .hl-point")
            shown = time.monotonic() - began
            assert not seen.page.locator("#rendered_cells .hl-map").count()
            points = [point.get_attribute("aria-label") for point in plane.locator(".hl-point").all()]
            box = plane.bounding_box()
        said = seen.page.locator("#first-words p").first.text_content() or ""
        assert "…" in said and "Executing" not in seen.page.locator("body").inner_text()
        seen.keep("first-screen")
        seen.page.wait_for_selector("#first-screen", state="detached")
        live, alive = time.monotonic() - began, process.children(recursive=True)
        count = sum("ipykernel_launcher" in " ".join(child.cmdline()) for child in alive)
        assert count == 1, f"{count} kernels were started for one reader"
        seen.page.wait_for_selector(".hl-inspector canvas.hl-heat")
        if SOURCE == "nano":  # nothing jumps
            plane = seen.page.locator("#rendered_cells .hl-map .hl-plane")
            assert [point.get_attribute("aria-label") for point in plane.locator(".hl-point").all()] == points
            assert all(abs(plane.bounding_box()[side] - box[side]) < 20 for side in box)
        busy = f"load {os.getloadavg()[0]:.0f} on {os.cpu_count()} cores"
        say(capsys, f"cold start: server up {up:.1f} s, map shown {shown:.1f} s, all live {live:.1f} s ({busy})")
        assert seen.clean(), (seen.errors, seen.outside)


def test_voila_moves_by_keyboard_and_asks_for_nothing_outside(
    browser: Any, dashboard: str, capsys: pytest.CaptureFixture[str]
) -> None:
    seen, began = Watched(browser), time.monotonic()
    seen.page.goto(dashboard, wait_until="commit")
    seen.page.wait_for_selector(".hl-mixer canvas.hl-heat")
    seen.page.wait_for_selector(".hl-inspector canvas.hl-heat")
    say(capsys, f"first screen of {SOURCE} in Voilà, just started: {time.monotonic() - began:.1f} s")
    seen.page.wait_for_selector(".hl-map .hl-point")
    quiet_path(seen)
    assert not seen.page.locator(".hl-mixer .hl-chart path").count()  # the way is scored when somebody asks

    text, answer = seen.page.get_by_label("text for the model"), seen.fact("mixer", "answer")
    text.fill("the merry dog waits near the old house")
    seen.until(lambda: seen.fact("mixer", "answer") != answer)

    title, spectrum = seen.page.locator(".hl-inspector .hl-sub").text_content(), seen.pixels(".hl-inspector figure canvas")
    ring = seen.page.get_by_label("you are here: the mixture").get_attribute("transform")
    times = [move_by_key(seen) for _ in range(6)]
    middle = {name: sorted(t[name] for t in times)[len(times) // 2] for name in times[0]}
    say(capsys, f"slider to adapter {middle['view']:.0f} ms, to answer {middle['answer']:.0f} ms (medians of {len(times)})")
    seen.until(lambda: seen.page.locator(".hl-inspector .hl-sub").text_content() != title)
    seen.until(lambda: seen.pixels(".hl-inspector figure canvas") != spectrum)
    assert seen.page.get_by_label("you are here: the mixture").get_attribute("transform") != ring
    drag_the_ring(seen)
    save_files(seen)
    seen.keep("dashboard")
    for panel in ("map", "mixer", "inspector"):
        seen.keep(panel, f".hl-{panel}")
    assert seen.clean(), (seen.errors, seen.outside)


def test_a_narrow_screen_the_map_and_the_sites_by_keyboard(
    browser: Any, dashboard: str, capsys: pytest.CaptureFixture[str]
) -> None:
    seen, began = Watched(browser, width=390, color_scheme="dark"), time.monotonic()
    seen.page.goto(dashboard, wait_until="commit")
    seen.page.wait_for_selector(".hl-inspector canvas.hl-heat")
    say(capsys, f"first screen of {SOURCE} in Voilà, with a kernel at hand: {time.monotonic() - began:.1f} s")
    seen.page.wait_for_selector(".hl-map .hl-point")
    quiet_path(seen)
    wide = seen.page.evaluate("document.documentElement.scrollWidth")
    assert wide <= 394, f"a narrow screen must not scroll sideways, the page is {wide} pixels wide"
    card = seen.page.locator(".hl-mixer").evaluate("e => getComputedStyle(e).backgroundColor.match(/\\d+/g).slice(0, 3)")
    assert max(map(int, card)) < 80, f"the page is dark where the reader wants it dark, the cards are {card}"
    ring = seen.page.get_by_label("you are here: the mixture")
    where = ring.get_attribute("aria-valuetext")
    ring.focus()
    seen.page.keyboard.press("ArrowUp")
    seen.until(lambda: seen.page.get_by_label("you are here: the mixture").get_attribute("aria-valuetext") != where)
    pressed = seen.page.locator(".hl-grid button[aria-pressed=true]")
    pressed.focus()
    site, last = pressed.get_attribute("data-site"), pressed.evaluate("e => !e.closest('td').nextElementSibling")
    seen.page.keyboard.press("ArrowLeft" if last else "ArrowRight")
    seen.until(lambda: pressed.get_attribute("data-site") != site)
    seen.keep("narrow")
    assert seen.clean(), (seen.errors, seen.outside)


def test_an_empty_folder_is_a_sentence_and_not_a_traceback(browser: Any, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with voila(tmp_path, HYPERLAB_SOURCE=str(tmp_path / "empty")) as address:
        seen = Watched(browser)
        seen.page.goto(address, wait_until="commit")
        seen.page.wait_for_selector(".hl-header")
        seen.until(lambda: "holds no checkpoint" in (seen.page.locator(".hl-header .hl-status").text_content() or ""))
        assert seen.clean(), (seen.errors, seen.outside)


def run_cells(seen: Watched) -> None:
    "Run all cells of the dashboard's notebook."
    run_all_cells(seen)
    seen.page.wait_for_selector(".hl-mixer:not(.hl-asleep) canvas.hl-heat")


def restart_kernel(seen: Watched) -> None:
    "Restart the kernel; the panels say so, keep what they showed and take no more orders."
    shown = seen.page.locator(".hl-mixer .hl-sliders output").all_text_contents()
    seen.page.evaluate("void window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.restart()")
    for panel in ("header", "map", "mixer", "inspector"):
        seen.page.wait_for_selector(f".hl-{panel}.hl-asleep")
        assert "The kernel was restarted: run the cell again" in (seen.page.locator(f".hl-{panel} .hl-status").text_content() or "")
    seen.page.locator(".hl-mixer .hl-sliders input").first.focus()  # an inert panel can't be focused
    seen.page.keyboard.press("ArrowRight")
    assert seen.page.locator(".hl-mixer .hl-sliders output").all_text_contents() == shown
    seen.keep("restarted")


def test_jupyterlab_moves_by_keyboard(browser: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shutil.copy(ROOT / "nbs" / "dashboard.ipynb", tmp_path)
    with jupyterlab(tmp_path) as address:
        seen = Watched(browser)
        seen.page.goto(f"{address}/lab/tree/dashboard.ipynb", wait_until="commit")
        seen.page.wait_for_function("window.jupyterapp !== undefined")
        seen.page.wait_for_selector(".jp-Notebook .jp-Cell")
        began = time.monotonic()
        run_cells(seen)
        say(capsys, f"first screen of {SOURCE} in JupyterLab: {time.monotonic() - began:.1f} s after running the cells")
        quiet_path(seen)
        times = move_by_key(seen)
        say(capsys, f"in JupyterLab: slider to adapter {times['view']:.0f} ms, to answer {times['answer']:.0f} ms")
        seen.keep("jupyterlab")
        restart_kernel(seen)
        run_cells(seen)
        quiet_path(seen)
        move_by_key(seen)
        assert not seen.page.locator(".hl-asleep").count()
        assert seen.clean(), (seen.errors, seen.outside)


def test_a_report_needs_neither_kernel_nor_network(browser: Any, tmp_path: Path) -> None:
    report = tmp_path / "report.html"
    parameters = ["-p", "source", SOURCE, "-p", "report", str(report), "-p", "examples", "20", "--no-progress-bar"]
    command = [sys.executable, "-m", "papermill", str(ROOT / "nbs" / "dashboard.ipynb"), str(tmp_path / "out.ipynb"), *parameters]
    done = subprocess.run(command, env=os.environ | {"PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    seen = Watched(browser)
    seen.page.goto(report.as_uri())
    seen.page.wait_for_selector(".hl-inspector canvas.hl-heat")
    seen.page.wait_for_timeout(300)
    assert seen.page.locator(".hl-mixer .hl-chart path").count() >= 4 and seen.page.locator(".hl-map .hl-point").count() >= 2
    assert len(set(seen.pixels(".hl-inspector figure canvas"))) > 20
    seen.keep("report")
    assert seen.clean(), (seen.errors, seen.outside)


def opened(browser: Any, folder: Path, panel: Any, vision: str = "none", width: int = 1280) -> Watched:
    "A saved panel in a browser, as a reader with this vision sees it."
    (folder / "panel.html").write_text(page("panel", [panel]), encoding="utf-8")
    seen = Watched(browser, width)
    seen.page.context.new_cdp_session(seen.page).send("Emulation.setEmulatedVisionDeficiency", {"type": vision})
    seen.page.goto((folder / "panel.html").as_uri())
    seen.page.wait_for_timeout(300)
    return seen


def test_families_and_ways_are_told_apart_without_colour(browser: Any, tmp_path: Path) -> None:
    model = hl.adapt(toy_backbone(), "hyperformer++", hl.tasks("glue"), reduction_factor=4)
    families = set(hl.families(model.tasks).values())
    chart = opened(browser, tmp_path, hl.EmbeddingMap(model, added=["rte"]), "achromatopsia")
    shape = {}
    for point in chart.page.locator(".hl-map .hl-point[data-group]").all():
        form = point.locator("[data-shape]").get_attribute("data-shape")
        assert shape.setdefault(point.get_attribute("data-group"), form) == form  # one shape per family
    assert len(shape) == len(set(shape.values())) == len(families)
    legend = [entry.get_attribute("data-shape") for entry in chart.page.locator(".hl-legend [data-shape]").all()]
    assert all(legend[int(group)] == form for group, form in shape.items())
    chart.keep("map-in-grey")

    mixer = hl.TaskMixer(toy_model().eval(), examples=8, points=3)
    mixer.walk_now()
    ways = opened(browser, tmp_path, mixer, "achromatopsia")
    dashes = [line.get_attribute("stroke-dasharray") for line in ways.page.locator(".hl-chart path[stroke]").all()]
    assert len(dashes) == len(set(dashes)) == 4
    assert {line.get_attribute("stroke-dasharray") for line in ways.page.locator(".hl-legend path").all()} == set(dashes)
    ways.keep("mixer-in-grey")
    assert chart.clean() and ways.clean(), (chart.errors, ways.errors)


def test_a_hundred_thousand_points_follow_the_hand(
    browser: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rng = np.random.default_rng(0)
    group = np.sort(rng.integers(6, size=100_000))
    places = torch.tensor(rng.normal(size=(6, 16))[group] * 3 + rng.normal(size=(100_000, 16)), dtype=torch.float32)
    chart = hl.EmbeddingMap(toy_model().eval(), instances=Instances(places, [f"set {i}" for i in group], ["yes"] * 100_000))
    chart.choose({"what": "instances", "colour": "task"})
    seen = opened(browser, tmp_path, chart)
    canvas = ".hl-map .hl-plane canvas"
    box = seen.page.locator(canvas).bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    still, drawn, times = seen.pixels(canvas), int(seen.fact("map", "drawn") or 0), []
    seen.page.mouse.move(x, y)
    seen.page.mouse.down()
    for step in range(20):
        seen.page.mouse.move(x + 6 * step, y + 3 * step)
        seen.page.wait_for_timeout(20)
        times.append(float(seen.fact("map", "drawMs") or "nan"))
    moving = seen.pixels(canvas)
    frames = int(seen.fact("map", "drawn") or 0) - drawn
    seen.page.mouse.up()
    assert moving != still and frames >= 5, f"the points follow while the button is down: {frames} frames in 20 steps"
    say(capsys, f"100,000 points: a frame is painted in {statistics.median(times):.0f} ms (median of {frames} frames)")
    seen.page.mouse.wheel(0, -400)
    seen.until(lambda: seen.pixels(canvas) != moving)
    seen.page.wait_for_timeout(300)
    closer = seen.pixels(canvas)
    seen.page.locator(".hl-map .hl-legend button").first.focus()  # the first group alone, for eyes that see no colour
    seen.until(lambda: seen.pixels(canvas) != closer)
    seen.keep("many")
    assert seen.clean(), (seen.errors, seen.outside)


LATE = """
const model = { ...frozen(start), frozen: false, heard: {}, on(name, call) { (this.heard[name] ??= []).push(call); } };
const el = document.createElement("div");  // off screen: not on the page yet
render({ model, el });
for (const [name, value] of Object.entries(state)) {
  model.set(name, value);
  for (const call of model.heard[`change:${name}`] ?? []) call();
}
setTimeout(() => document.body.append(el), 200);
"""


def opened_early(browser: Any, folder: Path, panel: Any) -> Watched:
    "A panel that is drawn off screen, before its data arrive one by one, and put on the page afterwards."
    names = [n for n in panel.traits(sync=True) if n not in panel_module.SKIPPED and not n.startswith("_")]
    names.sort(key=lambda name: name == "coordinates")  # they come last
    start = {n: panel_module.plain(panel.traits()[n].default()) for n in names}
    state = {n: panel_module.plain(getattr(panel, n)) for n in names}
    facts = f"const start = {json.dumps(start)}, state = {json.dumps(state)};"
    script = "\n".join([front("saved.js"), panel._esm.replace("export default { render };", ""), facts, LATE])
    head = f'<meta charset="utf-8"><style>{front("look.css")}</style>'
    (folder / "early.html").write_text(f'{head}<body><script type="module">{script}</script></body>', encoding="utf-8")
    seen = Watched(browser)
    seen.page.goto((folder / "early.html").as_uri())
    seen.page.wait_for_timeout(800)
    return seen


def test_panels_that_are_drawn_off_screen_before_their_data_fill_up(browser: Any, tmp_path: Path) -> None:
    model = toy_model().eval()
    chart = opened_early(browser, tmp_path, hl.EmbeddingMap(model))
    assert chart.page.locator(".hl-map .hl-point[data-group]").count() == 2 and not chart.errors, chart.errors
    inputs = hl.EmbeddingMap(model, instances=Instances(torch.randn(400, 8), ["a", "b"] * 200, ["yes"] * 400))
    inputs.choose({"what": "instances", "colour": "task"})
    many = opened_early(browser, tmp_path, inputs)
    assert many.page.locator(".hl-map .hl-plane canvas").count() == 1 and not many.errors, many.errors
    inspector = opened_early(browser, tmp_path, hl.AdapterInspector(model))
    assert inspector.page.locator(".hl-inspector .hl-grid button").count() and not inspector.errors, inspector.errors
    mixer = opened_early(browser, tmp_path, hl.TaskMixer(model))
    assert mixer.page.locator(".hl-mixer .hl-sliders input").count() == 2 and not mixer.errors, mixer.errors
    toy_run(tmp_path / "runs" / "one", steps=2, eval_every=2)
    board = opened_early(browser, tmp_path, hl.RunBoard(tmp_path / "runs"))
    assert board.page.locator(".hl-runs tbody tr").count() == 1 and not board.errors, board.errors
    header = opened_early(browser, tmp_path, hl.dashboard(model).header)
    assert "this model" in header.page.locator(".hl-header").inner_text() and not header.errors, header.errors


def test_a_point_of_the_map_opens_its_neighbours_and_a_word_finds_points(browser: Any, tmp_path: Path) -> None:
    model = hl.adapt(toy_backbone(), "hyperformer++", hl.tasks("glue"), reduction_factor=4)
    half = {"cola": 0.5, "sst2": 0.5}
    chart = hl.EmbeddingMap(model)
    model.mix("half", half)
    chart.grown([], {"half": half})
    seen = opened(browser, tmp_path, chart, width=400)
    points, told = seen.page.locator(".hl-map .hl-point[data-group]"), seen.page.locator(".hl-told")
    assert points.count() == 9 and seen.page.locator('.hl-point[data-mark="mixture"] [data-shape="pentagon"]').count() == 1
    said = seen.page.locator(".hl-legend").inner_text()
    assert "saved mixture" in said and "ellipse:" in said
    plane = seen.page.locator(".hl-plane").bounding_box()
    label = seen.page.locator(".hl-plane text", has_text="you are here").bounding_box()
    assert label["x"] >= plane["x"] and label["x"] + label["width"] <= plane["x"] + plane["width"]  # not cut off at the border
    half_way = seen.page.get_by_label("half, saved mixture")
    half_way.click()
    assert seen.page.locator(".hl-chosen").count() == 1 and told.locator(".hl-nearest li").count() == 8
    close = [float(out) for out in told.locator(".hl-nearest output").all_text_contents()]
    assert close == sorted(close, reverse=True) and seen.page.locator(".hl-near").count() == sum(c > 0 for c in close)
    assert not seen.page.locator(".hl-tip").is_hidden()
    seen.page.mouse.move(2, 2)
    seen.until(lambda: seen.page.locator(".hl-tip").is_hidden())  # it does not stick
    reached = set()
    for key in ("ArrowRight", "ArrowDown", "ArrowLeft", "ArrowUp"):
        seen.page.keyboard.press(key)
        reached.add(seen.page.evaluate("document.activeElement.getAttribute('aria-label')"))
    assert len(reached) > 1 and None not in reached  # arrows walk from point to point
    seen.page.keyboard.press("Enter")
    assert told.locator(".hl-nearest li").count() == 8 and seen.page.locator(".hl-chosen").count() == 1
    seen.page.keyboard.press("Escape")
    assert not seen.page.locator(".hl-chosen").count()
    seen.page.locator(".hl-map .hl-plane > svg").first.focus()
    seen.page.keyboard.press("l")  # the lasso of those who use keys: what is in view
    assert "9 points" in told.inner_text() and told.locator("tr[data-row]").count() == 9
    seen.keep("map-narrow")
    assert seen.clean(), (seen.errors, seen.outside)


def test_a_lasso_lists_points_and_space_is_turned_by_mouse_and_keys(browser: Any, tmp_path: Path) -> None:
    chart = hl.EmbeddingMap(hl.adapt(toy_backbone(), "hyperformer++", hl.tasks("glue"), reduction_factor=4))
    chart.choose({"dims": 3})
    seen = opened(browser, tmp_path, chart)
    every = seen.page.locator(".hl-map .hl-point[data-group]")
    places = lambda: every.evaluate_all("all => all.map((e) => e.style.transform).join()")
    box, before = seen.page.locator(".hl-map .hl-plane").bounding_box(), places()
    x, y = box["x"] + 60, box["y"] + box["height"] - 60
    seen.page.mouse.move(x, y)
    seen.page.mouse.down()
    seen.page.mouse.move(x + 120, y - 30, steps=6)
    seen.page.mouse.up()
    seen.until(lambda: places() != before)
    by_mouse = places()
    seen.page.keyboard.press("ArrowLeft")
    seen.until(lambda: places() != by_mouse)
    by_key = places()
    seen.page.get_by_label("lasso: draw").click()
    seen.page.mouse.move(box["x"] + 4, box["y"] + 40)
    seen.page.mouse.down()
    for right, down in ((1, 0), (1, 1), (0, 1)):
        seen.page.mouse.move(box["x"] + 4 + right * (box["width"] - 8), box["y"] + 40 + down * (box["height"] - 44), steps=4)
    seen.page.mouse.up()
    assert seen.page.locator(".hl-told tr[data-row]").count() == 8 and places() == by_key  # the lasso turns nothing
    seen.keep("space")
    assert seen.clean(), (seen.errors, seen.outside)


def test_the_map_plays_the_steps_of_a_run(browser: Any, tmp_path: Path) -> None:
    run, model = toy_run(tmp_path / "run"), toy_model()
    load_weights(run.path / "model", model)
    chart = hl.EmbeddingMap(model, history=run)
    seen = opened(browser, tmp_path, chart)
    point, time_ = seen.page.locator(".hl-map .hl-point[data-group]").first, seen.page.get_by_label("training step")
    place = lambda: point.evaluate("e => e.style.transform")
    last, stops = place(), int(time_.get_attribute("max") or 0)
    assert chart.steps == list(range(0, 17, 2)) and stops in (8, 9) and seen.page.locator(".hl-track").count() == 2
    time_.focus()
    for _ in range(stops):
        seen.page.keyboard.press("ArrowLeft")
    assert time_.input_value() == "0" and place() != last and not seen.page.locator(".hl-track").count()
    seen.page.get_by_label("play training").click()
    seen.until(lambda: place() == last and seen.page.get_by_label("play training").count() == 1)
    seen.keep("steps")
    assert seen.clean(), (seen.errors, seen.outside)


def test_a_crowd_lets_the_page_scroll_shows_density_and_follows_the_theme(browser: Any, tmp_path: Path) -> None:
    inputs = Instances(torch.randn(6000, 8), ["a", "b"] * 3000, ["yes"] * 6000)
    chart = hl.EmbeddingMap(toy_model().eval(), instances=inputs)
    chart.choose({"what": "instances", "colour": "task"})
    seen, canvas = opened(browser, tmp_path, chart), ".hl-map .hl-plane canvas"
    still = seen.pixels(canvas)
    seen.page.locator(canvas).hover()
    seen.page.mouse.wheel(0, 200)
    seen.page.wait_for_timeout(300)
    assert seen.pixels(canvas) == still  # a wheel over a map that nobody uses scrolls the page
    seen.page.get_by_label("density instead of points").click()
    seen.until(lambda: seen.pixels(canvas) != still)
    seen.page.locator(canvas).focus()
    seen.page.keyboard.press("Enter")
    assert seen.page.locator(".hl-chosen").count() == 1
    seen.page.keyboard.press("l")
    seen.until(lambda: "points" in seen.page.locator(".hl-told").inner_text())
    drawn = seen.fact("map", "drawn")
    seen.page.emulate_media(color_scheme="dark")
    seen.until(lambda: seen.fact("map", "drawn") != drawn)
    seen.keep("density")
    assert seen.clean(), (seen.errors, seen.outside)


def test_a_saved_crowd_tells_its_texts_or_why_not(browser: Any, tmp_path: Path) -> None:
    texts = [f"the {i}th sentence" for i in range(6000)]
    inputs = lambda n: Instances(torch.randn(n, 8), ["a", "b"] * (n // 2), ["yes"] * n, texts[:n])
    shown = {"what": "instances", "colour": "task"}
    few, many = (hl.EmbeddingMap(toy_model().eval(), instances=inputs(n)) for n in (400, 6000))
    few.choose(shown)
    seen, canvas = opened(browser, tmp_path, few), ".hl-map .hl-plane canvas"
    assert (tmp_path / "panel.html").stat().st_size < 300_000
    seen.page.locator(canvas).focus()
    seen.page.keyboard.press("Enter")
    assert re.search(r"the \d+th sentence", seen.page.locator(".hl-told").inner_text())
    box, at = seen.page.locator(canvas).bounding_box(), seen.page.locator(".hl-chosen").bounding_box()
    seen.page.mouse.move(box["x"] + 3, box["y"] + 3)
    seen.page.mouse.move(at["x"] + at["width"] / 2, at["y"] + at["height"] / 2)
    assert re.search(r"the \d+th sentence", seen.page.locator(".hl-map .hl-tip").text_content() or "")
    many.choose(shown)
    crowd = opened(browser, tmp_path, many)
    crowd.page.locator(canvas).focus()
    crowd.page.keyboard.press("Enter")
    assert "keeps the texts of at most 5,000 points, and here are 6,000" in crowd.page.locator(".hl-told").inner_text()
    assert seen.clean() and crowd.clean(), (seen.errors, crowd.errors)


def test_a_slider_of_the_map_stays_under_the_hand(browser: Any, dashboard: str) -> None:
    seen = Watched(browser)
    seen.page.goto(dashboard, wait_until="commit")
    seen.page.wait_for_selector(".hl-map .hl-point")
    quiet_path(seen)
    layer, title = seen.page.get_by_label("layer", exact=True), seen.page.locator(".hl-map .hl-sub")
    last = int(layer.get_attribute("max") or 0)
    layer.scroll_into_view_if_needed()
    box = layer.bounding_box()
    y, at = box["y"] + box["height"] / 2, lambda step: box["x"] + 8 + (box["width"] - 16) * step / last
    seen.page.mouse.move(at(0), y)
    seen.page.mouse.down()
    for step in range(1, last + 1):
        before = title.text_content()
        seen.page.mouse.move(at(step), y, steps=4)
        seen.until(lambda before=before: title.text_content() != before)  # drawn while the button is down
    seen.page.mouse.up()
    assert layer.input_value() == str(last)
    for step in range(last - 1, 0, -1):
        before = title.text_content()
        seen.page.keyboard.press("ArrowLeft")
        seen.until(lambda before=before: title.text_content() != before)
        assert layer.input_value() == str(step) and layer.evaluate("e => e === document.activeElement")
    assert seen.clean(), (seen.errors, seen.outside)


RUNS = "window.ran = true"
IMAGE = f"<img src=x onerror='{RUNS}'>"
HOSTILE = f"<script>{RUNS}</script>", f"<!--<script>{RUNS}//", f"</script>{IMAGE}", f'"&{IMAGE}'


def test_names_and_texts_with_tags_are_shown_and_not_run(browser: Any, tmp_path: Path) -> None:
    model = hl.adapt(toy_backbone(dropout=0.0), "hyperformer++", HOSTILE, tokenizer=toy_tokenizer(), reduction_factor=4)
    board = hl.dashboard(model, tmp_path / "runs")
    toy_run(tmp_path / "runs" / IMAGE)
    runs, mixer = board.board, board.panels[2]
    mixer.asked = {"number": 1, "text": " ".join(HOSTILE)}
    mixer.answer = {**mixer.answer, "text": HOSTILE[1], "probabilities": [{"word": HOSTILE[2], "p": 0.7}]}
    runs.look()
    board.header.about = HOSTILE[0]
    (tmp_path / "report.html").write_text(board.report(), encoding="utf-8")
    seen = Watched(browser)
    seen.page.goto((tmp_path / "report.html").as_uri())
    seen.page.wait_for_selector(".hl-inspector canvas.hl-heat")
    seen.page.wait_for_timeout(300)
    assert seen.page.evaluate("window.ran") is None and not seen.page.locator("img").count()
    assert seen.page.locator(".hl-map .hl-point[data-group]").count() == len(HOSTILE)
    shown = seen.page.locator("body").inner_text()
    assert all(text in shown for text in HOSTILE[:3]) and IMAGE in shown
    assert seen.page.get_by_label("text for the model").input_value() == " ".join(HOSTILE)
    assert seen.clean(), (seen.errors, seen.outside)


def test_runs_are_filtered_and_seeds_make_a_band(browser: Any, tmp_path: Path) -> None:
    for method, seed in (("hyperformer++", 0), ("hyperformer++", 1), ("adapter-dagger", 0)):
        toy_run(tmp_path / "runs" / f"{method}-{seed}", method, seed=seed)
    seen = opened(browser, tmp_path, hl.RunBoard(tmp_path / "runs"))
    rows, curves = seen.page.locator(".hl-part-table tbody tr"), seen.page.locator(".hl-runs svg path[data-run]")
    assert rows.count() == curves.count() == 3
    names = {text.text_content() for text in seen.page.locator(".hl-runs svg text[data-name]").all()}
    assert names == {"hyperformer++-0", "hyperformer++-1", "adapter-dagger-0"}  # beside the lines, not only in colour
    ends = {shape.get_attribute("data-shape") for shape in seen.page.locator(".hl-runs td [data-shape]").all()}
    assert len(ends) == 2  # a shape for each method
    seen.page.get_by_label("curves", exact=True).select_option("mean")
    assert seen.page.locator(".hl-runs [data-band]").count() == 1  # two seeds of one method, one of the other
    seen.keep("runs", ".hl-runs")
    seen.page.get_by_label("filter runs").fill("dagger")
    seen.until(lambda: rows.count() == 1)
    seen.page.get_by_label("filter runs").fill("")
    seen.page.get_by_label("only this method").select_option("hyperformer++")
    seen.until(lambda: rows.count() == 2)
    assert seen.clean(), (seen.errors, seen.outside)
