"""A saved log in one value: what `specttui log FILE` shows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from specttui.log.parser import LogParser
from specttui.log.summary_fold import SummaryFold
from specttui.log.summary_model import (
    FailureFigures,
    LoadFigures,
    LogSummary,
    PhaseFigures,
    ProbeFigures,
    RunFigures,
    ServerFigures,
    StartupPhase,
)
from specttui.log.summary_text import render


def summarise(data: Iterable[bytes]) -> LogSummary:
    """Read a whole log.

    Args:
        data: Its bytes in chunks of any size; memory does not grow with their number.

    Returns:
        What the log says, server by server.
    """
    parser = LogParser(max_lines=1)
    fold = SummaryFold()
    for chunk in data:
        for event in parser.feed(chunk):
            fold.add(event)
        for event in parser.flush():
            fold.add(event)
    for event in parser.finish():
        fold.add(event)
    return LogSummary(fold.figures())


def to_dict(summary: LogSummary) -> dict[str, Any]:
    """The summary as JSON-able dicts, lists, strings, numbers and None."""
    return asdict(summary)


__all__ = [
    "FailureFigures",
    "LoadFigures",
    "LogSummary",
    "PhaseFigures",
    "ProbeFigures",
    "RunFigures",
    "ServerFigures",
    "StartupPhase",
    "render",
    "summarise",
    "to_dict",
]
