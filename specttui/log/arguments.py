"""The `server_args=` line: every argument after the server resolved it, in both forms it was ever printed."""

from __future__ import annotations

import ast
import re

from specttui.events import ServerArguments
from specttui.log.prefix import Prefixed

_START = re.compile(r"server_args=(?:ServerArgs\(|\{)")
# A quoted string, a bracket or a comma: all that matters to where one argument ends. Bounded backtracking.
_TOKEN = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|[\[\](){},]")
_SECRET_NAMES = frozenset({"api_key", "admin_api_key", "ssl_keyfile_password", "hf_token"})
_HIDDEN = "***"


def server_arguments(line: Prefixed) -> ServerArguments | None:
    """Read `server_args=ServerArgs(a='x', ...)` (up to 0.5.18) or `server_args={'a': 'x', ...}` (later).

    Args:
        line: A line whose body begins with `server_args=`.

    Returns:
        The arguments as text, strings without their quotes, secrets blanked out; None for another shape.
    """
    start = _START.match(line.body)
    if start is None:
        return None
    arguments = dict(filter(None, map(_argument, _split(line.body[start.end() :]))))
    return ServerArguments(rank=line.rank, stamp=line.stamp, arguments=arguments) if arguments else None


def _split(text: str) -> list[str]:
    """Cut at the commas of the outermost level, up to the bracket that closes it."""
    parts, depth, begin = [], 0, 0
    for token in _TOKEN.finditer(text):
        mark = token[0]
        if mark == "," and depth == 0:
            parts.append(text[begin : token.start()])
            begin = token.end()
        elif mark in "([{":
            depth += 1
        elif mark in ")]}":
            if depth == 0:
                return [*parts, text[begin : token.start()]]
            depth -= 1
    return parts  # cut off: the last argument may be half of one


def _argument(part: str) -> tuple[str, str] | None:
    name, separator, value = part.strip().partition(":" if part.lstrip()[:1] in "'\"" else "=")
    name = name.strip("'\" ")
    if not separator or not name.isidentifier():
        return None
    text = _unquote(value.strip())
    return (name, _HIDDEN) if name in _SECRET_NAMES and text != "None" else (name, text)


def _unquote(value: str) -> str:
    if value[:1] not in {"'", '"'}:
        return value
    try:
        return str(ast.literal_eval(value))
    except (ValueError, SyntaxError):
        return value.strip("'\"")
