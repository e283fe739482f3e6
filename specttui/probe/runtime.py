"""Assembles the block: the rooms of specttui/probe/block as one function, and the text around it."""

from __future__ import annotations

import ast
import json
import pprint
import textwrap
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Any

#: The block's rooms, each after those it uses.
ROOMS = (
    "words", "cycle", "clocks", "acceptance", "roles", "hooks", "ranks", "control", "writer", "figures",
    "steps", "binding", "probe", "install",
)  # fmt: skip
#: The one name the block leaves in the worker's module: the probe (None if it could not be made).
BLOCK_NAME = "_specttui_probe"
#: Version of the block's text around the code, in both markers.
BLOCK_VERSION = 1
MARKER_BEGIN = "# >>> specttui probe"
MARKER_END = "# <<< specttui probe"

_TEMPLATE = """\
{begin} v{version} {marker}
# Added by specttui: times the decode cycle and takes itself out on any error. `specttui restore` removes it,
# from the marker above to the marker below; everything before is the original file, byte for byte.
def {name}(_specttui_namespace, _specttui_settings):
{body}
    return _specttui_install(_specttui_namespace, _specttui_settings)


try:
    {name} = {name}(
        globals(),
{settings},
    )
except Exception:
    {name} = None
{end} v{version}
"""


def render_block(marker: Mapping[str, Any], settings: Mapping[str, Any]) -> str:
    """The block as text: pure ASCII, newline-terminated lines, valid from Python 3.8 on.

    Args:
        marker: What the first marker line carries, as JSON.
        settings: What the code is told about its worker (specttui.probe.settings).
    """
    return _TEMPLATE.format(
        begin=MARKER_BEGIN,
        end=MARKER_END,
        version=BLOCK_VERSION,
        marker=json.dumps(dict(marker), separators=(", ", ": ")),
        name=BLOCK_NAME,
        body=textwrap.indent(block_body(), "    "),
        settings=textwrap.indent(python_literal(settings), "        "),
    )


def python_literal(value: Mapping[str, Any]) -> str:
    """A dictionary as Python source in ASCII, several lines, whatever characters its strings hold."""
    text = pprint.pformat(dict(value), width=96, sort_dicts=False)
    return text.encode("ascii", "backslashreplace").decode("ascii")


@cache
def block_body() -> str:
    """The rooms in order, without their docstrings and imports, which are gathered at the top."""
    folder = resources.files("specttui.probe.block")
    sources = [(folder / f"{room}.py").read_text(encoding="ascii") for room in ROOMS]
    trees = [ast.parse(source) for source in sources]
    parts = [_without_head(source, tree) for source, tree in zip(sources, trees, strict=True)]
    return "\n".join(_standard_imports(trees)) + "\n\n\n" + "\n\n\n".join(parts)


def _standard_imports(trees: list[ast.Module]) -> list[str]:
    """The rooms' imports of the standard library: one statement for each module, in order."""
    modules: set[str] = set()
    names: dict[str, set[str]] = {}
    for node in [node for tree in trees for node in tree.body]:
        if isinstance(node, ast.Import):
            modules.update(ast.unparse(alias) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not _is_ours(node):
            names.setdefault(node.module or "", set()).update(ast.unparse(alias) for alias in node.names)
    plain = [f"import {module}" for module in sorted(modules)]
    return plain + [f"from {module} import {', '.join(sorted(names[module]))}" for module in sorted(names)]


def _is_ours(node: ast.ImportFrom) -> bool:
    return node.module == "__future__" or (node.module or "").startswith("specttui.")


def _without_head(source: str, tree: ast.Module) -> str:
    """The room's text from the first statement that is neither docstring nor import."""
    body = tree.body
    head = next(
        index
        for index, node in enumerate(body)
        if not isinstance(node, ast.Import | ast.ImportFrom | ast.Expr)
    )
    after = max(node.end_lineno or 0 for node in body[:head])
    return "\n".join(source.splitlines()[after:]).strip("\n")
