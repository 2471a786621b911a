"""Fail when a notebook and its module differ, it is not clean, or its outputs are older than its code. Changes nothing."""

import filecmp
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from outputs import stale_outputs

ROOT = Path(__file__).resolve().parents[1]


def copy_project(to: Path) -> None:
    "The parts nbdev reads and writes."
    for name in ("settings.ini", "README.md"):
        shutil.copy2(ROOT / name, to / name)
    for name in ("nbs", "hyperlab"):
        shutil.copytree(ROOT / name, to / name, ignore=shutil.ignore_patterns(".ipynb_checkpoints", "__pycache__", "runs"))


def differing(copy: Path, folder: str, ending: str) -> list[str]:
    "Files under `folder` that differ between the project and its treated copy, or stand in only one of them."
    names = {p.relative_to(base) for base in (ROOT, copy) for p in (base / folder).rglob(f"*{ending}")}
    names = {n for n in names if not {".ipynb_checkpoints", "runs"} & set(n.parts)}
    same = lambda n: (ROOT / n).exists() and (copy / n).exists() and filecmp.cmp(ROOT / n, copy / n, shallow=False)
    return sorted(str(n) for n in names if not same(n))


def main() -> int:
    with tempfile.TemporaryDirectory() as tmp:
        copy = Path(tmp)
        copy_project(copy)
        # A module whose notebook is gone must not survive: only what is kept by hand stays before exporting
        for module in (copy / "hyperlab").rglob("*.py"):
            if module.name != "__init__.py":
                module.unlink()
        for command in ("nbdev_export", "nbdev_clean"):
            subprocess.run([command], cwd=copy, check=True)
        stale = differing(copy, "hyperlab", ".py")
        dirty = differing(copy, "nbs", ".ipynb")
    for name in stale:
        print(f"{name}: differs from its notebook; run `make export` and commit both")
    for name in dirty:
        print(f"{name}: not clean; run `make export` and commit the notebook")
    old, earlier = stale_outputs()
    for name in old:
        print(f"{name}: its outputs are older than its code; run `make outputs NB={name}` and commit the notebook")
    if earlier:
        print(f"a note: {earlier} notebooks keep outputs of another state of the package; `make outputs` refreshes them")
    if not stale + dirty + old:
        print("notebooks are clean, fresh and agree with the package")
    return bool(stale + dirty + old)


if __name__ == "__main__":
    sys.exit(main())
