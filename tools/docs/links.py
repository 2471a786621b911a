"""Check a built site: every link inside it leads somewhere, and no page asks another host for anything."""

import re
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

FETCHED = {"link": "href"} | dict.fromkeys(("script", "img", "iframe", "source", "video", "audio", "embed"), "src")


class Page(HTMLParser):
    "What a page links to, what it fetches, and the places in it."

    def __init__(self, path: Path):
        super().__init__()
        self.links, self.fetched, self.places = set[str](), set[str](), set[str]()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attributes}
        self.places |= {found[name] for name in ("id", "name") if name in found}
        if tag == "a" and "href" in found:
            self.links.add(found["href"])
        wanted = found.get(FETCHED.get(tag, ""), "")
        named = tag == "link" and not {"stylesheet", "icon", "preload"} & set(found.get("rel", "").split())
        if wanted:
            (self.links if named else self.fetched).add(wanted)


@cache
def read(path: Path) -> Page:
    return Page(path)


def broken(site: Path, page: Path, link: str) -> str | None:
    "What is wrong with a link from a page; None if it leads somewhere, or outside."
    parts = urlsplit(link)
    if parts.scheme or parts.netloc:
        return None
    target = page if not parts.path else (page.parent / unquote(parts.path)).resolve()
    target = target / "index.html" if target.is_dir() else target
    name = page.relative_to(site)
    if not target.is_file() or site not in target.parents:
        return f"{name}: {link} leads nowhere"
    if parts.fragment and target.suffix == ".html" and unquote(parts.fragment) not in read(target).places:
        return f"{name}: {link} names a place that is not there"
    return None


def outside(text: str) -> list[str]:
    "Addresses that a style sheet fetches."
    return re.findall(r"(?:url\(|@import\s+)[\"']?((?:https?:)?//[^)\"'\s]+)", text)


def problems(site: Path) -> list[str]:
    "Everything that is wrong with the links of a site."
    pages = sorted(site.rglob("*.html"))
    found = [said for page in pages for link in sorted(read(page).links | read(page).fetched) if (said := broken(site, page, link))]
    asked = [(page, one) for page in pages for one in read(page).fetched if re.match(r"(https?:)?//", one)]
    sheets = site.rglob("*.css")
    asked += [(sheet, one) for sheet in sheets for one in outside(sheet.read_text(encoding="utf-8"))]
    return found + [f"{page.relative_to(site)} asks another host: {one}" for page, one in asked]
