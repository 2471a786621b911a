"""Write the stub of every package, `hyperlab/<package>/__init__.pyi`, from the names its modules export; --check only compares.

A package imports a module when one of its names is first used, so `import hyperlab` stays quick, and the stub tells
editors and type checkers where each name comes from. The names at the top, `hl.*`, are chosen by hand in
`hyperlab/__init__.pyi`.
"""

import ast
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LAZY = '''"""{doc}"""

import lazy_loader as _lazy

# The names are listed in __init__.pyi; a module is imported when one of its names is first used.
__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__, __file__)
'''
PACKAGES = {
    "core": "Sites, adapters, generators, methods and the model.",
    "methods": "Every method of the four papers.",
    "papers": "What the papers print, as data, and parameters counted beside it.",
    "data": "Tasks, splits, prompts, metrics, tokens and batches.",
    "training": "Recipes, the trainer, evaluation, run folders and few-shot transfer.",
    "exchange": "To and from other libraries: PEFT, plain checkpoints, AdapterHub; hypernetworks distilled from adapters.",
    "analysis": "Task vectors, similarity, probes, generated weights, statistics and figures.",
    "bench": "Time and memory, measured and planned; `python -m hyperlab.bench`.",
    "nano": "A small world of its own: grammar, tasks, backbone, settings.",
    "experiments": "Many runs: tables, workbooks, sweeps, studies, and the papers beside them.",
    "widgets": "Panels for JupyterLab and the dashboard.",
    "serving": "A server for many tasks: requests, batches, the app; `python -m hyperlab.serve`.",
}


def exported(module: Path) -> list[str]:
    "The names in a module's `__all__`."
    for node in ast.parse(module.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id == "__all__":
            return [str(name) for name in ast.literal_eval(node.value)]
    return []


def stub(package: Path) -> str:
    "The text of a package's stub; a name that is also a module's is left out, for the module keeps it."
    modules = sorted(p for p in package.glob("*.py") if not p.stem.startswith("__"))
    taken = {m.stem for m in modules}
    lines = ["# Written by tools/make_stubs.py from what the modules export."]
    lines += [f"from . import {name} as {name}" for name in sorted(taken)]
    for module in modules:
        names = [f"    {name} as {name}," for name in sorted(exported(module)) if name not in taken]
        lines += [f"from .{module.stem} import (", *names, ")"] if names else []
    return "\n".join(lines) + "\n"


def main() -> int:
    stale = []
    for name, doc in PACKAGES.items():
        package = ROOT / "hyperlab" / name
        for path, text in ((package / "__init__.py", LAZY.format(doc=doc)), (package / "__init__.pyi", stub(package))):
            if path.is_file() and path.read_text(encoding="utf-8") == text:
                continue
            stale.append(path.relative_to(ROOT))
            if "--check" not in sys.argv:
                path.write_text(text, encoding="utf-8")
    if "--check" in sys.argv and stale:
        print(f"stale: {', '.join(map(str, stale))}; run `make export` and commit them")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
