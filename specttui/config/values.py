"""Values that a settings file may write in more than one way, brought into one."""

from __future__ import annotations

import shlex
from typing import Any


def as_words(value: Any) -> Any:  # noqa: ANN401 - whatever the file holds; checked after this
    """A command: a list of words, or a text that is split as a shell would.

    Raises:
        ValueError: The text's quotes do not match.
    """
    if isinstance(value, str):
        try:
            return tuple(shlex.split(value))
        except ValueError:
            raise ValueError("its quotes must match") from None
    return tuple(value) if isinstance(value, list) else value


def as_sudo(value: Any) -> Any:  # noqa: ANN401 - see above
    """`sudo`: true, false or "auto".

    Raises:
        ValueError: It is something else.
    """
    for written, meant in ((True, "yes"), (False, "no"), ("auto", "auto")):
        if value is written or (isinstance(value, str) and value == written):
            return meant
    raise ValueError('it must be true, false or "auto"')


def as_flags(value: Any) -> Any:  # noqa: ANN401 - see above
    """Flags with their values: text or a number; true for a flag without a value.

    Raises:
        ValueError: A value is something else.
    """
    if not isinstance(value, dict):
        return value
    alone = "true for a flag alone"
    return {name: None if one is True else _text(name, one, alone) for name, one in value.items()}


def as_variables(value: Any) -> Any:  # noqa: ANN401 - see above
    """Variables with their values: text or a number.

    Raises:
        ValueError: A value is something else.
    """
    if not isinstance(value, dict):
        return value
    return {name: _text(name, one, "1 or 0 for a switch") for name, one in value.items()}


def _text(name: str, value: Any, instead: str) -> str:  # noqa: ANN401 - see above
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise ValueError(f"{name} must be text or a number ({instead})")  # noqa: TRY004 - pydantic takes these
    return str(value)
