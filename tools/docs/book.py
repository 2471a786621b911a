"""The sources of the site: notebooks and pages of the repository with their links turned to what the site holds."""

import json
import os
import re
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
from make_stubs import PACKAGES

PAGES = {"README.md": "index.md", "nbs/index.ipynb": "index.md", "RESULTS.md": "results.md", "nbs/results.ipynb": "results.md",
         "CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md"}  # fmt: skip
START = ["tour", "first_run", "first_run_eight", "results", "claims", "promises"]
HOWTO = ["gpus", "cluster", "own_data", "own_method", "export", "serve", "share"]
WORKBOOKS = ["train", "fewshot", "described", "continual", "tune", "reproduce", "paper_tables", "ablations",
             "lowresource", "embeddings", "data", "efficiency", "cluster", "pretrain", "dashboard"]  # fmt: skip
LINK = re.compile(r"(?<=\]\()(?!https?:|mailto:|#)([^)\s#]+)(#[^)\s]*)?(?=\))")
CODE = re.compile(r"(^```.*?^```$|`[^`\n]+`)", re.S | re.M)


class Book:
    "What is staged, and which files of the repository are linked from it."

    def __init__(self, folder: Path):
        self.folder, self.files = folder, set[str]()

    def place_of(self, path: str) -> str:
        "Where a file of the repository is found in the sources of the site."
        if path in PAGES:
            return PAGES[path]
        if path.startswith("nbs/"):
            return path.removeprefix("nbs/")
        self.files.add(path)
        return f"files/{path}.md"

    def turned(self, text: str, page: str) -> str:
        "The text of a page of the repository with links as they are on the site; a link to nothing is refused."

        def turn(found: re.Match[str]) -> str:
            path = os.path.normpath(os.path.join(os.path.dirname(page), found[1]))
            if not (ROOT / path).is_file():
                raise ValueError(f"{page} links to {found[1]}, which is not there")
            here = os.path.dirname(PAGES.get(page, page.removeprefix("nbs/")))
            return os.path.relpath(self.place_of(path), here or ".") + (found[2] or "")

        return outside_code(text, lambda prose: LINK.sub(turn, prose))

    def write(self, name: str, text: str) -> None:
        "A page of the sources."
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def add_notebook(self, path: Path) -> None:
        page = str(path.relative_to(ROOT))
        book = json.loads(path.read_text(encoding="utf-8"))
        book["metadata"] = {"language_info": {"name": "python", "pygments_lexer": "ipython3"}}
        book["cells"] = [cell for cell in (self.cell(cell, page) for cell in book["cells"]) if cell]
        self.write(self.place_of(page), json.dumps(book))

    def cell(self, cell: dict[str, Any], page: str) -> dict[str, Any] | None:
        "A cell as a reader wants it: without directives, and without those that only nbdev needs."
        text = "".join(cell["source"])
        if cell["cell_type"] != "code":
            return cell | {"source": self.turned(text, page)}
        directives = re.findall(r"^#\|\s*(\w+)", text, re.M)
        kept = "\n".join(line for line in text.splitlines() if not line.startswith("#|")).strip("\n")
        if "hide" in directives or not kept or "nbdev_export(" in kept:
            return None
        tags = cell["metadata"].get("tags", []) + (["hide-input"] if "readme" in directives else [])
        outputs = [self.output(output, page) for output in cell["outputs"]]
        return cell | {"source": kept, "outputs": outputs, "metadata": {"tags": sorted(set(tags))}}

    def output(self, output: dict[str, Any], page: str) -> dict[str, Any]:
        data = output.get("data", {})
        if "text/markdown" not in data:
            return output
        return output | {"data": {"text/markdown": self.turned("".join(data["text/markdown"]), page)}}

    def add_text(self, path: Path, more: str = "") -> None:
        page = str(path.relative_to(ROOT))
        self.write(self.place_of(page), self.turned(path.read_text(encoding="utf-8"), page) + more)

    def add_files(self) -> None:
        "A page for each file of the repository that some page links to."
        for name in sorted(self.files):
            kind = {".py": "python"}.get(Path(name).suffix, "text")
            text = (ROOT / name).read_text(encoding="utf-8")
            self.write(f"files/{name}.md", f"---\norphan: true\n---\n# {name}\n\n~~~~~~~~{kind}\n{text}\n~~~~~~~~\n")


def outside_code(text: str, change: Callable[[str], str]) -> str:
    "A text whose prose is changed and whose code is not."
    return "".join(part if i % 2 else change(part) for i, part in enumerate(CODE.split(text)))


def toctree(names: list[str], caption: str = "", hidden: bool = False) -> str:
    options = [f":caption: {caption}"] if caption else []
    options += [":hidden:"] if hidden else [":maxdepth: 1"]
    return "\n```{toctree}\n" + "\n".join([*options, "", *names]) + "\n```\n"


CONTENTS = (("Start", START), ("How to", [f"howto/{name}" for name in HOWTO]),
            ("Methods and papers", ["method/index", "paper_experiments", "gallery"]),
            ("The book", [f"book/{name}" for name in PACKAGES]), ("Workbooks", WORKBOOKS),
            ("Reference", ["api/index", "contributing", "changelog"]))  # fmt: skip


def stage_book(folder: Path) -> Book:
    "Every chapter, workbook and text of the repository, and the pages that give them their order."
    book = Book(folder)
    for path in sorted((ROOT / "nbs").rglob("*.ipynb")):
        if str(path.relative_to(ROOT)) not in PAGES and not {".ipynb_checkpoints", "runs", "_proc"} & set(path.parts):
            book.add_notebook(path)
    shutil.copytree(ROOT / "nbs" / "images", folder / "images", dirs_exist_ok=True)
    for name, about in PACKAGES.items():
        chapters = [f"/{name}/{path.stem}" for path in sorted((ROOT / "nbs" / name).glob("*.ipynb"))]
        book.write(f"book/{name}.md", f"# {name}\n\n{about} The names that it exports are in the [reference](../api/{name}.md).\n"
                   + toctree(chapters))  # fmt: skip
    book.add_text(ROOT / "README.md", "".join(toctree(names, caption, hidden=True) for caption, names in CONTENTS))
    texts = [ROOT / f"{name}.md" for name in ("RESULTS", "CONTRIBUTING", "CHANGELOG")]
    for path in (*texts, *sorted((ROOT / "nbs" / "howto").glob("*.md"))):
        book.add_text(path)
    return book
