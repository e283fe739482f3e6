"""A launch as text: one variable or flag with its value per line, quoted so that it can be pasted."""

from __future__ import annotations

import shlex
from collections.abc import Collection

from specttui.errors import LaunchError
from specttui.events import Launch
from specttui.launch.argv import Option, parse
from specttui.launch.redact import relevant_env
from specttui.launch.secret_shapes import HIDDEN


def quoted(text: str) -> str:
    """A text as one shell word on one line.

    Control characters are written in the form $'...', so that none reaches a terminal.
    """
    if text.isprintable():
        harmless = text.replace(HIDDEN, "x")  # what we put there ourselves needs no quotes
        return text if shlex.quote(harmless) == harmless else shlex.quote(text)
    escaped = (c if c.isprintable() and c not in "\\'" else _escaped(c) for c in text)
    return "$'" + "".join(escaped) + "'"


def _escaped(character: str) -> str:
    if character in "\\'":
        return "\\" + character
    return "".join(f"\\x{byte:02x}" for byte in character.encode("utf-8", "surrogateescape"))


def env_lines(launch: Launch, keep: Collection[str] = ()) -> list[str]:
    """The variables that matter as NAME=value, sorted."""
    return [f"{name}={quoted(value)}" for name, value in relevant_env(launch.env, keep).items()]


def command_lines(launch: Launch) -> list[str]:
    """The command: its beginning on one line, then one flag with its values per line, indented.

    A command that cannot be read is one line.
    """
    try:
        command = parse(launch.argv)
    except LaunchError:
        return [" ".join(quoted(token) for token in launch.argv)]
    return [
        " ".join(quoted(token) for token in command.prefix),
        *(option_line(each) for each in command.options),
    ]


def option_line(option: Option) -> str:
    """One flag with its values, indented."""
    return "  " + " ".join(quoted(token) for token in option.tokens)
