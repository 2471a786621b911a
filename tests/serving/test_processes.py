"""Servers in processes of their own: slow clients, a stop under load, a killed process."""

import json
import os
import signal
import socket
import threading
import time
from collections import Counter
from urllib.error import HTTPError, URLError
from urllib.parse import urlparse
from urllib.request import Request, urlopen

import psutil
import pytest

import hyperlab as hl
from hyperlab.serving.server import running_server

pytestmark = pytest.mark.slow
TEXT = "sentence: the old farmer eats the apples ."


def ask(url: str, task: str, tries: int = 1) -> str:
    body = json.dumps({"text": TEXT, "task": task, "max_new_tokens": 8}).encode()
    for attempt in range(tries):
        try:
            with urlopen(Request(f"{url}/generate", body, {"Content-Type": "application/json"}), timeout=120) as found:
                return json.load(found)["answers"][0]
        except (URLError, ConnectionError, TimeoutError):
            if attempt == tries - 1:
                raise
            time.sleep(1)
    raise AssertionError("unreachable")


class Load:
    "Clients that ask for tasks in turn until they have asked often enough or are told to stop."

    def __init__(self, url: str, clients: int, requests: int, tries: int):
        model = hl.load("nano")
        self.expected = {task: model.generate(TEXT, task=task, max_new_tokens=8) for task in model.tasks}
        self.url, self.requests, self.tries, self.stop = url, requests, tries, False
        self.seen: Counter[str] = Counter()
        self.threads = [threading.Thread(target=self.work, args=(number,)) for number in range(clients)]
        for thread in self.threads:
            thread.start()

    def work(self, number: int) -> None:
        tasks = list(self.expected)
        for i in range(self.requests):
            if self.stop:
                return
            task = tasks[(number + i) % len(tasks)]
            try:
                self.seen["right" if ask(self.url, task, self.tries) == self.expected[task] else "wrong"] += 1
            except HTTPError as error:
                self.seen[f"status {error.code}"] += 1
            except ConnectionRefusedError:
                self.seen["refused"] += 1
            except URLError as error:
                self.seen["refused" if isinstance(error.reason, ConnectionRefusedError) else "cut"] += 1
            except (ConnectionError, TimeoutError):
                self.seen["cut"] += 1

    def wait_for(self, count: int) -> None:
        end = time.monotonic() + 120
        while sum(self.seen.values()) < count and time.monotonic() < end:
            time.sleep(0.01)

    def join(self) -> None:
        for thread in self.threads:
            thread.join(300)


def test_a_slow_client_holds_up_nobody_and_a_stop_finishes_what_was_begun() -> None:
    with running_server("nano", "--threads=1", seconds=240) as (url, process):
        place = urlparse(url)
        slow = socket.create_connection((place.hostname, place.port))
        slow.sendall(f"POST /generate HTTP/1.1\r\nHost: {place.netloc}\r\nContent-Length: 500\r\n\r\n".encode() + b"{")
        begin = time.monotonic()
        assert ask(url, "nano-cola")
        slow.settimeout(60)
        assert b" 408 " in slow.recv(4096) and time.monotonic() - begin < 50
        load = Load(url, clients=8, requests=10_000, tries=1)
        load.wait_for(40)
        process.send_signal(signal.SIGTERM)
        assert process.wait(120) == 0
        load.stop = True
        load.join()
    assert load.seen["right"] >= 40
    assert not set(load.seen) - {"right", "refused", "status 503", "cut"}, load.seen
    assert load.seen["cut"] <= 8, load.seen  # a connection that was made and never read: at most one per client


def test_a_killed_process_loses_no_request_of_clients_that_ask_again() -> None:
    with running_server("nano", "--threads=1", "--replicas=2", seconds=240) as (url, process):
        load = Load(url, clients=8, requests=25, tries=60)
        load.wait_for(40)
        first = psutil.Process(process.pid).children()[0]
        os.kill(first.pid, signal.SIGKILL)
        load.join()
        assert load.seen == {"right": 200}
        assert first.pid not in [child.pid for child in psutil.Process(process.pid).children()]
        assert len(psutil.Process(process.pid).children()) == 2
    assert process.returncode == 0
