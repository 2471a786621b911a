"""Every figure has a still twin that says and shows what it does, and a page made of a notebook shows it without a network."""

import ast
import math
import re
import xml.etree.ElementTree as ET
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from shown_figures import SHOWN

from hyperlab.analysis.figure_axes import whole_figure
from hyperlab.analysis.static_figures import static_svg

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

ROOT = Path(__file__).resolve().parents[2]
SVG = "{http://www.w3.org/2000/svg}"
HELPERS = {"styled", "save_page", "first_run_figures"}  # they take a figure or gather those of others


@cache
def pair(name: str) -> "tuple[Figure, ET.Element]":
    "A figure and its twin."
    figure = SHOWN[name]()
    return figure, ET.fromstring(static_svg(figure))


def plain(text: str) -> str:
    "Letters of a text, without marks and spaces."
    return re.sub(r"<[^>]*>|\s", "", text)


def test_every_function_that_draws_a_figure_is_tried() -> None:
    drawing = set()
    for module in (ROOT / "hyperlab").rglob("*.py"):
        for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef) and node.returns and re.search(r"\bFigure\b", ast.unparse(node.returns)):
                drawing.add(node.name)
    assert drawing - HELPERS == set(SHOWN)


@pytest.mark.parametrize("name", SHOWN)
def test_a_twin_says_what_its_figure_says(name: str) -> None:
    figure, drawn = pair(name)
    traces, layout = whole_figure(figure.to_dict())
    said = "".join(plain("".join(text.itertext())) for text in drawn.iter(f"{SVG}text"))
    wanted = [layout["title"]["text"], *(note["text"] for note in layout["annotations"])]
    wanted += [(layout[key].get("title") or {}).get("text") or "" for key in layout if re.fullmatch(r"[xy]axis\d*", key)]
    legend = [t["name"] for t in traces if t.get("showlegend") is not False and t["type"] != "heatmap"]
    wanted += legend if len(legend) > 1 and layout.get("showlegend") is not False else []
    wanted += [text for trace in traces if "text" in (trace.get("mode") or "") for text in trace["text"]]
    assert not [text for text in wanted if plain(text) not in said]
    assert plain(layout["title"]["text"])[:12] in plain(drawn.get("aria-label") or "")


def marks(drawn: ET.Element, trace: dict[str, Any]) -> dict[str, int]:
    "What the twin draws for a trace."
    groups = [g for g in drawn.iter(f"{SVG}g") if g.get("data-trace") == trace["name"]]
    inside = [element for group in groups for element in group.iter()]
    lines = [e for e in inside if e.tag == f"{SVG}path" and e.get("fill") == "none" and e.get("stroke-linejoin")]
    errors = [e for e in inside if e.tag == f"{SVG}path" and e.get("fill") == "none" and e.get("d", "").count("M") == 3]
    filled = [e for e in inside if e.tag in (f"{SVG}path", f"{SVG}circle") and e not in lines + errors]
    corners = sum(len(re.findall("[ML]", e.get("d", ""))) for e in lines)
    rects, cells = sum(e.tag == f"{SVG}rect" for e in inside), sum(e.get("d", "").count("M") for e in filled)
    return {"corners": corners, "points": len(filled), "errors": len(errors), "rects": rects, "cells": cells}


def finite(values: Any) -> list[float]:
    return [v for v in values if v is not None and (isinstance(v, str) or math.isfinite(v))]


def gathered(traces: list[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    "Traces by name: panels repeat the names of their traces."
    found: dict[str, list[dict[str, Any]]] = {}
    for trace in traces:
        found.setdefault(trace["name"], []).append(trace)
    return found


@pytest.mark.parametrize("name", SHOWN)
def test_a_twin_has_a_mark_for_every_point(name: str) -> None:
    figure, drawn = pair(name)
    for traces in gathered(whole_figure(figure.to_dict())[0]).values():
        found, kind = marks(drawn, traces[0]), traces[0]["type"]
        if kind == "bar":
            assert found["rects"] == sum(len(finite(t["x"])) for t in traces)
        elif kind == "heatmap":
            assert found["cells"] == sum(len(finite(row)) for t in traces for row in t["z"])
        elif kind == "box":
            assert found["points"] == len(traces)
        else:
            points = lambda t: sum(len(finite(spot)) == 2 for spot in zip(t["x"], t["y"], strict=True))
            mode = lambda t: t.get("mode") or ("lines+markers" if len(t["x"]) < 20 else "lines")
            bands = sum((t.get("fill") or "none") != "none" for t in traces)
            assert found["points"] == sum(points(t) for t in traces if "markers" in mode(t)) + bands
            lined = [t for t in traces if "lines" in mode(t) and (t.get("line") or {}).get("width") != 0]
            assert found["corners"] == sum(map(points, lined))
            given = [t.get(f"error_{letter}") or {} for t in traces for letter in "xy"]
            assert found["errors"] == sum(size > 0 for error in given for size in error.get("array") or ())


@pytest.mark.parametrize("name", SHOWN)
def test_a_twin_is_light_and_the_same_every_time(name: str) -> None:
    figure, drawn = pair(name)
    text = static_svg(figure)
    assert text == static_svg(figure.to_dict()) and len(text) < 60_000
    assert not [e.tag for e in drawn.iter() if e.get("id") or e.tag in (f"{SVG}script", f"{SVG}style", f"{SVG}image")]
    assert "url(" not in text and "href" not in text
    ground = drawn[0]  # readable on a dark page too
    assert ground.tag == f"{SVG}rect" and ground.get("fill") == "white" and ground.get("width") == drawn.get("width")
