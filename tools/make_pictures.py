"""Draw the figures of the page from what the package ships. Needs Chrome or Chromium, which draws them.

    python tools/make_pictures.py

The record of the first run is made from the folder of one: hyperlab.experiments.side_by_side.write_record.

Pictures of the panels come from the browser tests: HYPERLAB_SCREENSHOTS=folder python -m pytest tests/widgets/test_browser.py
"""

import shutil
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import plotly.io as pio
from playwright.sync_api import sync_playwright

import hyperlab as hl
from hyperlab.experiments.shipped_results import score_picture
from hyperlab.experiments.side_by_side import first_run_figures
from hyperlab.nano.settings import nano_adapted
from hyperlab.experiments.shipped_results import nano_fits

FOLDER = Path(__file__).resolve().parents[1] / "nbs" / "images"
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def drawn(page: Any, figure: Any, width: int, height: int) -> str:
    "A figure as SVG, as plotly draws it in a browser."
    page.set_content(pio.to_html(figure, include_plotlyjs=True, full_html=True))
    how = {"format": "svg", "width": width, "height": height}
    found = page.evaluate("how => Plotly.toImage(document.querySelector('.js-plotly-plot'), how)", how)
    return unquote(found.partition(",")[2])


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    path = next((found for name in BROWSERS if (found := shutil.which(name))), None)
    if path is None:
        raise SystemExit("expected Chrome or Chromium on the path, found none: apt-get install chromium")
    before, after = hl.task_view(nano_adapted("hyperformer++")), hl.task_view(hl.load("nano"))
    pictures = {"task_map": (hl.analysis.task_map(before, after), 1100, 460), "nano_scores": (score_picture(), 1000, 420),
                "fewshot": (hl.experiments.shot_curves(nano_fits()), 1200, 620)}  # fmt: skip
    sizes = {"curves": (900, 400), "scores": (900, 400), "map": (1200, 420)}
    pictures |= {f"first_run_{name}": (figure, *sizes[name]) for name, figure in first_run_figures().items()}
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=path, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1200, "height": 600})
        for name, (figure, width, height) in pictures.items():
            (FOLDER / f"{name}.svg").write_text(drawn(page, figure, width, height), encoding="utf-8")
        browser.close()


if __name__ == "__main__":
    main()
