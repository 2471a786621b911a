"""Pages in a real browser, and the servers they come from."""

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock

import hyperlab as hl
from hyperlab.core.files import asset

ROOT = Path(__file__).resolve().parents[1]
TEMPLATES = Path(hl.__file__).parent / "widgets" / "front" / "jupyter"
SHIPPED = asset("nano", "run", "model")
SOURCE = "nano" if SHIPPED.is_dir() else "toy"
PATIENCE = 240_000  # ms, for what may take long on a busy machine; nothing is asserted on time
SHOTS = os.environ.get("HYPERLAB_SCREENSHOTS")  # a folder, to keep pictures of every panel


def find_chromium() -> str | None:
    "A browser that is there, or that may be installed."
    names = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
    find = lambda: next((path for name in names if (path := shutil.which(name))), None)
    if find() is None and shutil.which("apt-get") and os.geteuid() == 0:
        with FileLock(Path(tempfile.gettempdir()) / "hyperlab-chromium.lock"):  # both workers may want it at once
            for command in (["install", "-y", "-q", "chromium"], ["update", "-q"], ["install", "-y", "-q", "chromium"]):
                if find() is None:
                    subprocess.run(["apt-get", *command], capture_output=True, timeout=600, check=False)
    return find()


def missing(reason: str) -> None:
    "Skip in one line, or fail where browsers are required."
    if os.environ.get("HYPERLAB_BROWSER") == "required":
        pytest.fail(f"browser tests are required here: {reason}")
    pytest.skip(f"browser tests: {reason}")


@contextmanager
def chromium(*options: str) -> Iterator[Any]:
    "A browser until the end of the block."
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        missing("playwright is not installed (pip install playwright)")
    path = find_chromium()
    if path is None:
        missing("no chromium found and none could be installed (apt-get install chromium)")
    with sync_playwright() as play:
        started = play.chromium.launch(executable_path=path, args=["--no-sandbox", *options])
        yield started
        started.close()


class Watched:
    "A page, with what went wrong on it and what it asked for outside."

    def __init__(self, browser: Any, width: int = 1280, **options: Any):
        self.page = browser.new_context(viewport={"width": width, "height": 900}, **options).new_page()
        self.page.set_default_timeout(PATIENCE)
        self.errors: list[str] = []
        self.outside: list[str] = []
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("request", self._asked)

    def _asked(self, request: Any) -> None:
        inside = ("http://localhost", "http://127.0.0.1", "ws://localhost", "ws://127.0.0.1", "data:", "blob:", "file:")
        if not request.url.startswith(inside):
            self.outside.append(request.url)

    def clean(self) -> bool:
        return not self.errors and not self.outside

    def until(self, what: Callable[[], bool]) -> None:
        "Wait until something is so."
        end = time.monotonic() + PATIENCE / 1000
        while not what():
            assert time.monotonic() < end, "waited in vain"
            self.page.wait_for_timeout(50)

    def fact(self, panel: str, name: str) -> str | None:
        "What a panel says of itself."
        found: str | None = self.page.locator(f".hl-{panel}").first.evaluate("(e, name) => e.dataset[name] ?? null", name)
        return found

    def pixels(self, selector: str) -> str:
        "The pixels of a canvas."
        drawn: str = self.page.locator(selector).first.evaluate("c => c.toDataURL()")
        return drawn

    def keep(self, name: str, selector: str | None = None) -> None:
        "Keep a picture, if pictures are wanted."
        if SHOTS:
            Path(SHOTS).mkdir(parents=True, exist_ok=True)
            self.page.locator(selector or ".hl").first.scroll_into_view_if_needed()
            target = self.page.locator(selector).first if selector else self.page
            target.screenshot(path=str(Path(SHOTS) / f"{name}.png"), **({} if selector else {"full_page": True}))


def grave_findings(seen: Watched) -> list[str]:
    "What axe-core calls serious or critical on a page."
    from axe_playwright_python.sync_playwright import Axe

    violations = Axe().run(seen.page, options={"resultTypes": ["violations"]}).response["violations"]
    grave = [v for v in violations if v["impact"] in ("serious", "critical")]
    return [f"{v['id']}: {node['html'][:150]} {node['failureSummary'][:200]}" for v in grave for node in v["nodes"]]


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


@contextmanager
def served(command: list[str], port: int, path: str, folder: Path, **environment: str) -> Iterator[str]:
    "A server until the end of the block; its address."
    inherited = os.environ | {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1", "HYPERLAB_SOURCE": SOURCE} | environment
    with open(folder / "server.log", "wb") as log:
        process = subprocess.Popen(command, cwd=folder, env=inherited, stdout=log, stderr=subprocess.STDOUT)
    (folder / "server.pid").write_text(str(process.pid))
    try:
        address, end = f"http://localhost:{port}", time.monotonic() + PATIENCE / 1000
        while time.monotonic() < end:
            assert process.poll() is None, (folder / "server.log").read_text()[-2000:]
            try:
                urllib.request.urlopen(f"{address}{path}", timeout=5).close()
                break
            except OSError:
                time.sleep(0.2)
        yield address
    finally:
        process.terminate()
        process.wait(30)


@contextmanager
def voila(folder: Path, *options: str, **environment: str) -> Iterator[str]:
    "The dashboard, served as `make dashboard` does."
    port = free_port()
    assert "python -m hyperlab.widgets.server nbs/dashboard.ipynb $(VOILA)" in (ROOT / "Makefile").read_text()
    command = [sys.executable, "-m", "hyperlab.widgets.server", str(ROOT / "nbs" / "dashboard.ipynb")]
    command, path = [*command, "--no-browser", f"--port={port}", *options], "/voila/static/voila.js"
    with served(command, port, path, folder, JUPYTER_PATH=str(TEMPLATES), **environment) as address:
        yield address


@contextmanager
def jupyterlab(folder: Path) -> Iterator[str]:
    "JupyterLab on the notebooks of a folder."
    settings = folder / "settings" / "@jupyterlab" / "apputils-extension"
    settings.mkdir(parents=True)
    (settings / "notification.jupyterlab-settings").write_text(json.dumps({"fetchNews": "false", "checkForUpdates": False}))
    port = free_port()
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", f"--port={port}", "--allow-root", "--expose-app-in-browser"]
    command += ["--IdentityProvider.token=", "--ServerApp.disable_check_xsrf=True", f"--ServerApp.root_dir={folder}"]
    with served(command, port, "/api", folder, JUPYTERLAB_SETTINGS_DIR=str(folder / "settings")) as address:
        yield address


def run_all_cells(seen: Watched) -> None:
    "Run all cells, once there is a kernel; while the notebook is being opened the command does nothing, so it is given again."
    # Without a kernel, the command would ask for one in a dialog, which then has the keyboard
    seen.page.wait_for_function("window.jupyterapp?.shell.currentWidget?.sessionContext?.session?.kernel?.status === 'idle'")
    prompts = seen.page.locator(".jp-CodeCell .jp-InputPrompt")
    for _ in range(20):
        seen.page.evaluate("void window.jupyterapp.commands.execute('notebook:run-all-cells')")
        seen.page.wait_for_timeout(3000)
        if any("*" in text for text in prompts.all_text_contents()):
            break


def say(capsys: pytest.CaptureFixture[str], line: str) -> None:
    "Print a line past pytest's capture."
    with capsys.disabled():
        print(f"\n  {line}", end="")
