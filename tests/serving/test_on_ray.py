"""The server on Ray: a replica that is killed under load, and a stop under load."""

import os
import signal
import time

import psutil
import pytest

from hyperlab.serving.load_test import replicas_of
from hyperlab.serving.server import running_server
from serving_load import Load

pytest.importorskip("ray.serve", reason="ray[serve] is not installed: pip install 'hyperlab[ray]'")
pytestmark = pytest.mark.slow


def test_a_killed_replica_and_a_stop_under_load() -> None:
    "Clients ask once and never again: the front finds another replica for what a dead one was doing."
    with running_server("nano", "--threads=1", "--on=ray", "--replicas=2", seconds=400) as (url, process):
        load = Load(url, clients=8, requests=50, tries=1)
        load.wait_for(100)
        killed = replicas_of(process.pid)[0].pid
        os.kill(killed, signal.SIGKILL)
        load.join()
        assert load.seen == {"right": 400}
        end = time.monotonic() + 240
        while len(replicas_of(process.pid)) < 2 and time.monotonic() < end:
            time.sleep(0.2)
        assert len(replicas_of(process.pid)) == 2 and not psutil.pid_exists(killed), "another one takes its place"
        load = Load(url, clients=8, requests=10_000, tries=1)
        load.wait_for(40)
        process.send_signal(signal.SIGTERM)
        assert process.wait(120) == 0
        load.stop = True
        load.join()
    assert load.seen["right"] >= 40 and not set(load.seen) - {"right", "refused", "status 503", "cut"}, load.seen
    assert load.seen["cut"] <= 8, load.seen
