"""What `pip install hyperlab` gives: the wheel in an environment without the clone, and the first minute of each command."""

import contextlib
import os
import re
import signal
import subprocess
import sys
import sysconfig
import time
import venv
import zipfile
from collections.abc import Callable
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

import pytest

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.slow
COMMANDS = ("run", "run-eight", "train", "tune", "dashboard", "notebooks", "bench", "sweep", "reproduce", "serve")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    "The wheel, built from the files of this clone."
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "setup.py", "-q", "build", "-b", str(folder / "build"), "egg_info", "-e", str(folder), "bdist_wheel"]
    subprocess.run([*command, "-d", str(folder)], cwd=ROOT, check=True, capture_output=True, text=True, timeout=120)
    return next(folder.glob("*.whl"))


@pytest.fixture(scope="module")
def home(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    "A new environment with hyperlab from its wheel; what hyperlab needs is borrowed from the one that runs the tests."
    folder = tmp_path_factory.mktemp("home")
    venv.create(folder / "venv", with_pip=False)
    packages = next((folder / "venv" / "lib").glob("python*/site-packages"))
    (packages / "borrowed.pth").write_text(sysconfig.get_path("purelib") + "\n")  # lines of its .pth files are not read: no clone
    pip = [sys.executable, "-m", "pip", "--python", str(folder / "venv" / "bin" / "python"), "install", "--no-deps", "--no-index"]
    subprocess.run([*pip, "--quiet", "--disable-pip-version-check", str(wheel)], check=True, cwd=folder, timeout=120)
    return folder


def environment(home: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "HYPERLAB", "HF_", "JUPYTER"))}
    data = Path(sysconfig.get_path("data"), "share", "jupyter")  # templates of Voilà and nbconvert lie beside the packages
    path = f"{home / 'venv' / 'bin'}{os.pathsep}{os.environ['PATH']}"
    return kept | {"PATH": path, "JUPYTER_PATH": str(data), "HF_HUB_OFFLINE": "1", "COLUMNS": "80"}


def hyperlab(home: Path, *words: str) -> str:
    "What a command prints; it has to end well."
    done = subprocess.run([home / "venv" / "bin" / "hyperlab", *words], cwd=home, env=environment(home), capture_output=True,
                          text=True, timeout=600, check=False)  # fmt: skip
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return done.stdout


def started(home: Path, seen: Callable[[str], bool], *words: str) -> str:
    "What a command that goes on has printed when it has come so far that `seen` is true; it is ended then."
    output = home / f"{words[0]}.txt"
    with output.open("w") as file:
        process = subprocess.Popen([home / "venv" / "bin" / "hyperlab", *words], cwd=home, env=environment(home), stdout=file,
                                   stderr=subprocess.STDOUT, start_new_session=True)  # fmt: skip
    try:
        end = time.monotonic() + 400
        while not seen(output.read_text()):
            assert process.poll() is None and time.monotonic() < end, output.read_text()[-3000:]
            time.sleep(0.3)
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
    return output.read_text()


def test_the_wheel_carries_notebooks_pictures_and_records(wheel: Path) -> None:
    inside = set(zipfile.ZipFile(wheel).namelist())
    for source in sorted((ROOT / "nbs").rglob("*.ipynb")):
        if not {".ipynb_checkpoints", "runs", "_proc"} & set(source.parts):
            assert f"hyperlab/notebooks/{source.relative_to(ROOT / 'nbs')}" in inside
    names = ("notebooks/images/task_map.svg", "assets/nano/run/config.json", "widgets/front/map.js", "widgets/front/writer.js",
             "assets/nano-described/run/README.md", "assets/nano-described/presets/presets.json")  # fmt: skip
    weights = [p.relative_to(ROOT) for p in (ROOT / "hyperlab" / "assets").glob("*/run/model/*")]
    assert len(weights) == 4 and inside.issuperset([f"hyperlab/{name}" for name in names] + [str(p) for p in weights])


