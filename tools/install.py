"""Install hyperlab into this environment and say what is going on: `python tools/install.py '.[dev]'`.

pip's own output is either hundreds of lines or, with --quiet, minutes of silence. This shows a line for every package of
more than ten megabytes, and a count now and then for the others; if pip fails, it shows all that pip said.
"""

import re
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LARGE = 10.0  # MB
SIZES = {"kB": 1e-3, "MB": 1.0, "GB": 1e3}


def fetched(line: str) -> tuple[str, float] | None:
    "Name and megabytes of a package that pip fetches or takes from its cache, if the line says that."
    wheel = r"\s*(?:Downloading|Using cached|Processing) (?:\S*/)?(\S+?)-(\d\S*?)-\S*\.whl(?!\S)"
    found = re.match(wheel + r"(?:.*\(([\d.]+) (kB|MB|GB)\))?", line)
    if not found:
        return None
    name, version, size, unit = found.groups()
    return f"{name} {version}", float(size or 0) * SIZES.get(unit, 0)


def main() -> int:
    begun, said, looked, count, told = time.monotonic(), list[str](), 0, 0, 0.0
    command = [sys.executable, "-m", "pip", "install", "--disable-pip-version-check", "--progress-bar=off"]
    command += ["-c", str(ROOT / "constraints.txt"), "-e", *sys.argv[1:]]

    def tell(what: str) -> None:
        nonlocal told
        told = time.monotonic()
        print(f"  {told - begun:4.0f} s  {what}", flush=True)

    tell("asking the package index which versions fit together")
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as pip:
        assert pip.stdout is not None
        for line in pip.stdout:
            said.append(line)
            if package := fetched(line):
                count += 1
                name, size = package
                if size >= LARGE:
                    tell(f"{count} packages fetched; now {name}, {size:,.0f} MB")
                elif time.monotonic() - told > 15:
                    tell(f"{count} packages fetched; now {name}")
            elif line.startswith("Installing collected packages"):
                tell(f"writing to disk what was fetched, {line.count(',') + 1} in all; of many, that takes a minute or two")
            elif line.lstrip().startswith(("Collecting", "Requirement already")):
                looked += 1
                if time.monotonic() - told > 10:
                    tell(f"{looked} requirements looked up")
    if pip.returncode:
        print(*said, sep="", file=sys.stderr)
    else:
        tell("done")
    return pip.returncode


if __name__ == "__main__":
    sys.exit(main())
