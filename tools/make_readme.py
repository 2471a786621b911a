"""Write README.md from nbs/index.ipynb, or with --check say whether it is stale."""

import sys
from pathlib import Path

import nbformat

ROOT = Path(__file__).resolve().parents[1]
INDEX, README = ROOT / "nbs" / "index.ipynb", ROOT / "README.md"


def as_markdown(cell: nbformat.NotebookNode) -> str:
    "A cell as it reads on a page; cells marked `#| hide` are left out."
    if cell.cell_type == "markdown":
        return cell.source.replace("](../docs/", "](docs/").replace('src="../docs/', 'src="docs/')
    lines = cell.source.splitlines()
    if cell.cell_type != "code" or "#| hide" in lines:
        return ""
    return "\n".join(["```python", *(line for line in lines if not line.startswith("#|")), "```"])


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
