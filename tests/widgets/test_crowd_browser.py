"""The live page of a model with sixty-four tasks: names that can be read, tasks that can be found, layouts that freeze nothing."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from served_pages import Watched, grave_findings, voila
from toy_runs import toy_run

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def dashboard(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("voila")
    for method in ("hyperformer++", "adapter-dagger"):
        toy_run(folder / "runs" / method, method)
    with voila(folder, HYPERLAB_SOURCE="nano-described", HYPERLAB_RUNS=str(folder / "runs")) as address:
        yield address


@pytest.fixture
def visit(browser: Any, dashboard: str) -> Iterator[Callable[..., Watched]]:
    "Opens the page and waits until all its panels are drawn; it is closed after the test, and its kernel with it."
    visited: list[Watched] = []

    def opened(**options: Any) -> Watched:
        visited.append(seen := Watched(browser, **options))
        seen.page.goto(dashboard, wait_until="commit")
        seen.page.wait_for_selector(".hl-inspector canvas.hl-heat")
        seen.page.wait_for_selector(".hl-methods [data-point]")
        seen.page.wait_for_selector("#first-screen", state="detached")
        return seen

    yield opened
    for seen in visited:
        seen.page.close(run_before_unload=True)


def names_on_the_map(seen: Watched) -> list[dict[str, Any]]:
    "The names beside points, with their boxes."
    texts = seen.page.locator(".hl-map .hl-plane > svg > g:last-of-type text:not(.hl-title)")
    box = "(e) => { const b = e.getBoundingClientRect(); return { name: e.textContent, x: b.x, y: b.y, w: b.width, h: b.height }; }"
    found: list[dict[str, Any]] = texts.evaluate_all(f"all => all.map({box})")
    return found


def overlapping(boxes: list[dict[str, Any]]) -> list[tuple[str, str]]:
    apart = lambda a, b: a["x"] + a["w"] <= b["x"] + 1 or a["y"] + a["h"] <= b["y"] + 1
    pairs = [(a, b) for i, a in enumerate(boxes) for b in boxes[:i]]
    return [(a["name"], b["name"]) for a, b in pairs if not apart(a, b) and not apart(b, a)]


@pytest.mark.parametrize("width", [1400, 400])
def test_names_are_few_until_somebody_asks_for_them(visit: Callable[..., Watched], width: int) -> None:
    seen = visit(width=width)
    rest = names_on_the_map(seen)
    assert seen.page.locator(".hl-map .hl-point[data-group]").count() == 64
    assert 1 <= len(rest) <= 3 and not overlapping(rest) and not any("many-" in one["name"] for one in rest), rest
    point = seen.page.locator(".hl-map .hl-point[data-group]").nth(20)
    name = (point.get_attribute("aria-label") or "").split(",")[0].removeprefix("many-")
    point.focus()
    seen.page.keyboard.press("Enter")
    close = {name, "you are here", *seen.page.locator(".hl-told .hl-nearest button").all_text_contents()}
    named = lambda: {one["name"] for one in names_on_the_map(seen)}
    seen.until(lambda: name in named() <= close)  # itself and its neighbours
    assert len(close) == 10 and len(named()) > (2 if width > 1000 else 1), named()
    assert not overlapping(names_on_the_map(seen)), names_on_the_map(seen)
    seen.page.keyboard.press("Escape")
    for _ in range(5):
        seen.page.get_by_label("zoom in", exact=True).click()
    seen.until(lambda: len(names_on_the_map(seen)) >= 1)
    assert not overlapping(names_on_the_map(seen))
    seen.keep(f"crowd-map-{width}", ".hl-map")
    assert seen.clean(), (seen.errors, seen.outside)


@pytest.mark.parametrize("width", [1400, 400])
def test_a_task_is_found_by_a_word_and_added(visit: Callable[..., Watched], width: int) -> None:
    seen = visit(width=width)
    rows = seen.page.locator(".hl-mixer .hl-slide > :first-child")
    assert rows.count() == 2 and not any("many-" in text for text in rows.all_text_contents())
    narrow = seen.page.locator(".hl-mixer .hl-sliders input").evaluate_all("all => Math.min(...all.map((e) => e.clientWidth))")
    assert narrow >= 150, f"long names leave room for the sliders: {narrow} pixels"
    seen.page.get_by_text("Add one of 62 more tasks").click()
    found = seen.page.locator(".hl-mixer .hl-adder button")
    assert found.count() == 62 and seen.page.locator(".hl-mixer .hl-adder h4").count() >= 5  # in families
    find = seen.page.get_by_label("find a task to add")
    find.fill("food  number")
    seen.until(lambda: 0 < found.count() < 10)
    assert all("number" in text and "food" in text for text in found.all_text_contents())
    first = found.first.get_attribute("title") or ""
    seen.keep(f"crowd-mixer-{width}", ".hl-mixer")
    find.press("Enter")
    thumb = seen.page.get_by_label(f"weight of {first}")
    assert thumb.evaluate("e => e === document.activeElement") and find.input_value() == "food  number"
    answer = seen.fact("mixer", "norm")
    for _ in range(4):
        seen.page.keyboard.press("ArrowRight")
    seen.until(lambda: seen.fact("mixer", "norm") != answer)
    assert rows.count() == 3 and first not in [b.get_attribute("title") for b in found.all()]
    seen.page.get_by_text("Texts to try").click()
    read = seen.page.locator(".hl-mixer details:not(.hl-adder) h4")  # those of the mixture come first
    seen.until(lambda: first.removeprefix("many-") in "".join(read.all_text_contents()[2:3]))
    assert seen.clean(), (seen.errors, seen.outside)


def test_a_layout_by_umap_leaves_the_page_alive_and_can_be_stopped(visit: Callable[..., Watched]) -> None:
    seen = visit(width=1400)
    radio = lambda name: seen.page.locator(".hl-map").get_by_role("radio", name=name)
    umap, title = radio("UMAP"), seen.page.locator(".hl-map .hl-sub")
    work, thumb = seen.page.locator(".hl-map .hl-working"), seen.page.locator(".hl-mixer .hl-sliders input").first
    points = seen.page.locator(".hl-map .hl-point[data-group]")
    places = lambda: points.evaluate_all("all => all.map((e) => e.style.transform).join()")
    assert umap.is_enabled()
    before = places()
    seen.page.locator(".hl-map .hl-segments span", has_text="UMAP").click()
    work.wait_for()
    assert "UMAP of 64 points" in work.inner_text()
    norm = seen.fact("mixer", "norm")
    thumb.focus()
    seen.page.keyboard.press("ArrowRight")
    seen.until(lambda: seen.fact("mixer", "norm") != norm)  # answered in between
    assert work.is_visible() and places() == before
    work.get_by_role("button", name="Stop").click()
    seen.until(lambda: work.is_hidden() and radio("PCA").is_checked())
    assert "PCA" in (title.text_content() or "") and places() == before
    seen.page.locator(".hl-map .hl-segments span", has_text="UMAP").click()
    seen.until(lambda: "UMAP" in (title.text_content() or ""))
    seen.until(lambda: places() != before and work.is_hidden())
    assert umap.is_checked()
    seen.keep("crowd-umap", ".hl-map")
    assert seen.clean(), (seen.errors, seen.outside)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious_with_everything_open(visit: Callable[..., Watched], scheme: str) -> None:
    seen = visit(width=1400, color_scheme=scheme)
    seen.page.locator(".hl-map").get_by_role("button", name="More", exact=True).click()
    seen.page.locator(".hl-map .hl-point[data-group]").nth(5).focus()
    seen.page.keyboard.press("Enter")
    seen.page.locator(".hl-writer .hl-presets button").first.click()
    seen.page.wait_for_selector(".hl-writer .hl-near .hl-bar.hl-first")
    seen.page.get_by_role("button", name="Hold this mixture as B").click()
    seen.page.get_by_role("button", name="adapter-dagger", exact=True).click()
    seen.page.wait_for_selector(".hl-part-one tr[data-verdict]")
    seen.page.locator(".hl-methods [data-point]").first.press("Enter")
    seen.page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
    seen.page.wait_for_selector(".hl-mixer .hl-examples h4")
    seen.until(lambda: not seen.page.locator(".hl-working:visible").count())
    found = grave_findings(seen)
    seen.keep(f"crowd-{scheme}")
    assert not found, "\n".join(found)
    assert seen.clean(), (seen.errors, seen.outside)
