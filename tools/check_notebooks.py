"""Fail when a notebook and its exported module differ, or a notebook is not clean. Changes nothing in the tree."""

import filecmp
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

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
    if not stale + dirty:
        print("notebooks are clean and agree with the package")
    return bool(stale + dirty)


if __name__ == "__main__":
    sys.exit(main())
