"""Saved panels of the shipped model, one file each as the panels write them, and a page that shows them."""

from pathlib import Path

from book import Book

import hyperlab as hl
from hyperlab.core.files import asset
from hyperlab.widgets.panel import Panel, page


def panels() -> dict[str, tuple[Panel, str]]:
    "Name -> (panel, what it shows)."
    model = hl.load("nano")
    mixer, inspector, writer = hl.TaskMixer(model), hl.AdapterInspector(model), hl.TaskWriter("nano-described")
    writer.asked = {"number": 1, "preset": 0}  # its features are stored: no encoder is needed
    return {"map": (hl.EmbeddingMap(model), "Tasks as points, by what their embeddings have in common."),
            "mixer": (mixer, "Sliders that mix tasks, and what the model answers."),
            "writer": (writer, "A task in words: where it lies, the adapter that is written, and its answers."),
            "inspector": (inspector, "The adapter that is written, weight by weight."),
            "runs": (hl.RunBoard(asset("nano", "run").parent), "Runs side by side: scores, costs, curves.")}  # fmt: skip


def stage_gallery(book: Book, extra: Path) -> None:
    "The saved pages go into `extra`, which the site copies as it is."
    folder = extra / "panels"
    folder.mkdir(parents=True, exist_ok=True)
    parts = ["# Gallery\n\nPanels of the shipped model, saved: each is one HTML file that needs neither kernel nor network. "
             "`make dashboard` shows them live."]  # fmt: skip
    for name, (panel, about) in panels().items():
        (folder / f"{name}.html").write_text(page(f"hyperlab, {name}", [panel], about), encoding="utf-8")
        frame = f'<iframe class="hl-panel" loading="lazy" src="panels/{name}.html" title="{name}"></iframe>'
        alone = f'<a href="panels/{name}.html">by itself</a>'
        parts.append(f"## {name.capitalize()}\n\n{about}\n\n<p>{alone}</p>\n\n{frame}")
    book.write("gallery.md", "\n\n".join(parts) + "\n")
