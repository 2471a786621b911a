"""Write README.md from nbs/index.ipynb and RESULTS.md from nbs/results.ipynb, or with --check say whether one is stale."""

import contextlib
import io
import re
import sys
from pathlib import Path

import nbformat

ROOT = Path(__file__).resolve().parents[1]
PAGES = {"index": "README.md", "results": "RESULTS.md"}  # notebook -> page


def printed_by(source: str) -> str:
    "What a cell prints; it needs the package and nothing from other cells."
    page = io.StringIO()
    with contextlib.redirect_stdout(page):
        exec(source, {"hl": __import__("hyperlab")})
    return page.getvalue().strip()


def from_the_top(text: str) -> str:
    "Links as they are seen from the top; a notebook and what it prints see them from nbs/."
    return re.sub(r"\]\((\.\./)?(?!https?:|#)([^)]+)\)", lambda m: f"]({'' if m[1] else 'nbs/'}{m[2]})", text)


def as_markdown(cell: nbformat.NotebookNode) -> str:
    "A cell as it reads on the page: hidden ones are left out; `#| readme` gives what it prints, `#| shown` code and output."
    if cell.cell_type == "markdown":
        return from_the_top(cell.source)
    lines = cell.source.splitlines()
    if cell.cell_type != "code" or "#| hide" in lines:
        return ""
    if "#| readme" in lines:
        return from_the_top(printed_by(cell.source))
    if "#| shown" in lines:
        code = [line for line in lines if line != "#| shown"]
        return "\n".join(["```python", *code, "```", "", "```text", printed_by(cell.source), "```"])
    return "\n".join(["```python", *lines, "```"])


def page(notebook: str) -> str:
    "The page that a notebook makes."
    cells = map(as_markdown, nbformat.read(ROOT / "nbs" / f"{notebook}.ipynb", as_version=4).cells)
    return "\n\n".join(text for text in cells if text.strip()) + "\n"


def main() -> int:
    stale = 0
    for notebook, name in PAGES.items():
        path, text = ROOT / name, page(notebook)
        if "--check" not in sys.argv:
            path.write_text(text, encoding="utf-8")
        elif path.is_file() and path.read_text(encoding="utf-8") == text:
            print(f"{name} is in step with nbs/{notebook}.ipynb")
        else:
            print(f"{name} is stale: run `make export` and commit it")
            stale = 1
    return stale


if __name__ == "__main__":
    sys.exit(main())
