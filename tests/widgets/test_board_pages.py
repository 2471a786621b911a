"""Run board, methods and the whole dashboard in a real browser: values under the pointer, copying, live runs, and axe-core."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import pytest
from served_pages import Watched, grave_findings, voila
from toy_runs import forked, toy_model, toy_run

import hyperlab as hl
from hyperlab.exchange.to_peft import site_updates
from hyperlab.experiments.shipped_results import method_table
from hyperlab.widgets.panel import page

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs")
    for method, seed in (("hyperformer++", 0), ("adapter-dagger", 0), ("adapter-dagger", 1)):
        toy_run(folder / f"{method}-{seed}", method, seed=seed)
    return folder


def shown(browser: Any, place: Path, html: str, width: int = 1280, **options: Any) -> Watched:
    "A saved page in a browser."
    (place / "page.html").write_text(html, encoding="utf-8")
    seen = Watched(browser, width=width, **options)
    seen.page.goto((place / "page.html").as_uri())
    seen.page.wait_for_timeout(400)
    return seen


def test_lines_have_names_and_values_without_colour(browser: Any, runs: Path, tmp_path: Path) -> None:
    board = hl.RunBoard(runs)
    board.open_run("adapter-dagger-0")
    seen = shown(browser, tmp_path, page("runs", [board]))
    chart = seen.page.locator(".hl-part-curves .hl-chart-box")
    names = {text.text_content() for text in chart.locator("text[data-name]").all()}
    assert names == {row["run"] for row in board.rows}
    chart.focus()
    seen.page.keyboard.press("End")
    said = chart.locator("[role=status]").text_content() or ""
    assert "update 16" in said and all(name in said for name in names)
    last = board.curves["adapter-dagger-1"]["loss"][-1][1]
    assert f"adapter-dagger-1 {float(f'{last:.3g}'):g}" in said
    box = chart.bounding_box()
    seen.page.mouse.move(box["x"] + 60, box["y"] + 50)
    seen.until(lambda: "update 2" in (chart.locator(".hl-tip").text_content() or ""))
    rows = seen.page.locator(".hl-part-one tr[data-verdict]")
    assert rows.count() == min(25, board.opened["answers"]["total"])
    seen.keep("board", ".hl-runs")
    assert seen.clean(), (seen.errors, seen.outside)


def test_a_narrow_board_scrolls_nowhere(browser: Any, runs: Path, tmp_path: Path) -> None:
    board, methods = hl.RunBoard(runs), hl.MethodsPanel(["lora", "hyperformer++", "full"])
    methods.finish()
    board.open_run("adapter-dagger-0")
    seen = shown(browser, tmp_path, page("narrow", [board, methods]), 400)
    assert seen.page.evaluate("document.documentElement.scrollWidth") <= 402
    assert seen.page.locator(".hl-part-table thead th").count() == 3  # run, updates, score; the rest on demand
    seen.page.get_by_role("button", name="All columns").click()
    assert seen.page.locator(".hl-part-table thead th").count() > 8
    assert seen.page.evaluate("document.documentElement.scrollWidth") <= 402


def test_a_page_follows_a_run_without_a_click(browser: Any, tmp_path: Path) -> None:
    folder = tmp_path / "runs"
    child = forked(lambda: toy_run(folder / "live", steps=1_000_000, eval_every=500_000, save_every=None, log_every=1))
    try:
        with voila(tmp_path, HYPERLAB_SOURCE="toy", HYPERLAB_RUNS=str(folder)) as address:
            seen = Watched(browser)
            seen.page.goto(address, wait_until="commit")
            row = seen.page.locator("tr[data-run=live]")
            row.wait_for()
            line = seen.page.locator(".hl-part-curves path[data-run=live]")
            line.wait_for()
            before, drawn = row.text_content(), line.get_attribute("d")
            seen.until(lambda: row.text_content() != before and line.get_attribute("d") != drawn)
            assert row.get_attribute("data-state") == "running" and seen.clean(), (seen.errors, seen.outside)
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


@pytest.mark.parametrize("name", hl.available_methods())
def test_abilities_are_what_the_model_does(name: str) -> None:
    small = {"hypergrid": {"columns": 32}} | dict.fromkeys(("compacter", "compacter++", "phm-adapter"), {"reduction_factor": 8})
    model = hl.adapt(hl.nano.toy.toy_backbone(), name, ["a", "b"], **small.get(name, {}))
    panel = hl.MethodsPanel([name])
    panel.finish()
    can = panel.methods[0]["can"]
    assert ("mixes" in can) == model.weights_follow_task
    try:
        exact = bool(site_updates(model.materialize("a")))
    except (ValueError, NotImplementedError):
        exact = False
    assert ("peft" in can) == exact


def test_the_frontier_and_the_line_to_copy(browser: Any, tmp_path: Path) -> None:
    table = method_table()
    table = table[table["backbone"] == "nano"].set_index("method")
    panel = hl.MethodsPanel()
    panel.finish()
    panel.asked = {"number": 1, "shown": {"open": "hyper-lora"}}
    seen = shown(browser, tmp_path, page("methods", [panel]), permissions=["clipboard-read", "clipboard-write"])
    points = {p.get_attribute("data-point"): p.get_attribute("data-front") for p in seen.page.locator("[data-point]").all()}
    assert set(points) == set(table.index)
    better = lambda a, b: table.score[a] >= table.score[b] and table.trained[a] <= table.trained[b] and a != b
    assert {n for n, front in points.items() if front is not None} == {n for n in points if not any(better(m, n) for m in points)}
    without = seen.page.get_by_role("button", name="HyperLoRA", exact=True)
    assert without.count() == 1 and "Without a measured score" in seen.page.locator(".hl-methods").inner_text()
    seen.page.get_by_role("button", name="Copy", exact=True).click()
    copied = seen.page.evaluate("navigator.clipboard.readText()")
    assert copied == seen.page.locator(".hl-card pre").inner_text() and 'hl.adapt("google/flan-t5-base", "hyper-lora"' in copied
    seen.page.get_by_label("exports exactly to PEFT").check()
    assert not seen.page.locator("[data-point]").count()  # none of those has been scored
    seen.keep("methods", ".hl-methods")
    assert seen.clean(), (seen.errors, seen.outside)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious(browser: Any, runs: Path, tmp_path: Path, scheme: Any) -> None:
    board = hl.dashboard(toy_model().eval(), runs, examples=8)
    board.board.open_run("adapter-dagger-0")
    board.board.compare("adapter-dagger-0", "hyperformer++-0")
    board.methods.finish()
    board.methods.asked = {"number": 1, "shown": {"open": "full"}}
    seen = shown(browser, tmp_path, board.report(), color_scheme=scheme)
    seen.page.wait_for_selector(".hl-inspector canvas.hl-heat")
    found = grave_findings(seen)
    assert not found, "\n".join(found)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious_on_the_live_page(browser: Any, runs: Path, tmp_path: Path, scheme: Any) -> None:
    with voila(tmp_path, HYPERLAB_SOURCE="toy", HYPERLAB_RUNS=str(runs)) as address:
        seen = Watched(browser, color_scheme=scheme)
        seen.page.goto(address, wait_until="commit")
        seen.page.wait_for_selector(".hl-inspector canvas.hl-heat")
        seen.page.wait_for_selector(".hl-methods [data-point]")
        seen.page.get_by_role("button", name="adapter-dagger-0", exact=True).click()
        seen.page.wait_for_selector(".hl-part-one tr[data-verdict]")
        found = grave_findings(seen)
        seen.keep(f"live-{scheme}")
        assert not found, "\n".join(found)
        seen.page.keyboard.press("Tab")
        ring = "getComputedStyle(document.activeElement).outlineStyle"
        assert seen.page.evaluate(ring) != "none", "the focus can be seen"


def test_the_dark_switch_repaints_what_is_there(browser: Any, tmp_path: Path) -> None:
    inspector = hl.AdapterInspector(toy_model().eval())
    seen = shown(browser, tmp_path, page("inspector", [inspector]), color_scheme="light")
    canvas = ".hl-inspector canvas.hl-heat"
    light = seen.pixels(canvas)
    seen.page.emulate_media(color_scheme="dark")
    seen.until(lambda: seen.pixels(canvas) != light)


def test_a_report_says_when_from_what_and_how(runs: Path) -> None:
    board = hl.dashboard("nano", runs, examples=8)
    facts, saved = board.facts(), board.report()
    assert facts["hyperlab"] == hl.__version__ and facts["saved"][:2] == "20"
    assert facts["run"] == "nano" and facts["runs"] == str(runs)
    assert "seed=0" in facts["training"] and "steps=1200" in facts["training"] and "reduction_factor=8" in facts["options"]
    assert all(f"<dt>{name}</dt>" in saved for name in facts)
