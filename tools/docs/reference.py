"""The reference: every public name with its signature as it is written, comments with shapes and all, and its docstring."""

import ast
import re
import textwrap
from pathlib import Path

from book import PACKAGES, ROOT, Book, toctree
from make_stubs import exported
from method_pages import plain

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def label(package: str, node: Definition | None, name: str) -> str:
    "What a link to a name says; a class and a function may differ in capitals only."
    return f"api-{package}-{name.lower()}" + ("-class" if isinstance(node, ast.ClassDef) else "")


def documented(text: str) -> str:
    return re.sub(r"`[^`]*`|[^`]+", lambda part: part[0] if part[0][0] == "`" else plain(part[0]), text)


def signature(node: Definition, lines: list[str]) -> str:
    "The lines of a definition up to its docstring or body, as they are written."
    first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
    return textwrap.dedent("\n".join(lines[first - 1 : max(node.body[0].lineno - 1, node.lineno)])).rstrip()


def members(node: ast.ClassDef, lines: list[str]) -> str:
    "The fields and the public methods of a class."
    fields = [lines[n.lineno - 1 : n.end_lineno] for n in node.body if isinstance(n, ast.AnnAssign)]
    shown = [textwrap.dedent("\n".join(one)) for one in fields if not one[0].strip().startswith("_")]
    for one in node.body:
        if isinstance(one, ast.FunctionDef) and (one.name == "__init__" or not one.name.startswith("_")):
            said = ast.get_docstring(one)
            shown.append(("\n" if shown else "") + signature(one, lines) + (f'\n    "{said}"' if said else ""))
    return "\n".join(shown)


def entry(package: str, name: str, node: ast.stmt | None, lines: list[str]) -> str:
    "What the page says about one name."
    if isinstance(node, Definition):
        code = signature(node, lines)
        inner = members(node, lines) if isinstance(node, ast.ClassDef) else ""
        code += "\n\n" + textwrap.indent(inner, "    ") if inner else ""
        said = documented(ast.get_docstring(node) or "")
    else:
        code, said = (lines[node.lineno - 1][:200] if node else name), ""
    kind = node if isinstance(node, Definition) else None
    return f"({label(package, kind, name)})=\n### {name}\n\n{said}\n\n```python\n{code}\n```\n"


def defined(tree: ast.Module) -> dict[str, ast.stmt]:
    "The statement that defines each name of a module."
    found: dict[str, ast.stmt] = {}
    for node in tree.body:
        targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
        names = [node.name] if isinstance(node, Definition) else [t.id for t in targets if isinstance(t, ast.Name)]
        found |= {name: node for name in names if name not in found}
    return found


def module_part(package: str, path: Path) -> str:
    "A module: what it is about, its chapter, its names."
    text = path.read_text(encoding="utf-8")
    tree, lines = ast.parse(text), text.splitlines()
    names, known = exported(path), defined(tree)
    if not names:
        return ""
    chapter = re.search(r"File to edit: (?:\.\./)+nbs/(\S+\.ipynb)", text)
    said = documented(ast.get_docstring(tree) or "")
    link = f" Chapter: [{chapter[1]}](../{chapter[1]})." if chapter else ""
    return "\n".join([f"## {package}.{path.stem}\n", f"{said}.{link}\n", *(entry(package, n, known.get(n), lines) for n in names)])


def top_names() -> str:
    "What people type, hl.*, with a link to each."
    tree = ast.parse((ROOT / "hyperlab" / "__init__.pyi").read_text(encoding="utf-8"))
    rows = []
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.module and "." in node.module:
            package, module = node.module.split(".")
            known = defined(ast.parse((ROOT / "hyperlab" / package / f"{module}.py").read_text(encoding="utf-8")))
            for name in [alias.name for alias in node.names]:
                one = known.get(name)
                kind = one if isinstance(one, Definition) else None
                said = documented((ast.get_docstring(kind) or "").partition("\n")[0]).replace("|", "/") if kind else ""
                public = name in exported(ROOT / "hyperlab" / package / f"{module}.py")
                shown = f"[`hl.{name}`](#{label(package, kind, name)})" if public else f"`hl.{name}`"
                rows.append(f"| {shown} | {said} |")
    return "\n".join(["| name | |", "|---|---|", *rows])


def stage_reference(book: Book) -> None:
    for package, about in PACKAGES.items():
        modules = sorted((ROOT / "hyperlab" / package).glob("*.py"))
        parts = [part for path in modules if path.name != "__init__.py" and (part := module_part(package, path))]
        book.write(f"api/{package}.md", f"# hyperlab.{package}\n\n{about}\n\n" + "\n".join(parts))
    about = "What people type, by `import hyperlab as hl`; the rest is an attribute of its package: `hl.analysis.cka`."
    book.write("api/index.md", f"# Reference\n\n{about}\n\n{top_names()}\n" + toctree(list(PACKAGES)))
