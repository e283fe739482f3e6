"""The block as source: Python 3.8, ASCII, self-contained, recognisable in tracebacks."""

from __future__ import annotations

import ast
import builtins
from importlib import resources

import pytest

from specttui.probe.runtime import BLOCK_NAME, ROOMS, block_body, python_literal, render_block

BLOCK = render_block({"sha256": "0" * 64, "size": 1}, {"class": "Worker"})
ALLOWED_IMPORTS = {
    "bisect", "collections", "contextlib", "functools", "json", "os", "re", "select", "stat", "sys", "time",
    "typing",
}  # fmt: skip
#: Methods and functions that Python 3.8 lacks.
NEWER = {
    "removeprefix",
    "removesuffix",
    "bit_count",
    "batched",
    "pairwise",
    "cache",
    "aclosing",
    "zip_strict",
}


def block_tree() -> ast.Module:
    """The block under Python 3.8's grammar."""
    return ast.parse(BLOCK, feature_version=(3, 8))


def test_it_is_ascii_and_parses_as_python_3_8() -> None:
    assert BLOCK.isascii()
    assert block_tree().body


def test_nothing_newer_than_3_8_is_used() -> None:
    for node in ast.walk(block_tree()):
        if isinstance(node, ast.Attribute):
            assert node.attr not in NEWER
        if isinstance(node, ast.Call):
            assert not any(keyword.arg == "strict" for keyword in node.keywords)
        assert not isinstance(node, ast.NamedExpr | ast.Match)


def annotations(tree: ast.Module) -> list[ast.expr]:
    """Every annotation that Python evaluates when it defines something."""
    found: list[ast.expr] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            arguments = [*node.args.args, *node.args.posonlyargs, *node.args.kwonlyargs]
            arguments += [extra for extra in (node.args.vararg, node.args.kwarg) if extra]
            found += [argument.annotation for argument in arguments if argument.annotation]
            found += [node.returns] if node.returns else []
    return found


def test_annotations_can_be_evaluated_by_3_8() -> None:
    found = annotations(block_tree())
    assert len(found) > 200
    for annotation in found:
        for node in ast.walk(annotation):
            assert not (isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr))
            if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name):
                assert node.value.id[0].isupper(), ast.unparse(annotation)  # typing's names, not list[...]


def test_it_imports_the_standard_library_only() -> None:
    for node in ast.walk(block_tree()):
        if isinstance(node, ast.Import):
            assert {alias.name for alias in node.names} <= ALLOWED_IMPORTS
        if isinstance(node, ast.ImportFrom):
            assert node.module in ALLOWED_IMPORTS


def test_each_module_is_imported_once() -> None:
    imports = [node for node in ast.walk(block_tree()) if isinstance(node, ast.Import | ast.ImportFrom)]
    modules = [ast.unparse(node).split()[1] for node in imports]
    assert len(modules) == len(set(modules))
    assert "    from typing import Any, Callable, Deque, Dict, List, Optional, Tuple, Union\n" in BLOCK


def test_all_its_names_are_recognisable() -> None:
    [function] = [node for node in block_tree().body if isinstance(node, ast.FunctionDef)]
    assert function.name == BLOCK_NAME
    for node in function.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            assert node.name.lower().startswith("_specttui"), node.name
        elif isinstance(node, ast.Assign):
            assert all(
                target.id.startswith("_SPECTTUI")
                for part in node.targets
                for target in ast.walk(part)
                if isinstance(target, ast.Name)
            )


def test_functions_that_stand_in_the_servers_calls_are_recognisable() -> None:
    for node in ast.walk(block_tree()):
        if isinstance(node, ast.FunctionDef):
            inner = [
                item for item in ast.walk(node) if isinstance(item, ast.FunctionDef) and item is not node
            ]
            if node.name.startswith("_specttui") and node.name != BLOCK_NAME:
                assert all(item.name.startswith("_specttui") for item in inner), node.name


def test_every_name_it_reads_exists() -> None:
    """Rooms are stripped of their imports: what they import from each other must be in the block."""
    tree = block_tree()
    defined = set(dir(builtins))
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            defined.add(node.name)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            defined.update(alias.asname or alias.name for alias in node.names)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            defined.add(node.id)
        elif isinstance(node, ast.arg):
            defined.add(node.arg)
        elif isinstance(node, ast.ExceptHandler) and node.name:
            defined.add(node.name)
    read = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    assert read <= defined


def test_every_room_is_in_the_block() -> None:
    files = {entry.name for entry in resources.files("specttui.probe.block").iterdir()}
    rooms = {name.removesuffix(".py") for name in files if name.endswith(".py")} - {"__init__"}
    assert rooms == set(ROOMS)
    for room in ROOMS:
        source = (resources.files("specttui.probe.block") / f"{room}.py").read_text(encoding="ascii")
        for node in ast.parse(source).body:
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                assert f" {node.name}(" in block_body() or f" {node.name}:" in block_body()


def test_rooms_come_after_those_they_use() -> None:
    for position, room in enumerate(ROOMS):
        source = (resources.files("specttui.probe.block") / f"{room}.py").read_text(encoding="ascii")
        used = {
            node.module.rpartition(".")[2]
            for node in ast.walk(ast.parse(source))
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("specttui.probe.block.")
        }
        assert used <= set(ROOMS[:position]), room


@pytest.mark.parametrize(
    "text", ["plain", "it's", 'say "no"', "back\\slash", "ünï", "速度", "\udcff", "a\nb"]
)
def test_settings_survive_as_a_literal(text: str) -> None:
    literal = python_literal({"text": text, "list": [text], "flag": True, "nothing": None})
    assert literal.isascii()
    assert ast.literal_eval(literal) == {"text": text, "list": [text], "flag": True, "nothing": None}
