"""What `hl.runs` costs for a folder of many runs, beside parsing what its table needs: each run's config and its result.

    python benchmarks/read_runs.py [--runs 5000] [--rounds 5]

The runs are copies of the shipped one, nine of ten finished. Both take turns in one process. Goals: three times the bare parsing,
and that the bytes of a log don't matter, here a hundred times as many.
"""

import argparse
import json
import tempfile
from collections.abc import Sequence
from pathlib import Path

import hyperlab as hl
from hyperlab.bench.measuring import time_interleaved
from hyperlab.core.files import asset


def write_runs(folder: Path, count: int, log_times: int = 1) -> Path:
    "A folder of many runs, with a folder of states in each."
    shipped = asset("nano", "run")
    files = {name: (shipped / name).read_bytes() for name in ("config.json", "log.jsonl", "result.json")}
    files["log.jsonl"] *= log_times
    for number in range(count):
        run = folder / f"group-{number // 100:03d}" / f"run-{number:05d}"
        (run / "checkpoints" / "step-00001200").mkdir(parents=True)
        for name, content in files.items():
            if name != "result.json" or number % 10:
                (run / name).write_bytes(content)
    return folder


def parse(paths: Sequence[Path]) -> None:
    "Read these files and keep nothing."
    for path in paths:
        json.loads(path.read_bytes())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=5000)
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        many = write_runs(Path(place, "many"), given.runs)
        few, long = (write_runs(Path(place, name), given.runs // 20, times) for name, times in (("few", 1), ("long", 100)))
        paths = [path for name in ("config", "result") for path in many.rglob(f"{name}.json")]
        reads = {"all": lambda: hl.runs(many), "few": lambda: hl.runs(few), "long": lambda: hl.runs(long)}
        reads["parsing"] = lambda: parse(paths)
        turns = time_interleaved(reads, given.rounds)
    print(f"{given.runs:,} runs, {given.rounds} rounds, {turns.clock}: {min(turns.seconds['all']):.2f} s for hl.runs at best")
    print(f"hl.runs / parsing configs and results: {turns.ratio('all', 'parsing'):.2f} (goal 3)")
    print(f"hl.runs, logs a hundred times as long / as they are: {turns.ratio('long', 'few'):.2f} (goal 1.1)")


if __name__ == "__main__":
    main()
