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
