"""A sweep on a Ray cluster of several nodes: a run that fails, a worker that is killed, a head that is killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbformat
import psutil
import pytest

from hyperlab.core.files import read_json

pytest.importorskip("ray", reason="ray is not installed: pip install 'hyperlab[ray]'")
pytestmark = pytest.mark.slow
PROJECT = Path(__file__).resolve().parents[2]
SEEDS = range(5)


def write_notebook(path: Path) -> None:
    "Notes that it began, works for some seconds, fails for seed 4, and notes that it ended."
    code = "import time\nopen(run_dir + '/began', 'a').write('x')\ntime.sleep(4)\nassert seed != 4, 'a bad seed'\n"
    cells = [
        nbformat.v4.new_code_cell("seed = 0\nrun_dir = '.'", metadata={"tags": ["parameters"]}),
        nbformat.v4.new_code_cell(code + "open(run_dir + '/ended', 'a').write('x')"),
    ]
    book = nbformat.v4.new_notebook(cells=cells)
    book.metadata["kernelspec"] = {"name": "python3", "display_name": "python3", "language": "python"}
    nbformat.write(book, path)


def start_cluster() -> Any:
    "A head and two nodes of one worker each; Ray gives a node half a minute to start, which a busy machine may miss."
    from ray.cluster_utils import Cluster

    cluster = Cluster()
    for cpus in (0, 1, 1):
        for attempt in range(4):
            try:
                cluster.add_node(num_cpus=cpus, include_dashboard=False)
                break
            except Exception:
                if attempt == 3:
                    raise
    return cluster


def wait_for(true: Callable[[], bool], seconds: float = 240) -> None:
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "it took too long"
        time.sleep(0.05)


def test_nothing_is_lost_and_nothing_is_run_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(PROJECT), os.environ.get("PYTHONPATH", "")]))
    monkeypatch.setenv("RAY_agent_register_timeout_ms", "120000")
    monkeypatch.setenv("RAY_gcs_rpc_server_reconnect_timeout_s", "5")
    write_notebook(tmp_path / "tiny.ipynb")
    places = [tmp_path / "out" / f"seed={seed}" for seed in SEEDS]
    marks = lambda name: [(p / name).read_text() if (p / name).exists() else "" for p in places]
    states = lambda: [read_json(p / "status.json")["state"] if (p / "status.json").exists() else "waiting" for p in places]
    grid = ["-g", "seed=" + ",".join(map(str, SEEDS))]
    command = [sys.executable, "-m", "hyperlab.sweep", str(tmp_path / "tiny.ipynb"), str(tmp_path / "out"), *grid, "--on", "ray"]

    cluster = start_cluster()
    monkeypatch.setenv("RAY_ADDRESS", cluster.address)
    with (tmp_path / "log").open("wb") as log:
        first = subprocess.Popen(command, stdout=log, stderr=log)
        wait_for(lambda: "x" in marks("began"))
        worker = next(p for p in psutil.process_iter() if p.name() == "ray::run_cell" and tmp_path_of(p, tmp_path))
        worker.send_signal(signal.SIGKILL)
        wait_for(lambda: states().count("done") >= 1 and "running" in states())
        over = [p for p, s in zip(places, states(), strict=True) if s in ("done", "failed")]
        before = {p: (p / "status.json").stat().st_mtime_ns for p in over}
        cluster.remove_node(cluster.head_node, allow_graceful=False)
        first.wait(240)
        assert first.returncode != 0 and states().count("done") < 4, states()
    for node in list(cluster.worker_nodes):
        cluster.remove_node(node, allow_graceful=False)

    cluster = start_cluster()
    monkeypatch.setenv("RAY_ADDRESS", cluster.address)
    again = subprocess.run(command, capture_output=True, text=True, timeout=400, check=False)
    cluster.shutdown()
    assert states() == ["done"] * 4 + ["failed"] and again.returncode == 1, again.stdout + again.stderr
    assert marks("ended") == ["x"] * 4 + [""], "each ended once, although a worker and the head were killed"
    assert {p: (p / "status.json").stat().st_mtime_ns for p in before} == before, "what was over was left alone"


def tmp_path_of(process: psutil.Process, folder: Path) -> bool:
    "Whether a worker runs a cell of this test."
    return any(str(folder) in " ".join(child.cmdline()) for child in process.children())
