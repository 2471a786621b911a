"""Servers in processes of their own: slow clients, a stop under load, a killed process."""

import json
import os
import signal
import socket
import time
from pathlib import Path
from urllib.error import HTTPError
from urllib.parse import urlparse
from urllib.request import Request, urlopen

import psutil
import pytest

import hyperlab as hl
from hyperlab.serving.server import running_server
from serving_load import TEXT, Load, ask

pytestmark = pytest.mark.slow


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


def refusal(url: str, body: bytes) -> tuple[int, dict]:
    with pytest.raises(HTTPError) as raised:
        urlopen(Request(f"{url}/generate", body, {"Content-Type": "application/json"}), timeout=60)
    return raised.value.code, json.load(raised.value)


def test_two_models_and_what_they_refuse(tmp_path: Path) -> None:
    "One server with two models of different methods, asked over a socket for what there is and for what there isn't."
    models = {"nano": hl.load("nano")}
    models["plain"] = models["nano"].materialize("nano-cola")
    models["plain"].save(tmp_path / "plain")
    with running_server("nano", f"plain={tmp_path / 'plain'}", "--threads=1", seconds=240) as (url, _):
        for name, model in models.items():
            asked = {"text": TEXT, "task": "nano-cola", "model": name, "max_new_tokens": 8}
            with urlopen(Request(f"{url}/generate", json.dumps(asked).encode(), {"Content-Type": "application/json"})) as found:
                assert json.load(found)["answers"] == [model.generate(TEXT, task="nano-cola", max_new_tokens=8)]
        bad = lambda **facts: refusal(url, json.dumps({"text": TEXT, "model": "nano"} | facts).encode())
        status, said = bad(task="nano-mrcp")
        assert status == 404 and said["nearest"][0] == "nano-mrpc" and "did you mean 'nano-mrpc'" in said["error"]
        assert bad(task={"nano-cola": 0.5, "nano-rte": 0.2})[0] == 422
        assert bad(model="plain", embedding=[0.0] * 64)[0] == 422
        assert bad(task="nano-cola", text="x" * 10**7)[0] == 413
