"""Sphinx's settings for the site; tools/docs/build.py says where sources and pages lie."""

import configparser
from pathlib import Path
from typing import Any

from docutils.nodes import SkipNode
from latex2mathml.converter import convert

ROOT = Path(__file__).resolve().parents[2]
SETTINGS = configparser.ConfigParser(delimiters=["="])
SETTINGS.read(ROOT / "settings.ini", encoding="utf-8")
SETTINGS = SETTINGS["DEFAULT"]

project, author, version = SETTINGS["title"], SETTINGS["author"], SETTINGS["version"]
project_copyright = SETTINGS["copyright"]
html_title = f"{project} {version}"
extensions = ["myst_nb", "sphinx_design"]
html_theme = "furo"
html_static_path = [str(Path(__file__).parent / "static")]
html_css_files = ["site.css"]
html_show_sphinx = html_show_sourcelink = html_copy_source = False
html_theme_options = {"navigation_with_keys": True}
pygments_style, pygments_dark_style = "friendly", "monokai"

nb_execution_mode = "off"  # notebooks are committed executed
nb_ipywidgets_js: dict[str, Any] = {}  # it would come from another host
myst_enable_extensions = ["dollarmath", "colon_fence", "deflist"]
myst_heading_anchors = 3
suppress_warnings = ["myst.header"]  # a cell may begin with a small heading
exclude_patterns: list[str] = []


def mathml(translator: Any, node: Any, display: str) -> str:
    "A formula as MathML, which browsers draw themselves."
    tag, latex = "", node.astext()
    if r"\tag{" in latex:
        latex, _, rest = latex.partition(r"\tag{")
        tag = f'<span class="eqno">({rest.partition("}")[0]})</span>'
    return f"{tag}{convert(latex.strip(), display=display)}"


def inline(translator: Any, node: Any) -> None:
    translator.body.append(mathml(translator, node, "inline"))
    raise SkipNode


def displayed(translator: Any, node: Any) -> None:
    translator.body.append(f'<div class="formula">{mathml(translator, node, "block")}</div>')
    raise SkipNode


def setup(app: Any) -> dict[str, bool]:
    app.add_html_math_renderer("mathml", (inline, None), (displayed, None))
    app.config.html_math_renderer = "mathml"
    return {"parallel_read_safe": True, "parallel_write_safe": True}
