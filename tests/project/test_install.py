"""Setting up says what it does: tools/install.py reads what pip prints."""

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("install", ROOT / "tools" / "install.py")
    assert spec and spec.loader
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


LINES = {
    "  Downloading torch-2.15.0-cp311-cp311-manylinux_2_28_x86_64.whl (888.1 MB)": ("torch 2.15.0", 888.1),
    "  Downloading https://host/a/b/six-1.17.0-py2.py3-none-any.whl.metadata (1.7 kB)": None,
    "  Using cached scikit_learn-1.9.1-cp311-cp311-manylinux_2_28_x86_64.whl (12.3 MB)": ("scikit_learn 1.9.1", 12.3),
    "Processing ./six-1.17.0-py2.py3-none-any.whl": ("six 1.17.0", 0.0),
    "Collecting torch>=2.6": None,
}


@pytest.mark.parametrize("line", LINES)
def test_a_package_is_seen_with_its_size(tool: ModuleType, line: str) -> None:
    assert tool.fetched(line) == LINES[line]


def test_a_failure_shows_all_that_pip_said(tool: ModuleType, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture) -> None:
    monkeypatch.setattr("sys.argv", ["install.py", "./no-such-folder"])
    assert tool.main() != 0
    said = capfd.readouterr()
    assert "asking the package index which versions" in said.out and "no-such-folder" in said.err and "done" not in said.out