def test_hyperlab_is_the_installed_one(home: Path) -> None:
    code = "import hyperlab; from hyperlab.core.files import notebooks_folder; print(hyperlab.__file__, notebooks_folder())"
    found = subprocess.run([home / "venv" / "bin" / "python", "-c", code], cwd=home, env=environment(home), capture_output=True,
                           text=True, check=True).stdout  # fmt: skip
    assert str(ROOT / "hyperlab") not in found and found.count(str(home / "venv")) == 2, found


def test_every_command_has_a_help_that_fits_a_screen(home: Path) -> None:
    known = re.findall(r"^  ([\w-]+)", hyperlab(home, "--help"), re.M)
    assert sorted(known) == sorted(COMMANDS)
    code = f"""
import contextlib, io
from hyperlab.command import main
for command in {known!r}:
    with contextlib.redirect_stdout(io.StringIO()) as said, contextlib.suppress(SystemExit):
        main([command, "--help"])
    lines = said.getvalue().splitlines()
    assert lines and lines[0].startswith(f"usage: hyperlab {{command}}"), lines[:1]
    assert len(lines) <= 24 and max(map(len, lines)) <= 80, (command, len(lines))
"""
    subprocess.run([home / "venv" / "bin" / "python", "-c", code], cwd=home, env=environment(home), check=True)


def test_notebooks_are_copied_once(home: Path) -> None:
    assert "notebooks are in 'book'" in hyperlab(home, "notebooks", "book")
    assert (home / "book" / "core" / "02_sites.ipynb").is_file() and (home / "book" / "images" / "task_map.svg").is_file()
    with pytest.raises(AssertionError, match="expected a new folder"):
        hyperlab(home, "notebooks", "book")


def outside(page: str) -> list[str]:
    "What a page would load from elsewhere."
    return re.findall(r"""<(?:script|link|img|iframe)\b[^>]*(?:src|href)=["'](?:https?:)?//[^"']+""", page)


def test_the_first_run_ends_with_a_page_of_its_own(home: Path) -> None:
    said = hyperlab(home, "run", "--steps", "4", "--tasks", "4", "--eval-examples", "4", "--held-out", "1")
    page = home / "runs" / "first" / "first_run.html"
    assert f"The page of this run: {page.resolve().as_uri()}" in said
    text = page.read_text()
    assert not outside(text) and "Score against parameters" in text and text.count("data:image/svg+xml") >= 3


def test_training_starts(home: Path) -> None:
    log = home / "runs" / "train" / "log.jsonl"
    started(home, lambda _: log.is_file() and '"loss"' in log.read_text(), "train", "--method", "lora")


def test_a_sweep_takes_a_workbook_by_its_name(home: Path) -> None:
    place = home / "runs" / "sweep" / "seed=0"
    trained = lambda _: (place / "log.jsonl").is_file() and '"loss"' in (place / "log.jsonl").read_text()
    assert "1 running" in started(home, trained, "sweep", "train", "runs/sweep", "-g", "seed=0", "-p", "steps=50")


def test_a_table_says_what_it_takes_and_starts(home: Path) -> None:
    assert "table-4" in hyperlab(home, "reproduce", "hyperformer", "table-4", "--dry-run")
    running = lambda said: bool(re.search(r"\d running", said))
    started(home, running, "reproduce", "hyperformer", "table-4", "--seeds", "1")


def test_a_benchmark_measures(home: Path) -> None:
    assert "import" in hyperlab(home, "bench", "import", "--rounds", "1")


def test_the_server_and_the_dashboard_answer(home: Path) -> None:
    found: list[bytes] = []

    def asks(pattern: str, path: str, said: str) -> bool:
        address = re.search(pattern, said)
        with contextlib.suppress(ConnectionError, URLError):  # it says its address before it listens
            if address:
                found.append(urlopen(address[1].rstrip("/") + path, timeout=120).read())
                return True
        return False

    started(home, lambda said: asks(r"at (http://\S+)", "/health", said), "serve", "nano", "--port", "0")
    voila = lambda said: asks(r" at (http://\S+)", "/voila/static/voila.js", said)
    started(home, voila, "dashboard", "--port", "0", "--no-browser")
    assert len(found) == 2 and all(found)
