"""The dashboard's server over many visits: kernels go with their readers, and strangers get no answer."""

import base64
import http.client
import os
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from served_pages import PATIENCE, Watched, chromium, say, voila

pytestmark = pytest.mark.slow
DRAWN = ".hl-inspector canvas.hl-heat"


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium("--host-resolver-rules=MAP evil.example 127.0.0.1") as started:  # a name that is made to point here
        yield started


class Kernels:
    "The kernels of a server, as the system sees them."

    def __init__(self, server: int):
        self.server = server

    def ids(self) -> set[str]:
        "Of the kernels that are alive."
        found = set()
        for process in Path("/proc").glob("[0-9]*"):
            try:
                parent, command = (process / "stat").read_text().rpartition(")")[2].split()[1], (process / "cmdline").read_text()
            except OSError:  # it ended while we looked
                continue
            if int(parent) == self.server and (kernel := re.search(r"kernel-([\w-]+)\.json", command)):
                found.add(kernel[1])
        return found

    def megabytes(self) -> float:
        "What they hold in memory together."
        resident = 0
        for process in Path("/proc").glob("[0-9]*"):
            try:
                if int((process / "stat").read_text().rpartition(")")[2].split()[1]) == self.server:
                    resident += int((process / "statm").read_text().split()[1])
            except OSError:
                continue
        return resident * os.sysconf("SC_PAGE_SIZE") / 2**20

    def wait(self, what: Any) -> set[str]:
        "Wait until something is so of the kernels that are alive."
        end = time.monotonic() + PATIENCE / 1000
        while not what(found := self.ids()):
            assert time.monotonic() < end, f"waited in vain, {len(found)} kernels are alive"
            time.sleep(0.2)
        return found


@contextmanager
def server(folder: Path, *options: str) -> Iterator[tuple[str, Kernels]]:
    "The address of a dashboard whose first kernel is started, and its kernels."
    with voila(folder, *options) as address:
        kernels = Kernels(int((folder / "server.pid").read_text()))
        kernels.wait(lambda alive: len(alive) == 1)
        yield address, kernels


def visit(browser: Any, address: str) -> Watched:
    "Open the dashboard and wait for its first screen."
    seen = Watched(browser)
    seen.page.goto(address, wait_until="commit")
    seen.page.wait_for_selector(DRAWN)
    return seen


def leave(seen: Watched, way: int) -> None:
    "Go, in one of three ways."
    if way == 0:
        seen.page.goto("about:blank")
        return
    if way == 1:
        seen.page.reload(wait_until="commit")  # a visit more, left before its widgets are there
        seen.page.wait_for_selector("#jupyter-config-data", state="attached")
    with seen.page.expect_event("close"):
        seen.page.close(run_before_unload=True)


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are counted in /proc")
def test_twenty_visitors_leave_what_one_leaves(browser: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with server(tmp_path, "--VoilaKernelManager.fill_delay=0.5") as (address, kernels):
        counts, began = {}, time.monotonic()
        for visitor in range(20):
            before = kernels.ids()
            leave(visit(browser, address), visitor % 3)
            if visitor in (0, 19):  # the kernel that waits for the next one, and nothing else
                kernels.wait(lambda alive, before=before: len(alive) == 1 and not alive & before)
                time.sleep(5)
                counts[visitor + 1] = (len(kernels.ids()), kernels.megabytes())
        for visitors, (count, megabytes) in counts.items():
            say(capsys, f"after {visitors} visitors: {count} kernel, {megabytes:.0f} MB ({time.monotonic() - began:.0f} s)")
        assert counts[1][0] == counts[20][0] == 1


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are counted in /proc")
def test_a_kernel_without_a_reader_is_culled_and_one_with_a_reader_is_not(browser: Any, tmp_path: Path) -> None:
    quick = ("--MappingKernelManager.cull_idle_timeout=6", "--MappingKernelManager.cull_interval=1")
    with server(tmp_path, "--VoilaKernelManager.fill_delay=0.5", *quick) as (address, kernels):
        waiting = kernels.ids()
        time.sleep(15)  # longer than a kernel may be idle: the one that waits for a reader stays, and is whole when it is taken
        assert kernels.ids() == waiting
        stays = visit(browser, address)
        assert waiting <= kernels.ids()
        kernels.wait(lambda alive: len(alive) == 2)

        (mine,) = kernels.ids() - waiting
        gone = visit(browser, address)
        gone.page.context.new_cdp_session(gone.page).send("Emulation.setScriptExecutionDisabled", {"value": True})  # no goodbye
        gone.page.context.close()
        kernels.wait(lambda alive: mine not in alive)

        assert waiting <= kernels.ids()
        answer = stays.fact("mixer", "answer")
        stays.page.get_by_label("text for the model").fill("the merry dog waits near the old house")
        stays.until(lambda: stays.fact("mixer", "answer") != answer)
        assert stays.clean(), (stays.errors, stays.outside)


def status(address: str, path: str, host: str, **headers: str) -> int:
    "The status that a request to a host of this name gets."
    found = urlsplit(address)
    connection = http.client.HTTPConnection("127.0.0.1", found.port, timeout=60)
    connection.request("GET", path, headers={"Host": f"{host}:{found.port}", **headers})
    answer = connection.getresponse().status
    connection.close()
    return answer


def listening(port: int) -> set[str]:
    "The addresses on which someone listens to a port."
    rows = [line.split() for name in ("tcp", "tcp6") for line in Path(f"/proc/net/{name}").read_text().splitlines()[1:]]
    found = {row[1].partition(":")[0] for row in rows if row[3] == "0A" and int(row[1].partition(":")[2], 16) == port}
    assert found, f"nobody listens to port {port}"
    return found


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are counted in /proc")
def test_only_its_own_host_names_are_answered(browser: Any, tmp_path: Path) -> None:
    static, socket_key = "/voila/static/voila.js", base64.b64encode(b"0123456789abcdef").decode()
    upgrade = {"Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Version": "13", "Sec-WebSocket-Key": socket_key}
    with server(tmp_path, "--DashboardServer.local_hostnames=lab.example") as (address, kernels):
        assert [status(address, static, host) for host in ("localhost", "127.0.0.1", "lab.example")] == [200] * 3
        (kernel,) = kernels.ids()
        for path in ("/", static, f"/api/kernels/{kernel}", "/voila/files/picture.png", "/no/such/path"):
            assert status(address, path, "evil.example") == status(address, path, "localhost.evil.example") == 403, path
        for path in (f"/api/kernels/{kernel}/channels", f"/voila/query/{kernel}"):
            rebound = {"Origin": f"http://evil.example:{urlsplit(address).port}", **upgrade}
            assert status(address, path, "evil.example", **rebound) == 403, path
        assert kernels.ids() == {kernel}  # none was taken

        page = browser.new_page()
        answer = page.goto(f"http://evil.example:{urlsplit(address).port}/")
        assert answer.status == 403 and "expected a host name of this server" in page.content() and "kernelId" not in page.content()
        loopback = {"0100007F", "00000000000000000000000001000000"}  # of IPv4 and IPv6, as /proc prints them
        assert listening(urlsplit(address).port) <= loopback
