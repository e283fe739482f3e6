"""Logs for tests: the excerpts in sample_logs/, whole captures beside the clone, short ways to parse."""

from __future__ import annotations

from pathlib import Path
from typing import TypeVar

import pytest

from specttui.events import Event
from specttui.log.parser import LogParser

ROOT = Path(__file__).resolve().parents[2]
SAMPLES = ROOT / "sample_logs"
#: The whole captured logs, where a copy of shared/ lies beside the clone.
CAPTURES = ROOT.parent / "shared" / "data" / "logs"

E = TypeVar("E", bound=Event)


def sample(name: str) -> bytes:
    """The bytes of one excerpt."""
    return (SAMPLES / f"{name}.log").read_bytes()


def capture(name: str) -> bytes:
    """The bytes of one whole capture; skips the test where there is no shared/ beside the clone."""
    path = CAPTURES / f"{name}.log"
    if not path.exists():
        pytest.skip("the whole captures are not beside this clone; sample_logs/ is tested in any case")
    return path.read_bytes()


def parse(data: bytes, chunk: int = 0) -> list[Event]:
    """All events of a log: fed at once or in chunks, then finished."""
    parser = LogParser()
    size = chunk or max(1, len(data))
    events: list[Event] = []
    for start in range(0, len(data), size):
        events += parser.feed(data[start : start + size])
    return events + parser.finish()


def figures(events: list[Event]) -> list[Event]:
    """Events without the log view's, whose number depends on when they are flushed."""
    return [event for event in events if event.kind not in {"lines", "http"}]


def of(kind: type[E], data: bytes | str) -> list[E]:
    """The events of one kind in a log."""
    raw = data.encode() if isinstance(data, str) else data
    return [event for event in parse(raw) if isinstance(event, kind)]


def one(kind: type[E], data: bytes | str) -> E:
    """The only event of one kind in a log."""
    found = of(kind, data)
    assert len(found) == 1, found
    return found[0]


def shown(data: bytes) -> list[str]:
    """The lines that the log view would get."""
    return [line for event in parse(data) if event.kind == "lines" for line in event.lines]
