"""A page for every registered method, made from its class, its rule and the records that the package ships."""

import ast
import html
import inspect
import textwrap
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import fields
from typing import Any

import torch
from book import ROOT, Book, toctree

import hyperlab as hl
from hyperlab.core.backbones import shape_of
from hyperlab.core.method import METHODS, Method, Rule
from hyperlab.core.sites import all_sites
from hyperlab.experiments.many_study import many_records
from hyperlab.experiments.shipped_results import markdown, method_table

DRAWN, COUNTED, TASKS = "t5-small", "t5-base", (1, 8, 64)
BOX, GAP, LEFT = (92, 22), 8, 66  # of the drawing of sites, in pixels


def slug(name: str) -> str:
    return name.replace("+", "-plus")


def comments_of(method: type[Method]) -> dict[str, str]:
    "What is written behind each option, in the class or in one that it derives from."
    found: dict[str, str] = {}
    for cls in reversed(method.__mro__[:-1]):
        lines = textwrap.dedent(inspect.getsource(cls)).splitlines()
        (tree,) = ast.parse("\n".join(lines)).body
        for node in tree.body if isinstance(tree, ast.ClassDef) else []:
            if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                _, mark, said = lines[(node.end_lineno or 0) - 1].partition("  # ")
                if mark:
                    found[node.target.id] = said
    return found


def options_table(method: Method) -> str:
    said = comments_of(type(method))
    said = {name: text.replace("|", "/") for name, text in said.items()}
    rows = [f"| `{one.name}` | `{getattr(method, one.name)!r}` | {said.get(one.name, '')} |" for one in fields(method)]
    return "\n".join(["| option | default | |", "|---|---|---|", *rows]) if rows else "It has none."


def plain_rule(method: Method) -> Rule:
    "The rule for the drawing, without memory for its weights."
    with torch.device("meta"):
        return method.build(shape_of(DRAWN), 8)


def sublayer(place: str) -> str:
    "The sublayer that a place belongs to: attention for attention.q, norm for the last norm of a stack."
    return place.partition(".")[0]


def drawing(method: Method, rule: Rule) -> str:
    "Both stacks of a small T5, a row for each layer; sublayers at which something acts are filled, by what writes it."
    moves = rule.shifts_backbone or method.trains in ("all", "all-but-embeddings")
    touched: dict[tuple[Any, ...], set[str]] = defaultdict(set)
    for name, part in rule.parts.items():
        for site in part.sites:
            touched[site.stack, site.layer, sublayer(site.place)].add(written_by(rule, name))
    boxes: dict[str, list[tuple[Any, ...]]] = defaultdict(list)
    for site in all_sites(shape_of(DRAWN)):
        box = (site.stack, site.layer, sublayer(site.place))
        if box not in boxes[site.stack]:
            boxes[site.stack].append(box)
    parts, left, height = [], 0, 0
    for stack, inside in boxes.items():
        layers: dict[Any, list[tuple[Any, ...]]] = defaultdict(list)
        for box in inside:
            layers[row_of(box)].append(box)
        columns = max(map(len, layers.values()))
        parts.append(f'<text x="{left}" y="14" class="stack">{stack}</text>')
        for y, (_, row) in enumerate(sorted(layers.items())):
            parts += [drawn_box(box, touched[box], moves, left + x * (BOX[0] + GAP), 24 + y * (BOX[1] + GAP))
                      for x, box in enumerate(row)]  # fmt: skip
        height = max(height, 24 + len(layers) * (BOX[1] + GAP))
        left += columns * (BOX[0] + GAP) + 24
    said = html.escape(f"Where {method.name} acts in {DRAWN}")
    return (f'<svg class="hl-sites" viewBox="0 0 {left - 24} {height}" role="img" aria-label="{said}">' + "".join(parts) + "</svg>")


def row_of(box: tuple[Any, ...]) -> int:
    "Input first, then the layers, then what stands behind them."
    return -1 if box[2] == "input" else 1000 if box[1] < 0 else int(box[1])


def drawn_box(box: tuple[Any, ...], writers: set[str], moves: bool, x: int, y: int) -> str:
    _, layer, place = box
    whole = moves and place != "input"
    kind = "written" if any("network" in one for one in writers) else "stored" if writers else "whole" if whole else "frozen"
    name = place if layer < 0 else f"{layer} {place}"
    words = f'<text x="{x + BOX[0] / 2}" y="{y + 15}">{html.escape(name)}</text>'
    return f'<rect class="{kind}" x="{x}" y="{y}" width="{BOX[0]}" height="{BOX[1]}" rx="4"/>{words}'


NETWORKS = {"Hypernetwork", "FromTask", "FromInput"}


def written_by(rule: Rule, part: str) -> str:
    return "network" if type(rule.generators[part]).__name__ in NETWORKS else "table"


def parts_table(rule: Rule) -> str:
    "What acts where, and where its weights come from."
    rows = []
    for name, part in rule.parts.items():
        adapter, generator = part.adapter, rule.generators[name]
        rows.append(f"| `{name}` | {first_line(adapter)} | {len(part.sites)} | {first_line(generator)} |")
    head = [f"| part | what acts | sites in {DRAWN} | where its weights come from |", "|---|---|---|---|"]
    return "\n".join(head + rows)


