"""What can be changed about a launch: edits as data, presets, and the diff that the screen shows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from specttui.events import Launch


@dataclass(frozen=True, slots=True)
class SetFlag:
    """Set a flag to a value; None for a flag without a value. `name` is the long form, with dashes."""

    name: str
    value: str | None = None


@dataclass(frozen=True, slots=True)
class RemoveFlag:
    """Remove a flag in all its spellings."""

    name: str


@dataclass(frozen=True, slots=True)
class SetEnv:
    """Set an environment variable."""

    name: str
    value: str


@dataclass(frozen=True, slots=True)
class UnsetEnv:
    """Remove an environment variable."""

    name: str


@dataclass(frozen=True, slots=True)
class Baseline:
    """Remove every speculative flag."""


Edit = SetFlag | RemoveFlag | SetEnv | UnsetEnv | Baseline


@dataclass(frozen=True, slots=True)
class Preset:
    """A named set of edits with one line on what it does. `short` is its word in run labels."""

    name: str
    short: str
    group: str
    description: str
    edits: tuple[Edit, ...]


@dataclass(frozen=True, slots=True)
class DiffLine:
    """One line of a before/after view; `op` is keep, add, remove."""

    op: Literal["keep", "add", "remove"]
    text: str


@dataclass(frozen=True, slots=True)
class LaunchDiff:
    """What a set of edits does to a launch.

    `lines` shows environment and command, one flag with its value per line; `changes` are the changes in
    words; `warnings` say what may make a change void; `notes` say which coupled rules were applied;
    `meanings` say what NCCL makes of a value; `errors` keep it from being run, each with its remedy.
    """

    before: Launch
    after: Launch
    lines: tuple[DiffLine, ...]
    changes: tuple[str, ...]
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    label: str = ""
    meanings: tuple[str, ...] = ()
    errors: tuple[str, ...] = ()
