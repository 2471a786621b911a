"""Every number in a table of the docs comes out of a result file, of a count, or of `hyperlab.papers.tables`: none is typed in.

Tables with figures are printed by code. So the text of the notebooks may hold no table with figures, code that prints
tables may hold no figure of its own, and README.md may hold no table that no code prints. Whether the printing code really
reads its sources is seen by changing them: every figure on the page has to move.
"""

import ast
import copy
import importlib
import importlib.util
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import nbformat
import numpy as np
import pandas as pd
import pytest

from hyperlab.core.files import read_json

COST, SHIPPED, AGREEMENT = (
    importlib.import_module(f"hyperlab.{module}")
    for module in ("papers.parameters", "experiments.shipped_results", "experiments.agreement")
)
DESCRIBED, CONTINUAL = (importlib.import_module(f"hyperlab.experiments.{name}_study") for name in ("described", "continual"))
MANY_STUDY = importlib.import_module("hyperlab.experiments.many_study")
ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = sorted(p for p in (ROOT / "nbs").rglob("*.ipynb") if not {".ipynb_checkpoints", "runs"} & set(p.parts))

NUMBER = r"\d[\d,.]*(?:e[-−+]?\d+)?"
UNIT = r"(?:\s?(?:%|×|x|K|M|B|KB|MB|GB|KiB|MiB|GiB|ms|s|min|h|points?))?"
MORE = rf"\s*[/±+×–]\s*[+−-]?{NUMBER}{UNIT}|\s*\({NUMBER}{UNIT}\)"
WHOLE = re.compile(rf"[~≈<>+−-]?\s*{NUMBER}{UNIT}(?:{MORE})*")  # nothing but figures
RESULT = re.compile(r"\d\s?%|±\s?\d|\d\d\.\d|\d\.\d\d")  # a percentage, a spread, or two decimals' worth, among words


# ---------------------------------------------------------------------- what a figure in a table is


def table_rows(text: str) -> list[str]:
    "Lines of markdown that are rows of tables, and rows of HTML tables; blocks of code are no text."
    outside = re.sub(r"^```.*?^```", "", text, flags=re.S | re.M)
    html = ["|".join(re.findall(r"<t[dh][^>]*>(.*?)</t[dh]>", row, re.S)) for row in re.findall(r"<tr.*?</tr>", outside, re.S)]
    piped = [line for line in outside.splitlines() if line.count("|") >= 2 or line.lstrip().startswith("|")]
    return [row for row in piped + html if not re.fullmatch(r"[\s|:–-]*", row)]


def figures(row: str) -> list[str]:
    "The cells of a row that state a figure."
    inner = [re.sub(r"[*_$]|(?<!\w)`|`(?!\w)", "", cell).strip() for cell in row.strip().strip("|").split("|")]
    return [cell for cell in inner if WHOLE.fullmatch(cell) or RESULT.search(cell)]


def typed_in_text(text: str) -> list[str]:
    "Rows of tables with figures in a text."
    return [row for row in table_rows(text) if figures(row)]


