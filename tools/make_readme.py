"""Write README.md from nbs/index.ipynb, or with --check say whether it is stale."""

import contextlib
import io
import re
import sys
from pathlib import Path

import nbformat

ROOT = Path(__file__).resolve().parents[1]
INDEX, README = ROOT / "nbs" / "index.ipynb", ROOT / "README.md"


def printed_by(source: str) -> str:
    "What a cell prints; it needs the package and nothing from other cells."
    page = io.StringIO()
    with contextlib.redirect_stdout(page):
        exec(source, {"hl": __import__("hyperlab")})
    return page.getvalue().strip()


def as_markdown(cell: nbformat.NotebookNode) -> str:
    "A cell as it reads on the page: hidden ones are left out, and one marked `#| readme` gives what it prints."
    if cell.cell_type == "markdown":  # links are seen from nbs/ there and from the top here
        return re.sub(r"\]\((\.\./)?(?!https?:|#)([^)]+)\)", lambda m: f"]({'' if m[1] else 'nbs/'}{m[2]})", cell.source)
    lines = cell.source.splitlines()
    if cell.cell_type != "code" or "#| hide" in lines:
        return ""
    if "#| readme" in lines:
        return printed_by(cell.source)
    return "\n".join(["```python", *lines, "```"])


def readme() -> str:
    "The page."
    cells = map(as_markdown, nbformat.read(INDEX, as_version=4).cells)
    return "\n\n".join(text for text in cells if text.strip()) + "\n"


def main() -> int:
    if "--check" not in sys.argv:
        README.write_text(readme(), encoding="utf-8")
        return 0
    fresh = README.read_text(encoding="utf-8") == readme()
    print("README.md is in step with nbs/index.ipynb" if fresh else "README.md is stale: run `make export` and commit it")
    return not fresh


if __name__ == "__main__":
    sys.exit(main())
