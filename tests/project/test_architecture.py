"""The layout shows the architecture: packages in order, classes whole, each name in one place, every link alive."""

import ast
import json
import re
from collections import Counter, defaultdict
from functools import cache
from pathlib import Path

import pytest

import hyperlab as hl

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("core", "methods", "papers", "data", "training", "exchange", "analysis", "bench", "nano", "experiments", "widgets",
            "serving")
CHAPTERS = [p for name in PACKAGES for p in sorted((ROOT / "nbs" / name).glob("*.ipynb"))]  # in reading order
MODULES = sorted(p for name in PACKAGES for p in (ROOT / "hyperlab" / name).glob("*.py") if p.name != "__init__.py")


@cache
def tree(module: Path) -> ast.Module:
    return ast.parse(module.read_text(encoding="utf-8"))


@cache
def cells(notebook: Path) -> list[dict]:
    found: list[dict] = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    return found


def source(cell: dict) -> str:
    return "".join(cell["source"])


@cache
def places() -> dict[str, tuple[int, int]]:
    "Module -> (number of its package, number of its chapter)."
    found = {}
    for chapter in CHAPTERS:
        exports = re.findall(r"^#\| default_exp (\S+)$", "\n".join(map(source, cells(chapter))), re.M)
        assert len(exports) == 1, f"{chapter.name} must export one module"
        found[exports[0]] = PACKAGES.index(chapter.parent.name), int(chapter.name[:2])
    return found


def exported(module: Path) -> list[str]:
    for node in tree(module).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return [str(name) for name in ast.literal_eval(node.value)]
    return []


def imported(module: Path) -> list[str]:
    "The modules of hyperlab that a module imports, anywhere in it."
    inside, found = f"hyperlab.{module.parent.name}".split("."), []
    for node in ast.walk(tree(module)):
        if isinstance(node, ast.Import):
            found += [a.name for a in node.names if a.name.startswith("hyperlab.")]
        elif isinstance(node, ast.ImportFrom):
            base = inside[: len(inside) + 1 - node.level] if node.level else []
            name = ".".join([*base, *([node.module] if node.module else [])])
            whole = name in ("hyperlab", *(f"hyperlab.{p}" for p in PACKAGES))  # names of a package may be modules
            names = [f"{name}.{a.name}" for a in node.names] if whole else [name]
            found += [n for n in names if n.startswith("hyperlab.")]
    return [n.removeprefix("hyperlab.") for n in found]


def test_numbers_are_unique_and_modules_lie_in_their_chapters_package() -> None:
    for name in PACKAGES:
        numbers = Counter(p.name[:3] for p in CHAPTERS if p.parent.name == name)
        assert all(re.fullmatch(r"\d\d_", n) and count == 1 for n, count in numbers.items()), (name, numbers)
    for module, (package, _) in places().items():
        assert module.startswith(PACKAGES[package] + ".") or "." not in module, module


@pytest.mark.parametrize("module", MODULES, ids=lambda p: f"{p.parent.name}.{p.stem}")
def test_a_chapter_imports_only_what_comes_before_it(module: Path) -> None:
    own = places()[f"{module.parent.name}.{module.stem}"]
    for name in imported(module):
        assert name in places(), f"{name} is no chapter's module"
        assert places()[name] < own, f"{module.parent.name}.{module.stem} imports {name}, which comes later"


def classes() -> dict[str, tuple[str, list[str]]]:
    "Class -> (module, the classes of ours that it derives from)."
    found = {}
    for module in MODULES:
        for node in ast.walk(tree(module)):
            if isinstance(node, ast.ClassDef):
                bases = [ast.unparse(b).split("[")[0].split(".")[-1] for b in node.bases]
                found[node.name] = f"{module.parent.name}.{module.stem}", bases
    return {name: (where, [b for b in bases if b in found]) for name, (where, bases) in found.items()}


def test_no_class_is_a_page_break() -> None:
    "A class with exactly one subclass that nobody ever makes is half of that subclass."
    kinds, heirs = classes(), defaultdict(list)
    for name, (_, bases) in kinds.items():
        for base in bases:
            heirs[base].append(name)
    made = {ast.unparse(c.func).split(".")[-1] for m in MODULES for c in ast.walk(tree(m)) if isinstance(c, ast.Call)}
    assert not [f"{kinds[base][0]}.{base}, of {names[0]}" for base, names in heirs.items() if len(names) == 1 and base not in made]


def test_inheritance_is_shallow() -> None:
    kinds = classes()

    def depth(name: str) -> int:
        return 1 + max((depth(base) for base in kinds[name][1]), default=0)

    assert not [(name, depth(name)) for name in kinds if depth(name) > 3]