def literal_texts(tree: ast.AST) -> Iterator[str]:
    "Texts in code, with the places of f-strings left open; how a value is to be formatted is no text."
    inside = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in ast.walk(node) if part is not node}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr) and id(node) not in inside:
            yield "".join(part.value if isinstance(part, ast.Constant) else "{}" for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in inside:
            yield node.value


def typed_in_code(source: str) -> list[str]:
    "Rows of tables with figures that stand in a code cell as text."
    lines = [line for line in source.splitlines() if not line.lstrip().startswith(("%", "!"))]
    return [row for text in literal_texts(ast.parse("\n".join(lines))) for row in typed_in_text(text)]


def numbers_in_code(source: str) -> list[float]:
    "Numbers with a fraction in code; one that prints a table needs none."
    return [n.value for n in ast.walk(ast.parse(source)) if isinstance(n, ast.Constant) and isinstance(n.value, float)]


# ---------------------------------------------------------------------- the pages


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_no_figure_is_typed_into_a_table(path: Path) -> None:
    for cell in nbformat.read(path, as_version=4).cells:
        found = typed_in_text(cell.source) if cell.cell_type == "markdown" else typed_in_code(cell.source)
        assert not found, f"{path.name}: print this table from a result file, a count or hyperlab.papers:\n" + "\n".join(found)


def test_written_pages_hold_no_figures() -> None:
    for name in ("CONTRIBUTING.md", "CHANGELOG.md", "data_cache/README.md"):
        assert not typed_in_text((ROOT / name).read_text()), name


def readme_tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_readme", ROOT / "tools" / "make_readme.py")
    assert spec and spec.loader
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    return tool


@cache
def printed_today(source: str) -> str:
    "What a cell prints on the page; counting all methods takes seconds."
    text: str = readme_tool().printed_by(source)
    return text


def printing_cells(*notebooks: str) -> list[str]:
    "The cells that print tables on a page; on all pages if none is named."
    pages = notebooks or tuple(readme_tool().PAGES)
    cells = [c for name in pages for c in nbformat.read(ROOT / "nbs" / f"{name}.ipynb", as_version=4).cells]
    return [c.source for c in cells if c.cell_type == "code" and "#| readme" in c.source.splitlines()]


def test_cells_that_print_tables_hold_no_numbers() -> None:
    assert printing_cells()
    for source in printing_cells():
        assert not numbers_in_code(source), source


@pytest.mark.parametrize(("notebook", "page"), list(readme_tool().PAGES.items()))
def test_a_page_has_no_table_but_the_printed_ones(notebook: str, page: str) -> None:
    printed = {line for source in printing_cells(notebook) for line in printed_today(source).splitlines()}
    typed = [row for row in typed_in_text((ROOT / page).read_text()) if row not in printed]
    assert not typed, f"these rows are printed by no cell of nbs/{notebook}.ipynb (or {page} is stale): " + "\n".join(typed)


def test_the_card_of_the_backbone_prints_its_log() -> None:
    folder = ROOT / "hyperlab" / "assets" / "nano" / "backbone"
    log = {line["step"]: line for line in map(json.loads, (folder / "log.jsonl").read_text().splitlines())}
    rows = [row.strip("| ").split(" | ") for row in typed_in_text((folder / "README.md").read_text())]
    last = [row for row in rows if row[0] == rows[-1][0]]  # the log of the last part is shipped
    assert len(last) > 5
    for _, step, *shown in last:
        assert shown == [f"{log[int(step)][name]:.3f}" for name in ("loss", "words", "kinds")]


# ---------------------------------------------------------------------- every figure moves with its source


def moved(value: Any) -> Any:
    "The same data with other numbers, lists twice as long."
    if isinstance(value, dict):
        return {moved_name(name): moved(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [moved(inner) for inner in value] * 2
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value
    return type(value)(value * 0.73 + 41)  # so that no share of a hundred stays where it is


def moved_name(name: Any) -> Any:
    "A name, or another number where it is one: the rate of a trial."
    return f"{moved(float(name)):g}" if isinstance(name, str) and re.fullmatch(r"\d*\.\d+", name) else name


def moved_fits(fits: Any) -> Any:
    "Few-shot fits of other sizes with other scores."
    rng = np.random.default_rng(0)
    noise = rng.normal(9_000, 900, len(fits))  # so far away that no mean and no spread is what it was, by chance either
    spoilt = rng.random(len(fits)) / 2
    right = [answers ^ (rng.random(len(answers)) < share) for answers, share in zip(fits["right"], spoilt, strict=True)]
    return fits.assign(shots=fits["shots"] * 10 + 3, score=fits["score"] + noise, right=right,
                       **{"zero-shot": fits["zero-shot"] + noise})  # fmt: skip


def moved_facts(facts: Any) -> Any:
    "Records of twice as many runs with other scores, parameters and sizes."
    rng = np.random.default_rng(0)
    twice = pd.concat([facts, facts], ignore_index=True)
    more = {"trained": twice["trained"] * 3 + 1, "max_examples": twice["max_examples"] * 10 + 3}
    return twice.assign(average_metrics=twice["average_metrics"] + rng.normal(9_000, 900, len(twice)), **more)


def moved_described(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    "Records of fewer tasks, with other scores and spreads."
    share = {"description": 1.0}  # so that every difference is another one, and every end of an interval

    def fewer(ways: dict[str, dict[str, float]], seed: int) -> dict[str, dict[str, float]]:
        return {way: {t: share.get(way, 0.3) * v * (1 + seed / 10) for t, v in list(scores.items())[len(scores) > 1 :]}
                for way, scores in ways.items()}  # fmt: skip

    alone = lambda one: one["kind"] == "fold" and len(one["scores"]["description"]) == 1
    kept = [one for one in records if not (alone(one) and one["fold"] == 0)]
    other = [{**one, **{kind: fewer(one[kind], one["seed"]) for kind in ("scores", "readable")}} for one in kept]
    return [moved(one) | {"seed": one["seed"]} for one in other]


def moved_sequences(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    "Twice as many sequences with other scores."
    other = [[[None if v is None else v * 0.7 + 3 for v in row] for row in one["matrix"]] for one in records]
    came = [[{**new, "before": new["before"] * 0.6 + 3} for new in one["came"]] for one in records]
    return [{**one, "matrix": m, "came": c} for one, m, c in zip(records, other, came, strict=True)] * 2


def move_sources(patch: pytest.MonkeyPatch) -> None:
    "Other results, other counts, and other figures of the papers; no code is touched that makes a table of them."
    results, count, reported, unpack = SHIPPED.shipped_results, COST.count_method, COST.reported_figures, SHIPPED.unpack_fits
    other: Callable[[str], str] = lambda text: re.sub(r"\d", lambda digit: str((int(digit[0]) + 1) % 10), text)

    def more_results() -> dict[str, Any]:
        found = moved(copy.deepcopy(results()))
        return found | {f"{name}-more": result for name, result in found.items() if name != "baselines"}

    packed = SHIPPED.packed_runs
    patch.setattr(SHIPPED, "shipped_results", more_results)
    patch.setattr(SHIPPED, "packed_runs", lambda: moved(packed()))
    patch.setattr(SHIPPED, "read_json", lambda path: moved(read_json(path)))
    patch.setattr(SHIPPED, "unpack_fits", lambda path: moved_fits(unpack(path)))
    facts = AGREEMENT.shipped_facts
    patch.setattr(AGREEMENT, "shipped_facts", lambda one: moved_facts(facts(one)))
    patch.setattr(AGREEMENT, "printed_average", lambda row: None if row.average is None else row.average * 0.7 + 3)
    many = MANY_STUDY.many_records
    patch.setattr(MANY_STUDY, "many_records", lambda: [moved(one) | {"seed": one["seed"]} for one in many()])
    described, continual = DESCRIBED.described_records, CONTINUAL.continual_records
    patch.setattr(DESCRIBED, "described_records", lambda: moved_described(described()))
    patch.setattr(CONTINUAL, "continual_records", lambda: moved_sequences(continual()))
    patch.setattr(COST, "count_method", lambda *a: replace(c := count(*a), backbone=3 * c.backbone))
    patch.setattr(COST, "reported_figures", lambda *a: {k: other(v) for k, v in reported(*a).items()})


Cells = list[list[str]]  # the figures of each cell of a row


def by_label(page: str) -> dict[tuple[str, ...], list[Cells]]:
    "Figures of each row, by the cells that hold none; the 5 of T5 is no figure, nor is what is part of a row's name."
    rows: dict[tuple[str, ...], list[Cells]] = {}
    for row in typed_in_text(page):
        inner = row.strip().strip("|").split("|")
        found = [(cell.strip(), re.findall(rf"(?<![A-Za-z]){NUMBER}", cell)) for cell in inner]
        if re.search("[A-Za-z]", inner[0]) and not RESULT.search(inner[0]):
            found[0] = (inner[0].strip(), [])  # a name, such as OutGate (16)
        rows.setdefault(tuple(cell for cell, inside in found if cell and not inside), []).append([inside for _, inside in found])
    return rows


@pytest.mark.parametrize("place", range(len(printing_cells())))
def test_every_figure_of_a_printed_table_moves_with_its_source(place: int, monkeypatch: pytest.MonkeyPatch) -> None:
    source = printing_cells()[place]
    before, sentence = by_label(printed_today(source)), re.findall(NUMBER, printed_today(source))
    move_sources(monkeypatch)
    said = readme_tool().printed_by(source)
    after = by_label(said)
    if not before:  # a sentence
        assert sentence and not {*sentence} & {*re.findall(NUMBER, said)}, f"{said} still has figures of {sentence}"
        return
    assert before and set(before) <= set(after)
    for label, rows in before.items():
        for old, new in zip(rows, after[label], strict=True):
            still = [a for cell, other in zip(old, new, strict=True) for a, b in zip(cell, other, strict=bool(cell)) if a == b]
            assert any(old) and not still, f"{label}: {still} stayed as they were when every source of figures changed"


# ---------------------------------------------------------------------- the checks can fail

OFFENDING = [
    "| method | RTE |\n|---|---|\n| HyperFormer++ | 75.36 |",
    "| method | score |\n|---|---|\n| full | **91.6** |",
    "| method | seeds |\n|---|---|\n| full | 3 |",
    "| name | trained |\n|---|---|\n| `bitfit` | 0.126 % |",
    "| name | score |\n|---|---|\n| full | 85.03 (± 0.087) |",
    "| name | score |\n|---|---|\n| full | $88.18/91.61$ |",
    "| name | cost |\n|---|---|\n| dense | 64 + 4,608 |",
    "name | score\n---|---\nfull, tuned | about 12 % better | ",
    "<table><tr><td>full</td><td>91.6</td></tr></table>",
]
HARMLESS = [
    "| name | rule |\n|---|---|\n| `L2` (Eq. 3) | $L_r X$ |",
    "| table | what |\n|---|---|\n| HyperFormer, Figure 3 | components of task embeddings |",
    "| setting | HyperGrid |\n|---|---|\n| optimiser | Adafactor 1e-3, warm-up 500 |",
    "```\n| full | 91.6 |\n```",
    "HyperFormer++ is 86.48 by one rule and 85.20 by the other.",
]


@pytest.mark.parametrize("text", OFFENDING)
def test_a_typed_in_figure_is_found(text: str) -> None:
    assert typed_in_text(text)
    assert typed_in_code(f"print({text!r})")


@pytest.mark.parametrize("text", HARMLESS)
def test_other_tables_pass(text: str) -> None:
    assert not typed_in_text(text)


def test_a_figure_in_printing_code_is_found() -> None:
    assert typed_in_code('print(f"| full | {seeds} | 91.6 |")') and numbers_in_code("rows = [('full', 91.6)]")
    assert not typed_in_code('print(f"| {name} | {score:.2f} | {trained:,} |")') and not numbers_in_code("cost(name, tasks=8)")


def test_a_table_that_ignores_its_source_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    stuck = "print('| full | ' + str(9) + '1.6 |')"
    before = by_label(readme_tool().printed_by(stuck))
    move_sources(monkeypatch)
    assert by_label(readme_tool().printed_by(stuck)) == before == {("full",): [[[], ["91.6"]]]}
