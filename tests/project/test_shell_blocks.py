"""Shell blocks of README and notebooks work on a fresh clone: each command is run as it stands, in a copy of this one.

What trains for minutes or serves until it is stopped is ended when it does what it was started for; what needs more than
this machine is listed with the reason, and read by the shell.
"""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from local_hub import LocalHub, sentences, write_model

from hyperlab.core.files import asset
from hyperlab.data.benchmarks import ENTRIES
from hyperlab.data.prompts import Classes

ROOT = Path(__file__).resolve().parents[2]
PAGES = [*sorted(ROOT.glob("*.md")), *sorted(p for p in (ROOT / "nbs").rglob("*.ipynb") if ".ipynb_checkpoints" not in p.parts),
         *sorted((ROOT / "nbs" / "howto").glob("*.md"))]  # fmt: skip
PROGRAMS = ("mkdir", "papermill", "python", "make", "hyperlab", "jupyter", "jupytext", "torchrun", "accelerate", "#!/bin/bash")


def blocks(page: Path) -> list[str]:
    "The shell blocks of a page; drawings and listings of folders are no such blocks."
    text = page.read_text(encoding="utf-8")
    if page.suffix == ".ipynb":
        text = "\n\n".join("".join(c["source"]) for c in json.loads(text)["cells"] if c["cell_type"] == "markdown")
    found = re.findall(r"^```(\w*)\n(.*?)^```$", text, re.S | re.M)
    drawn = re.compile("[─├│]|^[\\w+-]+/\\S*$", re.M)
    return [block for kind, block in found if kind in ("sh", "bash") or not kind and not drawn.search(block)]


# Why a command is not run here; it is read by the shell all the same
NOT_RUN = {
    r"--nnodes|--machine_rank|^#!/bin/bash": "several machines",
    r"--config_file one.yaml|nproc-per-node 8": "several GPUs",
    r"--multi_gpu|nproc-per-node 2": "several processes: tests/training/test_distributed.py runs them",
    r"--on ray": "a cluster: tests/serving/test_on_ray.py starts one",
    r"decoder_table": "a decoder of half a gigabyte, and an hour",
    r"pack_fits|pack_many|pack_described|pack_continual": "needs the runs of the hours before it",
}
TRAINS, SERVES = "trains", r" at (http://\S+)"
# What shows that a command which goes on for long does what it should; any other has to come to its end
LONG = {
    r"nbs/(train|pretrain|ablations|lowresource|reproduce|tune|fewshot|first_run|first_run_eight)\.ipynb": TRAINS,
    r"nbs/(described|continual)\.ipynb": TRAINS,
    r"hyperlab.sweep|hyperlab.reproduce \w|nano_run|^make run": TRAINS,
    r"hyperlab.serve|^make dashboard": SERVES,
}


def matching(table: dict[str, str], text: str) -> str | None:
    return next((said for pattern, said in table.items() if re.search(pattern, text)), None)


def commands(block: str) -> list[str]:
    "A block as it is run: whole, or command by command where one of them goes on for long or is not run here."
    lines = [line for line in re.sub(r"\\\n\s*", " ", block).splitlines() if line.strip() and not line.startswith("#")]
    apart = len(lines) > 1 and any(matching(LONG, line) or matching(NOT_RUN, line) for line in lines)
    return lines if apart and not block.startswith("#!") else [block]


FOUND: dict[str, Path] = {}  # command or block -> the first page that has it
for page in PAGES:
    for block in blocks(page):
        for text in commands(block):
            FOUND.setdefault(text, page)


def test_every_block_is_known() -> None:
    assert len(FOUND) > 25 and FOUND and any(page.name == "README.md" for page in FOUND.values())
    for line, page in FOUND.items():
        first = line.split()[0]
        assert first in PROGRAMS, f"{page.name}: is this a command? {line}"
    for pattern in NOT_RUN | LONG:
        assert any(re.search(pattern, line) for line in FOUND), f"nothing is like {pattern!r}: take it off the list"


@pytest.mark.parametrize("line", FOUND, ids=lambda line: f"{FOUND[line].stem}: {line[:60]}")
def test_the_shell_can_read_it(line: str) -> None:
    read = subprocess.run(["bash", "-n", "-c", line], capture_output=True, text=True, check=False)
    assert read.returncode == 0, read.stderr


# ---------------------------------------------------------------------- a hub with generated data, and a clone


def rows(name: str, count: int, seed: int) -> dict[str, list[Any]]:
    "Generated rows of a benchmark, with the fields and labels that the real ones have."
    known = ENTRIES[name]
    found: dict[str, list[Any]] = {f: sentences(count, seed + i) for i, f in enumerate(known.prompt.fields)}
    answer = known.answer
    if isinstance(answer, Classes):
        values = answer.ids or tuple(range(len(answer.words)))
        found[answer.field] = [values[i % len(values)] for i in range(count)]
    else:
        found["label"] = [float(i % 6) for i in range(count)]
    return found | {"idx": list(range(count))}


