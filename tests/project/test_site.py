"""The site: it builds without a warning, every link in it leads somewhere, it asks no other host, and its search finds things."""

import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
from served_pages import chromium

import hyperlab as hl

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "tools" / "docs"


def tool(name: str) -> ModuleType:
    "A module of the site's tools."
    spec = importlib.util.spec_from_file_location(f"site_{name}", DOCS / f"{name}.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def status() -> str:
    return subprocess.run(["git", "status", "--porcelain"], cwd=ROOT, capture_output=True, text=True, check=False).stdout


def test_every_link_of_the_repository_leads_to_a_file(tmp_path: Path) -> None:
    book = tool("book").stage_book(tmp_path)
    assert "tests/project/test_docs_numbers.py" in book.files and (tmp_path / "index.md").is_file()
    with pytest.raises(ValueError, match="is not there"):
        book.turned("[a page](nbs/nowhere.ipynb)", "README.md")


def test_a_dead_link_and_a_foreign_address_are_found(tmp_path: Path) -> None:
    page = '<a href="b.html#here">b</a><a href="c.html">c</a><a href="https://a.example">fine</a><img src="https://b.example/x.png">'
    (tmp_path / "a.html").write_text(page)
    (tmp_path / "b.html").write_text('<p id="there"></p><script src="//c.example/x.js"></script>')
    (tmp_path / "d.css").write_text("@import 'https://d.example/x.css'; p { background: url(x.png) }")
    said = "\n".join(tool("links").problems(tmp_path))
    assert said.count("\n") == 4 and "#here" in said and "c.html leads nowhere" in said
    assert all(host in said for host in ("b.example", "c.example", "d.example")) and "a.example" not in said


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder, before = tmp_path_factory.mktemp("site"), status()
    done = subprocess.run([sys.executable, DOCS / "build.py", folder], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    assert status() == before, "it wrote into the tree"
    return folder


@pytest.mark.slow
def test_the_site_is_whole(site: Path) -> None:
    chapters = [p.relative_to(ROOT / "nbs").with_suffix(".html") for p in (ROOT / "nbs").glob("[a-z]*/*.ipynb")]
    assert not [str(p) for p in chapters if not (site / p).is_file()]
    for name in hl.available_methods():
        text = (site / "method" / f"{name.replace('+', '-plus')}.html").read_text(encoding="utf-8")
        assert "<math" in text and "hl-sites" in text and f"{hl.cost('t5-base', name, tasks=8).count.trained:,}" in text
    index = json.loads((site / "searchindex.js").read_text(encoding="utf-8").removeprefix("Search.setIndex(").removesuffix(")"))
    assert {"polytropon", "papermil"} <= {*index["terms"]} | {*index["titleterms"]}
    assert (site / "panels" / "mixer.html").read_text(encoding="utf-8").count("frozen(") >= 1


@pytest.mark.slow
def test_the_search_is_used_with_the_keyboard_and_stays_on_this_machine(site: Path) -> None:
    asked: list[str] = []
    with chromium() as browser:
        page = browser.new_page()
        page.on("request", lambda request: asked.append(request.url))
        page.goto((site / "index.html").as_uri())
        page.keyboard.press("/")
        page.keyboard.type("polytropon skills")
        page.keyboard.press("Enter")
        page.wait_for_selector("ul.search li a")
        found = page.eval_on_selector_all("ul.search li a", "all => all.map(a => a.getAttribute('href'))")
    assert any("08_polytropon" in one for one in found), found
    assert asked and not [url for url in asked if not url.startswith("file:")]
