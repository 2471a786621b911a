"""Describe a task in a real browser: an answer that differs from the plain model's, tuning, keeping, undo; bad input is a line."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from served_pages import Watched, voila

pytestmark = pytest.mark.slow
DESCRIPTION = "Is this sentence about recipes written without mistakes? Reply big if it is and small if not."
SAID = "sentence: the cook is making a soup"
LINES = [f"sentence: the cook {verb} the soup => {answer}" for verb, answer in [("makes", "big"), ("make", "small")] * 3]


@pytest.fixture(scope="module")
def dashboard(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with voila(tmp_path_factory.mktemp("voila"), HYPERLAB_SOURCE="nano") as address:
        yield address


def opened(browser: Any, address: str, **options: Any) -> Watched:
    seen = Watched(browser, **options)
    seen.page.goto(address, wait_until="commit")
    seen.page.wait_for_selector("#rendered_cells .hl-writer .hl-presets button")
    seen.page.wait_for_selector("#first-screen", state="detached")
    return seen


def line_of(seen: Watched) -> str:
    return seen.page.locator(".hl-writer .hl-status").text_content() or ""


def test_a_description_is_answered_tuned_kept_and_taken_away(browser: Any, dashboard: str) -> None:
    seen = opened(browser, dashboard, width=1400)
    seen.page.locator(".hl-writer .hl-presets button").first.click()  # the first click shows something
    seen.until(lambda: len(json.loads(seen.fact("writer", "answers") or "[]")) == 3)
    adapter, text = seen.pixels(".hl-writer canvas.hl-heat"), seen.page.get_by_label("text to be answered")
    answered = seen.fact("writer", "answers")
    text.fill(SAID)
    seen.until(lambda: seen.fact("writer", "answers") != answered)
    seen.page.get_by_label("what the task asks").fill(DESCRIPTION)
    seen.page.get_by_role("button", name="Write the adapter").click()
    seen.until(lambda: seen.pixels(".hl-writer canvas.hl-heat") != adapter)
    by_words, _, plain = json.loads(seen.fact("writer", "answers") or "")
    assert by_words in ("big", "small") and plain != by_words, (by_words, plain)
    assert seen.page.locator(".hl-writer .hl-plane svg").get_attribute("data-here")
    first = seen.page.locator(".hl-writer .hl-near .hl-bar.hl-first").first.text_content() or ""
    assert "many-" in first

    seen.page.get_by_label("examples, text => answer").fill("\n".join(LINES))
    seen.page.get_by_role("button", name="Tune on the examples").click()
    seen.page.wait_for_selector(".hl-writer .hl-working progress[value]")  # it says how far it is
    seen.until(lambda: bool(seen.fact("writer", "tuned")))
    assert seen.fact("writer", "right") is not None and "/6" in str(seen.fact("writer", "right"))

    seen.page.get_by_label("name of the described task").fill("recipes")
    seen.page.keyboard.press("Enter")
    seen.page.wait_for_selector(".hl-map .hl-point[aria-label^='recipes']")
    seen.until(lambda: "recipes" in (seen.page.locator(".hl-inspector .hl-sub").text_content() or ""))
    assert seen.page.locator(".hl-mixer .hl-sliders").get_by_label("weight of recipes").count()
    assert seen.page.locator(".hl-header select").input_value() == "nano-described"
    seen.keep("writer-kept")
    seen.page.get_by_role("button", name="take recipes away").click()
    seen.page.wait_for_selector(".hl-map .hl-point[aria-label^='recipes']", state="detached")
    seen.until(lambda: not seen.page.locator(".hl-mixer .hl-sliders").get_by_label("weight of recipes").count())
    assert seen.clean(), (seen.errors, seen.outside)


def test_bad_input_is_a_line_on_a_narrow_dark_screen(browser: Any, dashboard: str, tmp_path: Path) -> None:
    seen = opened(browser, dashboard, width=400, color_scheme="dark")
    presets = seen.page.locator(".hl-writer .hl-presets button")
    presets.nth(1).focus()
    seen.page.keyboard.press("Enter")
    seen.until(lambda: len(json.loads(seen.fact("writer", "answers") or "[]")) == 3)
    answers, description = seen.fact("writer", "answers"), seen.page.get_by_label("what the task asks")
    broken = tmp_path / "broken.csv"
    broken.write_bytes(b"\xff\xfe\x00\x01")
    refused = {" ": "received an empty text", "word " * 10_000: "at most 256 tokens", "ꯃꯅꯤꯄꯨꯔꯤ ꯂꯣꯜ ꯑꯁꯤ": "the encoder knows 0 of"}
    for typed, said in refused.items():
        description.fill(typed)
        seen.page.get_by_role("button", name="Write the adapter").click()
        seen.until(lambda said=said: said in line_of(seen))
        assert seen.fact("writer", "answers") == answers and description.input_value() == typed
    presets.nth(1).click()
    seen.until(lambda: not line_of(seen))
    seen.page.get_by_label("examples, text => answer").fill("no arrow here")
    seen.page.get_by_role("button", name="Tune on the examples").click()
    seen.until(lambda: "line 1 of the examples: expected 'text => answer'" in line_of(seen))
    seen.page.locator(".hl-writer input[type=file]").set_input_files(str(broken))
    seen.until(lambda: "broken.csv can't be read as csv" in line_of(seen))
    good = tmp_path / "good.tsv"
    good.write_text("text\tanswer\nsentence: the soup is hot\tbig\nsentence: the soup are hot\tsmall\n")
    seen.page.locator(".hl-writer input[type=file]").set_input_files(str(good))
    seen.until(lambda: (seen.fact("writer", "right") or "").endswith("/2"))
    wide = seen.page.evaluate("document.documentElement.scrollWidth")
    assert wide <= 404, f"a narrow screen must not scroll sideways, the page is {wide} pixels wide"
    seen.keep("writer-narrow", ".hl-writer")
    assert seen.clean(), (seen.errors, seen.outside)
