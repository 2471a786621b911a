"""Clients that put a server under load."""

import json
import threading
import time
from collections import Counter
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

import hyperlab as hl

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