def write_benchmark(root: Path, name: str) -> None:
    import pandas as pd

    known, sizes = ENTRIES[name], {"train": 1300, "test": 60, "validation": 60}
    sizes |= {"validation_matched": 60, "validation_mismatched": 60} if name == "mnli" else {}
    folder = root / "datasets" / known.hub_id / str(known.config)
    folder.mkdir(parents=True, exist_ok=True)
    for seed, (split, count) in enumerate(sizes.items()):
        pd.DataFrame(rows(name, count, 10 * seed)).to_parquet(folder / f"{split}.parquet")


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalHub]:
    "A hub with T5s of one layer under the names that the pages use, and generated rows for the tasks that they name."
    root = tmp_path_factory.mktemp("hub")
    for name in ("google/flan-t5-base", "google/flan-t5-small", "google-t5/t5-base", "t5-base"):
        write_model(root, name, width=64)
    for name in ("cola", "sst2", "mrpc", "qqp", "stsb", "mnli", "qnli", "rte", "cb", "scitail", "trec"):
        write_benchmark(root, name)
    with LocalHub(root) as server:
        yield server


@dataclass
class Clone:
    "A copy of the files of this clone, with the environment that the tests run in as its own."

    folder: Path
    environment: dict[str, str]

    def trained(self) -> bool:
        return any('"loss"' in log.read_text() for log in (self.folder / "runs").rglob("log.jsonl"))

    def prepare(self, line: str) -> None:
        "Put there what the page says was made before."
        for name in re.findall(r"(?:runs|small|large)/(?:first|glue|small|large)(?=\s|$)", line):
            if "serve" in line or "fewshot" in line:
                shutil.copytree(asset("nano", "run"), self.folder / name)
        if "inputs runs/hyperdecoder" in line:
            short = "steps=2, eval_every=2, eval_examples=20, progress=False"
            code = f"import hyperlab as hl; hl.nano_run('hyperdecoder', run_dir='runs/hyperdecoder', {short})"
            subprocess.run([sys.executable, "-c", code], cwd=self.folder, env=self.environment, check=True)


@pytest.fixture
def clone(hub: LocalHub, tmp_path: Path) -> Clone:
    folder, passing = tmp_path / "hyperlab", shutil.ignore_patterns("runs", "_proc", ".ipynb_checkpoints")
    for name in ("nbs", "hyperlab", "tools", "tests/golden"):
        shutil.copytree(ROOT / name, folder / name, ignore=passing)
    for file in (*ROOT.glob("*.*"), ROOT / "Makefile"):
        if file.is_file():
            shutil.copy2(file, folder)
    (folder / ".venv").symlink_to(sys.prefix)
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    extra = {"PATH": path, "PYTHONPATH": str(folder), "OMP_NUM_THREADS": "1", "EDITOR": "true"}
    extra["MAKEFLAGS"] = "--old-file=.venv/.ready"  # never install this copy into the environment of the tests
    return Clone(folder, hub.environment(tmp_path / "home", **extra, HYPERLAB_CACHE=str(tmp_path / "cache")))


def run_until(clone: Clone, line: str, sign: str | None) -> str:
    "Run a command until its end, or until it shows its sign; returns what it printed."
    output, end = clone.folder / "output.txt", time.monotonic() + 600
    with output.open("w") as file:
        command = ["bash", "-e", "-o", "pipefail", "-c", line]
        process = subprocess.Popen(command, cwd=clone.folder, env=clone.environment, stdout=file, stderr=subprocess.STDOUT,
                                   start_new_session=True)  # fmt: skip
    try:
        while process.poll() is None and time.monotonic() < end:
            if sign and (clone.trained() if sign == TRAINS else re.search(sign, output.read_text())):
                return output.read_text()
            time.sleep(0.3)
        assert process.poll() == 0, f"exit code {process.poll()}: {output.read_text()[-3000:]}"
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    return output.read_text()


RUN = [line for line in FOUND if matching(NOT_RUN, line) is None]


@pytest.mark.slow
@pytest.mark.parametrize("line", RUN, ids=lambda line: f"{FOUND[line].stem}: {line[:60]}")
def test_a_command_works_as_it_stands(line: str, clone: Clone) -> None:
    clone.prepare(line)
    sign = matching(LONG, line)
    said = run_until(clone, line, sign)
    assert "Passed unknown parameter" not in said
    if sign == TRAINS:
        assert clone.trained(), "it ended without training"
