"""Before and after: a launch's changes, and a file's unified diff. Marks carry the meaning, colour helps."""

from __future__ import annotations

from collections.abc import Sequence

from textual.content import Content

from specttui.launch.edits import LaunchDiff
from specttui.ui.render.text import BAD, GOOD, MUTED, STRONG, WARN, harmless, line, wrap

_MARKS = {"keep": (" ", MUTED), "add": ("+", GOOD), "remove": ("-", BAD)}


def launch_lines(diff: LaunchDiff, width: int) -> list[Content]:
    """What forbids it, changes in words, warnings, meanings and notes, then the command before and after."""
    lines: list[Content] = []
    if not diff.changes:
        lines.append(line(("Nothing changes: the same command is started again.", STRONG)))
    for error in diff.errors:
        lines.extend(_hanging("x ", error, width, BAD))
    for change in diff.changes:
        lines.extend(_hanging("* ", change, width, STRONG))
    for warning in diff.warnings:
        lines.extend(_hanging("! ", warning, width, WARN))
    for meaning in diff.meanings:
        lines.extend(_hanging("= ", meaning, width, MUTED))
    for note in diff.notes:
        lines.extend(_hanging("  ", note, width, MUTED))
    lines.append(line(""))
    for entry in diff.lines:
        mark, style = _MARKS[entry.op]
        lines.extend(_hanging(f"{mark} ", entry.text, width, style))
    return lines


def _hanging(mark: str, text: str, width: int, style: str) -> list[Content]:
    """A marked text whose further lines are indented beneath its first."""
    rows = wrap(harmless(text), max(8, width - len(mark)))
    indent = " " * len(mark)
    return [line((f"{indent if index else mark}{row}", style)) for index, row in enumerate(rows)]


def unified_lines(diff_lines: Sequence[str]) -> list[Content]:
    """A unified diff, each line as it is; added and removed ones keep their + and -."""
    return [line((harmless(text.rstrip("\n")).rstrip(), _unified_style(text))) for text in diff_lines]


def _unified_style(text: str) -> str:
    if text.startswith(("+++", "---", "@@")):
        return MUTED
    return (
        "$text-success" if text.startswith("+") else "$text-error" if text.startswith("-") else "$foreground"
    )
