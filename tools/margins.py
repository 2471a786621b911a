"""Repeat tests that train for five seeds, and tests that compare rounded sums under other arithmetic; print the margins.

A margin is the share of its bound that a value leaves: 1 for a value of 0, 0 for one at its bound. Of each test the least
is printed. Arguments are passed on to pytest: `-n 2` for two processes, `-k word` for some of the tests.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

SEEDS = [{"HYPERLAB_TEST_SEED": str(seed)} for seed in range(5)]
ARITHMETIC = [{}, {"ATEN_CPU_CAPABILITY": "default"}, {"ATEN_CPU_CAPABILITY": "avx2"}, {"HYPERLAB_TEST_THREADS": "2"}]
ARITHMETIC += [{"HYPERLAB_TEST_ONEDNN": "0"}]
WANTED = 0.5  # what has to be left of every bound


def run(kind: str, conditions: dict[str, str], notes: Path) -> bool:
    "The tests of a kind under some conditions; whether they passed."
    print(f"{kind}: {described(conditions)}", flush=True)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--show-capture=no", "-m", kind, "tests"]
    done = subprocess.run(command + sys.argv[1:], env=os.environ | conditions | {"HYPERLAB_MARGINS": str(notes)}, check=False)
    return done.returncode == 0


def described(conditions: dict[str, str]) -> str:
    return " ".join(f"{name.removeprefix('HYPERLAB_TEST_').lower()}={value}" for name, value in conditions.items()) or "as it is"


def main() -> int:
    repeated = [*(("margins", seed) for seed in SEEDS), *(("rounding", arithmetic) for arithmetic in ARITHMETIC)]
    least: dict[tuple[str, str], tuple[float, str]] = {}
    passed = True
    with tempfile.TemporaryDirectory() as folder:
        for number, (kind, conditions) in enumerate(repeated):
            notes = Path(folder) / str(number)
            passed &= run(kind, conditions, notes)
            for note in map(json.loads, notes.read_text().splitlines() if notes.exists() else ()):
                test, _, case = note["test"].split("/")[-1].partition("[")
                where = ", ".join(filter(None, [case.removesuffix("]"), described(conditions)]))
                left = 1 - note["value"] / note["bound"], f"{note['value']:.2g} < {note['bound']:.2g} ({where})"
                least[test, note["what"]] = min(left, least.get((test, note["what"]), left))
    for (test, what), (left, values) in sorted(least.items(), key=lambda pair: pair[1]):
        print(f"{left:6.1%} left  {test}: {what}: {values}")
    return 0 if passed and least and min(least.values())[0] >= WANTED else 1


if __name__ == "__main__":
    sys.exit(main())