def test_each_name_is_exported_once() -> None:
    where = defaultdict(list)
    for module in MODULES:
        for name in exported(module):
            where[name].append(f"{module.parent.name}.{module.stem}")
    assert not {name: modules for name, modules in where.items() if len(modules) > 1}


def registered(module: Path) -> set[str]:
    kinds = [n for n in tree(module).body if isinstance(n, ast.ClassDef)]
    return {n.name for n in kinds if "register_method" in map(ast.unparse, n.decorator_list)}


def test_what_is_exported_is_used() -> None:
    "A name that only its own module uses need not be public; a few that users call and we do not are fine."
    folders = ("hyperlab", "tests", "tools", "benchmarks")
    readers = [p for folder in folders for p in (ROOT / folder).rglob("*.py") if p.name != "_modidx.py"]
    readers += [*(ROOT / "nbs").rglob("*.ipynb"), ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "hyperlab" / "__init__.pyi"]
    readers = [p for p in readers if ".ipynb_checkpoints" not in p.parts]
    words = {p: set(re.findall(r"\w+", p.read_text(encoding="utf-8"))) for p in readers}
    chapter_of = {name: next(c for c in CHAPTERS if f"default_exp {name}" in "\n".join(map(source, cells(c)))) for name in places()}
    unused = []
    for module in MODULES:
        own = {module, chapter_of[f"{module.parent.name}.{module.stem}"]}
        others = set().union(*(found for p, found in words.items() if p not in own))
        others |= registered(module)  # a method's class is used through its registered name
        unused += [f"{module.parent.name}.{module.stem}.{name}" for name in exported(module) if name not in others]
    assert len(unused) <= 20, unused


def test_modules_are_of_a_size_to_be_read() -> None:
    lengths = {f"{m.parent.name}.{m.stem}": len(m.read_text(encoding="utf-8").splitlines()) for m in MODULES}
    assert not {name: n for name, n in lengths.items() if n > 450}
    functions = [(m.stem, f) for m in MODULES for f in ast.walk(tree(m)) if isinstance(f, ast.FunctionDef)]
    assert not [(stem, f.name) for stem, f in functions if f.end_lineno - f.lineno > 50]


def test_only_core_and_methods_touch_hooks_and_rules() -> None:
    "Everybody else asks the model: tokenize, encode, weights, acting, observing, task_embedding."
    packages = ("data", "training", "exchange", "analysis", "experiments", "widgets", "nano", "serving")
    outside = [m for m in MODULES if m.parent.name in packages]
    for module in outside:
        assert "core.hooks" not in imported(module), module
        asked = [n for n in ast.walk(tree(module)) if isinstance(n, ast.Attribute) and ast.unparse(n.value).endswith("model")]
        reached = {n.attr for n in asked} & {"active", "rule", "fixed"}
        assert not reached, f"{module.parent.name}.{module.stem} reaches into the model: {reached}"


def test_few_names_at_the_top_and_no_module_that_can_be_called() -> None:
    assert len(hl.__all__) <= 64
    assert not [m for m in MODULES if re.search(r"\.__class__ = ", m.read_text(encoding="utf-8"))]


def links(text: str) -> list[str]:
    prose = re.sub(r"```.*?```|`[^`]*`", "", text, flags=re.S)
    return [target for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", prose) if "://" not in target]


@pytest.mark.parametrize("page", [*sorted((ROOT / "nbs").rglob("*.ipynb")), *sorted(ROOT.glob("*.md"))], ids=lambda p: p.name)
def test_links_lead_somewhere(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    if page.suffix == ".ipynb":
        text = "\n".join(source(c) for c in cells(page) if c["cell_type"] == "markdown")
    assert not [link for link in links(text) if not (page.parent / link).exists()]


@pytest.mark.parametrize(("chapter", "following"), list(zip(CHAPTERS, CHAPTERS[1:], strict=False)), ids=lambda p: p.stem)
def test_every_chapter_leads_to_the_next(chapter: Path, following: Path) -> None:
    last = source(cells(chapter)[-1])
    assert "Next:" in last and any((chapter.parent / link).resolve() == following for link in links(last)), last


@pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda p: p.stem)
def test_a_chapter_says_what_it_is_and_speaks_of_chapters(chapter: Path) -> None:
    assert re.match(r"# .+\n+> .+", source(cells(chapter)[0])), "title and one line"
    prose = " ".join(source(c) for c in cells(chapter) if c["cell_type"] == "markdown")
    assert not re.search(r"\b([Tt]his|[Tt]he|[Ee]ach|next|two) rooms?\b", prose), "a notebook is a chapter, a module is a module"
