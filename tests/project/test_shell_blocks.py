"""Commands in the README and in notebooks work on a fresh clone: folders are made, notebooks and their parameters exist."""

import json
import re
import shlex
from pathlib import Path

import pytest
from papermill import inspect_notebook

ROOT = Path(__file__).resolve().parents[2]
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "nbs").rglob("*.ipynb"))]


def commands(page: Path) -> list[str]:
    "The shell commands of a page, each on one line."
    text = page.read_text(encoding="utf-8")
    if page.suffix == ".ipynb":
        text = "\n\n".join("".join(c["source"]) for c in json.loads(text)["cells"] if c["cell_type"] == "markdown")
    blocks = re.findall(r"^```(\w*)\n(.*?)^```$", text, re.S | re.M)
    shell = [block.replace("\\\n", " ") for kind, block in blocks if kind in ("", "sh", "bash")]
    lines = [line.strip() for block in shell for line in block.splitlines()]
    return [line for line in lines if re.match(r"(mkdir|papermill|python -m hyperlab)\b", line)]


COMMANDS = [(page, line) for page in PAGES for line in commands(page)]


def notebook_call(words: list[str]) -> tuple[str, list[str]]:
    "The notebook that a command runs, and the parameters that it gives."
    given = [words[i + 1] for i, word in enumerate(words[:-1]) if word in ("-p", "-g", "--grid", "--parameter")]
    return next(word for word in words if word.endswith(".ipynb")), [name.partition("=")[0] for name in given]


def test_commands_are_found() -> None:
    assert len(COMMANDS) > 12 and any(page.name == "README.md" for page, _ in COMMANDS)


@pytest.mark.parametrize(("page", "line"), COMMANDS, ids=[f"{page.stem}: {line[:60]}" for page, line in COMMANDS])
def test_a_command_makes_its_folders_and_names_what_exists(page: Path, line: str) -> None:
    made: set[str] = set()
    for part in line.split("&&"):
        words = shlex.split(part.partition(" #")[0])
        if words[0] == "mkdir":
            made |= set(words[2:])
        if words[0] == "papermill":
            assert str(Path(words[2]).parent) in made, f"{words[2]}: papermill does not make the folder it writes to"
        if words[0] == "papermill" or words[1:3] == ["-m", "hyperlab.sweep"]:
            notebook, names = notebook_call(words)
            assert (ROOT / notebook).is_file(), notebook
            assert set(names) <= set(inspect_notebook(str(ROOT / notebook))), names
