"""Build the site into _docs/, offline: python tools/docs/build.py [folder]

Notebooks are shown as they are committed, executed; nothing is executed here but what counts and draws the methods. A warning
of Sphinx, a link that leads nowhere and a page that asks another host for something fail the build.
"""

import os
import shutil
import sys
import tempfile
import time
from pathlib import Path

os.environ |= {"OMP_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"}
sys.path.insert(0, str(Path(__file__).parent))
sys.dont_write_bytecode = True

from book import ROOT, stage_book
from links import problems


def say(begun: float, what: str) -> None:
    print(f"  {time.monotonic() - begun:4.0f} s  {what}", flush=True)


def stage(folder: Path, begun: float) -> None:
    "All sources of the site, in a folder that goes away again."
    say(begun, "collecting notebooks and the reference")
    book = stage_book(folder / "source")
    from reference import stage_reference

    stage_reference(book)
    say(begun, "counting and drawing methods")
    from method_pages import stage_experiments, stage_methods
    from transformers.utils.logging import disable_progress_bar

    disable_progress_bar()
    stage_methods(book)
    stage_experiments(book)
    say(begun, "saving panels")
    from gallery import stage_gallery

    stage_gallery(book, folder / "extra")
    book.add_files()


def main() -> int:
    begun = time.monotonic()
    site = Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "_docs").resolve()
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder).resolve()
        stage(work, begun)
        say(begun, "making pages")
        from sphinx.cmd.build import main as sphinx

        settings = ["-c", str(Path(__file__).parent), "-d", str(work / "doctrees"), "-D", f"html_extra_path={work / 'extra'}"]
        failed = sphinx(["-b", "html", "-W", "--keep-going", "-q", *settings, str(work / "source"), str(work / "site" / "html")])
        shutil.rmtree(site, ignore_errors=True)
        shutil.move(work / "site" / "html", site)
    wrong = problems(site)
    print(*wrong, sep="\n", end="\n" if wrong else "")
    pages = len(list(site.rglob("*.html")))
    say(begun, f"{pages} pages in {site}" + (f", {len(wrong)} broken links" if wrong else ""))
    return int(bool(failed or wrong))


if __name__ == "__main__":
    sys.exit(main())
