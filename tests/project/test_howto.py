"""The Python of the How to pages runs as it stands, page by page; their shell blocks are run with all others."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted((ROOT / "nbs" / "howto").glob("*.md"))


def python_of(page: Path) -> str:
    return "\n".join(re.findall(r"^```python\n(.*?)^```$", page.read_text(encoding="utf-8"), re.S | re.M))


@pytest.mark.slow
@pytest.mark.parametrize("page", [p for p in PAGES if python_of(p)], ids=lambda p: p.stem)
def test_python_of_a_page_runs(page: Path, tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", python_of(page)], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]


@pytest.mark.slow
def test_a_shared_notebook_shows_its_figures_and_asks_nobody(tmp_path: Path) -> None:
    "By the command of the page, of the first notebook and of the one with most figures."
    from served_pages import chromium

    (block,) = re.findall(r"^```\n(.*?)^```$", (ROOT / "nbs" / "howto" / "share.md").read_text(encoding="utf-8"), re.S | re.M)
    command = f"{block.strip()} nbs/index.ipynb --output-dir {tmp_path}"
    subprocess.run(command, shell=True, cwd=ROOT, check=True, capture_output=True)
    with chromium() as browser:
        for name, figures in (("embeddings", 5), ("index", 1)):
            page, asked = browser.new_page(), []
            page.on("request", lambda request, asked=asked: asked.append(request.url))
            page.goto((tmp_path / f"{name}.html").as_uri())
            widths = page.evaluate("[...document.images].map(image => image.complete ? image.naturalWidth : 0)")
            assert len(widths) >= figures and min(widths) > 300, (name, widths)
            assert not [url for url in asked if url.startswith("http")], asked
