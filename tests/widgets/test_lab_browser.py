"""Run All in JupyterLab: maps that are off screen when they are made, a click, a slider under a real mouse, a board of runs."""

import shutil
from collections.abc import Iterator
from typing import Any

import nbformat
import pytest
from served_pages import PATIENCE, ROOT, Watched, jupyterlab, run_all_cells
from toy_runs import toy_run

pytestmark = pytest.mark.slow
BOARD = """import hyperlab as hl
hl.RunBoard("runs")"""
DONE = "window.jupyterapp.shell.currentWidget.content.model.cells"


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("lab")
    for name in ("embeddings", "index"):
        shutil.copy(ROOT / "nbs" / f"{name}.ipynb", folder)
    cells = [nbformat.v4.new_code_cell(BOARD)]
    kernel = {"kernelspec": {"name": "python3", "display_name": "python3", "language": "python"}}
    nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata=kernel), folder / "board.ipynb")
    for method in ("hyperformer++", "adapter-dagger"):
        toy_run(folder / "runs" / method, method)
    with jupyterlab(folder) as address:
        yield address


def run_notebook(browser: Any, address: str, name: str) -> Watched:
    "Open a notebook, run all its cells, and wait until the last one is done; none may have failed."
    seen = Watched(browser)
    seen.page.goto(f"{address}/lab/workspaces/{name}/tree/{name}.ipynb", wait_until="commit")
    seen.page.wait_for_function("window.jupyterapp !== undefined")
    seen.page.wait_for_selector(".jp-Notebook .jp-Cell")
    run_all_cells(seen)
    ran = f"[...{DONE}].filter((c) => c.type === 'code').every((c) => !c.sharedModel.getSource() || c.executionCount)"
    seen.page.wait_for_function(ran, timeout=PATIENCE)
    failed = f"[...{DONE}].flatMap((c) => c.type === 'code' ? c.outputs.toJSON() : []).filter((o) => o.output_type === 'error')"
    assert not seen.page.evaluate(failed)
    return seen


def test_maps_that_were_off_screen_are_there_follow_a_click_and_a_dragged_slider(browser: Any, lab: str) -> None:
    seen = run_notebook(browser, lab, "embeddings")
    assert seen.clean(), (seen.errors, seen.outside)  # nothing was thrown while the maps were off screen
    chart = seen.page.locator(".hl-map").first
    seen.page.evaluate("window.jupyterapp.shell.currentWidget.content.scrollToItem(5)")
    chart.locator(".hl-point[data-group]").first.wait_for()
    chart.scroll_into_view_if_needed()
    assert chart.locator(".hl-point[data-group]").count() == 8
    chart.locator(".hl-point[data-group]").nth(3).click()
    seen.until(lambda: chart.locator(".hl-nearest li").count() == 7)
    layer, title = chart.get_by_label("layer", exact=True), chart.locator(".hl-sub")
    layer.scroll_into_view_if_needed()
    before, box, last = title.text_content(), layer.bounding_box(), int(layer.get_attribute("max") or 0)
    y = box["y"] + box["height"] / 2
    seen.page.mouse.move(box["x"] + 8, y)
    seen.page.mouse.down()
    seen.page.mouse.move(box["x"] + box["width"] / 2, y, steps=4)
    seen.until(lambda: title.text_content() != before)  # drawn while the button is down
    middle = title.text_content()
    seen.page.mouse.move(box["x"] + box["width"] - 8, y, steps=4)
    seen.until(lambda: title.text_content() != middle)
    seen.page.mouse.up()
    assert layer.input_value() == str(last)
    seen.keep("lab-map", ".hl-map")
    assert seen.clean(), (seen.errors, seen.outside)


def test_the_board_of_runs_and_the_index_run_whole(browser: Any, lab: str) -> None:
    seen = run_notebook(browser, lab, "board")
    board = seen.page.locator(".hl-runs")
    board.locator("tbody tr[data-run]").first.wait_for()
    assert board.locator(".hl-part-table tbody tr").count() == 2
    board.get_by_role("button", name="adapter-dagger", exact=True).click()
    board.locator(".hl-part-one tr[data-verdict]").first.wait_for()
    seen.keep("lab-board", ".hl-runs")
    index = run_notebook(browser, lab, "index")
    assert seen.clean() and index.clean(), (seen.errors, index.errors, seen.outside, index.outside)
