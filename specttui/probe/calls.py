"""What a worker class calls in one cycle, read from a syntax tree."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

_OUTER_PREFIX = "_forward"
_DEPTH = 4


@dataclass(frozen=True, slots=True)
class Call:
    """One call: callee as dotted text, where it stands, and the keywords it is given."""

    callee: str
    line: int
    method: str
    keywords: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class WorkerClass:
    """A class of the module: methods of its `own`, and all with those from bases in the same module."""

    name: str
    line: int
    bases: tuple[str, ...]
    own: frozenset[str]
    methods: dict[str, ast.FunctionDef] = field(default_factory=dict)
    _calls: dict[str, tuple[Call, ...]] = field(default_factory=dict, repr=False, compare=False)

    def reachable(self, start: str) -> tuple[str, ...]:
        """Methods run by `start`: itself and those it calls on `self`, a few calls deep."""
        seen = [start]
        frontier = [start]
        for _ in range(_DEPTH):
            called = (call.callee for name in frontier for call in self.calls(name))
            names = (callee[5:] for callee in called if callee.startswith("self."))
            frontier = list(
                dict.fromkeys(name for name in names if name in self.methods and name not in seen)
            )
            seen.extend(frontier)
        return tuple(seen)

    def outer(self, cycle_method: str) -> tuple[str, ...]:
        """The cycle method and the private `_forward...` helpers in which it may spell out its phases."""
        reachable = self.reachable(cycle_method)
        return tuple(name for name in reachable if name == cycle_method or name.startswith(_OUTER_PREFIX))

    def calls(self, *methods: str) -> list[Call]:
        """All calls in these methods, in order of their lines."""
        for name in methods:
            if name not in self._calls:
                self._calls[name] = tuple(_calls(self.methods[name], name))
        return sorted((call for name in methods for call in self._calls[name]), key=lambda call: call.line)

    def mentions(self, attribute: str, methods: tuple[str, ...]) -> list[int]:
        """Lines in these methods that read an attribute of that name on anything."""
        nodes = (node for name in methods for node in ast.walk(self.methods[name]))
        return sorted(
            node.lineno for node in nodes if isinstance(node, ast.Attribute) and node.attr == attribute
        )


def worker_classes(tree: ast.Module) -> list[WorkerClass]:
    """The module's top-level classes, in order."""
    classes: dict[str, WorkerClass] = {}
    for node in _definitions(tree.body):
        bases = tuple(dotted(base) for base in node.bases)
        methods: dict[str, ast.FunctionDef] = {}
        for base in reversed(bases):
            if base in classes:
                methods |= classes[base].methods
        own = {item.name: item for item in node.body if isinstance(item, ast.FunctionDef)}
        classes[node.name] = WorkerClass(node.name, node.lineno, bases, frozenset(own), methods | own)
    return list(classes.values())


def imported_from(tree: ast.Module) -> dict[str, str]:
    """Names the module imports, with the module each comes from."""
    return {
        alias.asname or alias.name: node.module or ""
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }


def dotted(node: ast.AST) -> str:
    """An expression of names and dots as text, "" for anything else."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        holder = dotted(node.value)
        return f"{holder}.{node.attr}" if holder else ""
    return ""


def _definitions(body: list[ast.stmt]) -> Iterator[ast.ClassDef]:
    """Classes at the top level, those under a top-level `if` or `try` included."""
    for node in body:
        if isinstance(node, ast.ClassDef):
            yield node
        elif isinstance(node, ast.If | ast.Try):
            yield from _definitions(node.body)
            yield from _definitions(node.orelse)


def _calls(function: ast.FunctionDef, method: str) -> Iterator[Call]:
    for node in ast.walk(function):
        if isinstance(node, ast.Call) and (callee := dotted(node.func)):
            keywords = frozenset(keyword.arg for keyword in node.keywords if keyword.arg)
            yield Call(callee, node.lineno, method, keywords)
