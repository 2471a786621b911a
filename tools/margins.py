"""Repeat the tests that train or compare rounded sums, for five seeds and for other arithmetic; print the least margin of each.

A margin is the share of its bound that a value leaves: 1 for a value of 0, 0 for one at its bound.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

TESTS = ["methods/test_learning.py", "training/test_distributed.py", "training/test_runs_of_version_0_1.py"]
TESTS += ["training/test_trainer.py", "training/test_question_answering.py"]
SEEDS = [{"HYPERLAB_TEST_SEED": str(seed)} for seed in range(5)]
ARITHMETIC = [{"ATEN_CPU_CAPABILITY": "default"}, {"ATEN_CPU_CAPABILITY": "avx2"}, {"HYPERLAB_TEST_THREADS": "2"}]
ARITHMETIC += [{"HYPERLAB_TEST_ONEDNN": "0"}]
WANTED = 0.5  # what has to be left of every bound


def run(conditions: dict[str, str], notes: Path) -> bool:
    "The tests that ask for margins, under some conditions; whether they passed."
    command = [sys.executable, "-m", "pytest", "-q", "-m", "margins", *(f"tests/{name}" for name in TESTS)]
    return subprocess.run(command, env=os.environ | conditions | {"HYPERLAB_MARGINS": str(notes)}, check=False).returncode == 0


def main() -> int:
    conditions = [*SEEDS, *ARITHMETIC]
    least: dict[tuple[str, str], tuple[float, float, float, str]] = defaultdict(lambda: (2.0, 0.0, 0.0, ""))
    passed = True
    with tempfile.TemporaryDirectory() as folder:
        for number, condition in enumerate(conditions):
            notes = Path(folder) / str(number)
            passed &= run(condition, notes)
            for line in notes.read_text().splitlines() if notes.exists() else ():
                note = json.loads(line)
                left = 1 - note["value"] / note["bound"]
                where = " ".join(f"{name.removeprefix('HYPERLAB_TEST_').lower()}={value}" for name, value in condition.items())
                key = note["test"], note["what"]
                least[key] = min(least[key], (left, note["value"], note["bound"], where))
    for (test, what), (left, value, bound, where) in sorted(least.items(), key=lambda pair: pair[1]):
        print(f"{left:6.1%} left  {value:.3g} < {bound:.3g}  {test.split('/')[-1]}: {what} ({where})")
    return 0 if passed and all(left >= WANTED for left, *_ in least.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
