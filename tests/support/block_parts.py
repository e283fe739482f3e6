"""Every internal function of an installed block, found by walking its closures, and a way to break one."""

from __future__ import annotations

import types
from collections.abc import Callable, Iterator
from typing import Any


class BrokenError(Exception):
    """What a broken part raises."""


def parts(probe: Any) -> dict[str, Callable[[Callable[..., Any]], None]]:
    """Name of each internal function and method, with what replaces it.

    Args:
        probe: The probe that the block left in its module.
    """
    found: dict[str, Callable[[Callable[..., Any]], None]] = {}
    for cls in _classes(probe):
        for name, value in vars(cls).items():
            if isinstance(value, types.FunctionType):
                found[f"{cls.__name__}.{name}"] = _method_setter(cls, name)
    for name, cell in _cells(probe).items():
        if isinstance(cell.cell_contents, types.FunctionType) and name.startswith("_specttui"):
            found[name] = _cell_setter(cell)
    return found


def broken(*_: Any, **__: Any) -> Any:
    """Stands for a part that fails."""
    raise BrokenError("a part of the probe was broken on purpose")


def _method_setter(cls: type, name: str) -> Callable[[Callable[..., Any]], None]:
    return lambda replacement: setattr(cls, name, replacement)


def _cell_setter(cell: Any) -> Callable[[Callable[..., Any]], None]:
    def put(replacement: Callable[..., Any]) -> None:
        cell.cell_contents = replacement

    return put


def _classes(probe: Any) -> list[type]:
    own = [type(probe)]
    own += [value.cell_contents for value in _cells(probe).values() if isinstance(value.cell_contents, type)]
    named = [cls for cls in own if cls.__name__.startswith("_Specttui")]
    return list(dict.fromkeys(named))


def _cells(probe: Any) -> dict[str, Any]:
    """All closure cells of the block's functions, by variable name."""
    cells: dict[str, Any] = {}
    seen: set[int] = set()
    frontier = list(_functions(type(probe)))
    while frontier:
        function = frontier.pop()
        if id(function) in seen:
            continue
        seen.add(id(function))
        for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
            cells.setdefault(name, cell)
            frontier.extend(_functions(cell.cell_contents))
    return cells


def _functions(value: Any) -> Iterator[types.FunctionType]:
    if isinstance(value, types.FunctionType):
        yield value
    elif isinstance(value, type) and value.__name__.startswith("_Specttui"):
        for base in value.__mro__[:-1]:
            yield from (item for item in vars(base).values() if isinstance(item, types.FunctionType))
