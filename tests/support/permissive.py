"""Stand-ins for whatever a real worker file imports: any module, any name, any use.

Names that begin with a capital are classes (workers derive from them), everything else is an object that
can be called, indexed, compared, entered and computed with, and gives more of the same.
"""

from __future__ import annotations

import importlib.machinery
import sys
import types
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any


class AnyClass(type):
    """A class with any attribute."""

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return Anything()


class Anything(metaclass=AnyClass):
    """An object with any attribute and any use."""

    def __init__(self, *_: Any, **attributes: Any) -> None:
        self.__dict__.update(attributes)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        value = Anything()
        self.__dict__[name] = value
        return value

    def __call__(self, *_: Any, **__: Any) -> Any:
        return Anything()

    def __getitem__(self, _: Any) -> Any:
        return Anything()

    def __setitem__(self, *_: Any) -> None:
        return None

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *_: object) -> None:
        return None

    def __iter__(self) -> Iterator[Any]:
        return iter(())

    def __len__(self) -> int:
        return 0

    def __bool__(self) -> bool:
        return True

    def __index__(self) -> int:
        return 1

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Anything)

    def __hash__(self) -> int:
        return id(self)

    def _more(self, *_: Any) -> Any:
        return Anything()

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __floordiv__ = _more
    __or__ = __ror__ = __and__ = __invert__ = __neg__ = __gt__ = __lt__ = __ge__ = __le__ = _more


def permissive_name(name: str) -> Any:
    """What an import of that name gives."""
    if name[0].isupper() and not name.isupper():
        return AnyClass(name, (Anything,), {})
    return Anything()


class PermissiveModule(types.ModuleType):
    """A module with any name in it."""

    __path__: Sequence[str] = ()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        value = permissive_name(name)
        setattr(self, name, value)
        return value


class _Finder:
    """Finds every module that nothing else finds."""

    def find_spec(self, name: str, _path: Any = None, _target: Any = None) -> Any:
        return importlib.machinery.ModuleSpec(name, self, is_package=True)  # type: ignore[arg-type]

    def create_module(self, spec: Any) -> types.ModuleType:
        return PermissiveModule(spec.name)

    def exec_module(self, module: types.ModuleType) -> None:
        """Nothing to run."""


@contextmanager
def permissive_imports(**prepared: types.ModuleType) -> Iterator[None]:
    """Let every import succeed; what was imported is forgotten afterwards.

    Args:
        prepared: Modules to be found under these names.
    """
    finder = _Finder()
    before = dict(sys.modules)
    sys.modules.update(prepared)
    sys.meta_path.append(finder)  # type: ignore[arg-type]
    try:
        yield
    finally:
        sys.meta_path.remove(finder)  # type: ignore[arg-type]
        for name in set(sys.modules) - set(before):
            del sys.modules[name]
        sys.modules.update(before)