def first_line(thing: Any) -> str:
    said = (inspect.getdoc(type(thing)) or "").partition("\n")[0].replace("|", "/")
    return f"`{type(thing).__name__}`: {plain(said)}"


def plain(text: str) -> str:
    "A docstring in a page: its brackets and stars are no markup."
    for mark in "\\*_<[]$":
        text = text.replace(mark, "\\" + mark)
    return text


def cost_table(name: str) -> str:
    rows = []
    for one in (hl.cost(COUNTED, name, tasks=tasks) for tasks in TASKS):
        rows.append(f"| {one.count.tasks} | {one.count.trained:,} | {one.trained_percent_per_task:.3f} % | {one.in_paper} |")
    return "\n".join(["| tasks | trained parameters | of the backbone, for each task | in the paper |", "|---|---|---|---|", *rows])


def score_page(name: str) -> str:
    "What the shipped records say of a method, and how to measure it where they say nothing."
    table, many = method_table(), [one for one in many_records() if one["contender"] == name]
    rows = table[table.method == name]
    said = []
    if len(rows):
        shown = rows.assign(rates=["tuned" if tuned else "before tuning" for tuned in rows.tuned])
        shown = shown.assign(trained=[f"{n:,}" for n in shown.trained], spread=["" if s != s else f"± {s}" for s in shown.spread])
        kept = shown[["backbone", "rates", "score", "spread", "seeds", "trained"]]
        said.append("Eight nano tasks, mean of eleven metrics on test rows:\n\n" + markdown(kept, index=False))
    if many:
        head = ["| tasks | examples of each | score | trained | seed |", "|---|---|---|---|---|"]
        row = "| {tasks} | {examples} | {score:.1f} | {trained:,} | {seed} |"
        lines = [row.format(**one) for one in many]
        said.append("Many small tasks, percent right on test rows:\n\n" + "\n".join(head + lines))
    if not said:
        command = f"import hyperlab as hl; hl.nano_run('{name}', run_dir='runs/{name}')"
        return f"The package ships no run of this method. This makes one, with the others' budget:\n\n```python\n{command}\n```"
    return "\n\n".join([*said, "All methods side by side, and how they were measured: [Results](../results.md)."])


def chapter_of(method: type[Method]) -> str:
    "The chapter that a method is written in."
    marked = f"#| default_exp {method.__module__.removeprefix('hyperlab.')}"
    path = next(p for p in sorted((ROOT / "nbs" / "methods").glob("*.ipynb")) if f'"{marked}"' in p.read_text(encoding="utf-8"))
    return str(path.relative_to(ROOT / "nbs"))


LEGEND = ("Blue: weights are written by a network. Orange: weights are stored. A thick border: the backbone itself is trained or "
          "moved there. Pale: frozen.")


def method_page(name: str) -> str:
    method = hl.get_method(name)
    rule, chapter = plain_rule(method), chapter_of(type(method))
    where = f"<figure>{drawing(method, rule)}<figcaption>{LEGEND}</figcaption></figure>"
    trained = f"In the backbone itself it trains: {method.trains}."
    parts = [f"# {method.title}", f"`{name}`: {plain(inspect.getdoc(type(method)) or '')}", f"Paper: {method.paper}.",
             f"$$\n{method.formula}\n$$", "## When to use it, and when not",
             f":::{{list-table}}\n:widths: 1 6\n\n* - **Take it**\n  - {method.when}\n* - **Not**\n  - {method.when_not}\n:::",
             "## Where it acts", where, parts_table(rule) if rule.parts else "", trained,
             "## Options", f"As in `hl.adapt(backbone, \"{name}\", tasks, option=value)`.", options_table(method),
             "## Cost", f"Counted on {COUNTED} with `hl.cost`.", cost_table(name), "## Measured", score_page(name),
             f"The chapter with every formula and check: [{chapter}](../{chapter})."]  # fmt: skip
    return "\n\n".join(part for part in parts if part) + "\n"


def overview(names: Iterable[str]) -> str:
    "All methods in a table, with their sentences."
    rows = [f"| [{METHODS[n].title}]({slug(n)}.md) | {METHODS[n].when} | {METHODS[n].when_not} |" for n in names]
    table = "\n".join(["| method | take it | not |", "|---|---|---|", *rows])
    return f"# Methods\n\nEvery registered method: where it acts, its options, what it costs, what was measured.\n\n{table}\n"


def stage_methods(book: Book) -> None:
    names = hl.available_methods()
    for name in names:
        book.write(f"method/{slug(name)}.md", method_page(name))
    book.write("method/index.md", overview(names) + toctree([slug(name) for name in names], hidden=True))


def stage_experiments(book: Book) -> None:
    "Every table and figure of the four papers: what it asks, what fills it, what it costs."
    table = hl.known_experiments()
    parts = ["# Tables and figures of the papers",
             "What each asks, the command that makes it on the nano tasks, and what is there. The numbers are in "
             "[Results](results.md), what follows from them in [Claims](claims.ipynb)."]  # fmt: skip
    for paper in dict.fromkeys(table.paper):
        own = table[table.paper == paper].drop(columns="paper")
        own = own.assign(command=[f"`{command}`" for command in own.command])
        parts += [f"## {paper}", markdown(own, index=False)]
    book.write("paper_experiments.md", "\n\n".join(parts) + "\n")
