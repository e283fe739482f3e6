"""The cycles as a trace for chrome://tracing and ui.perfetto.dev.

The format is Chrome's Trace Event Format, JSON object form: complete events ("X") with `ts` and `dur` in
microseconds, metadata events ("M") that name tracks, instant events ("i") for what happened. One process
per rank, one track per phase; of a server on several hosts, the ranks of all of them.

Where things lie. The probe says how long each phase of each cycle took and when a batch of cycles was
written, by its own clock. So cycles are laid end to end before that moment, phases one after another within
their cycle: lengths are measured, the gaps between phases are not.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeVar

from specttui.events import (
    CYCLE_PHASES,
    Envelope,
    LoadFinished,
    LoadStarted,
    NodesArranged,
    NoteAdded,
    Phase,
    ProbeCycles,
    RunEnded,
    RunStarted,
    ServerReady,
)
from specttui.report.figures import parts_of, phase_word
from specttui.report.timeline import line

T = TypeVar("T")

_CYCLE_TRACK = "cycle"
_ORDER = (*CYCLE_PHASES, Phase.KV)
_TRACKS = (_CYCLE_TRACK, *(phase for whole in _ORDER for phase in (whole, *parts_of(whole))))
_SESSION_PID = 1
_MARKS = RunStarted | RunEnded | NoteAdded | LoadStarted | LoadFinished | ServerReady


def to_trace(envelopes: Iterable[Envelope]) -> str:
    """Write a recording's cycles as one JSON trace; times are microseconds since the session's start.

    Args:
        envelopes: The recording, in order.
    """
    return "".join(trace_parts(envelopes))


def trace_parts(envelopes: Iterable[Envelope]) -> Iterator[str]:
    """The same text in parts, one trace event each, for traces too large to hold."""
    yield '{"displayTimeUnit":"ms","otherData":{"producer":"specttui"},"traceEvents":['
    separator = "\n"
    for event in _events(envelopes):
        yield separator + json.dumps(event, separators=(",", ":"), allow_nan=False)
        separator = ",\n"
    yield "\n]}\n"


def _events(envelopes: Iterable[Envelope]) -> Iterator[dict[str, Any]]:
    yield _name("process_name", _SESSION_PID, 0, "session")
    ranks: dict[tuple[str, str], _Rank] = {}
    behind_head: tuple[str, ...] = ()
    for envelope in envelopes:
        event = envelope.event
        if isinstance(event, NodesArranged):
            behind_head = event.nodes[1:]
        elif isinstance(event, ProbeCycles):
            key = (envelope.host, event.rank)
            if key not in ranks:
                ranks[key] = _Rank(_SESSION_PID + 1 + len(ranks))
                yield from ranks[key].names(envelope.host, event.rank)
            yield from ranks[key].cycles(envelope.offset_s, event)
        elif isinstance(event, _MARKS) and envelope.host not in behind_head:
            yield _mark(line(event), envelope.offset_s)


class _Rank:
    """One rank's tracks. Its clock is mapped to the session's at the first line of each process."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.end_us = 0.0
        self.process = 0
        self.shift_s = 0.0

    def names(self, host: str, rank: str) -> Iterator[dict[str, Any]]:
        """The metadata of the rank's process and tracks."""
        yield _name("process_name", self.pid, 0, " ".join(part for part in (host, rank) if part) or "server")
        for number, track in enumerate(_TRACKS, start=1):
            word = phase_word(track) if isinstance(track, Phase) else track
            yield _name("thread_name", self.pid, number, word)
            yield {
                "ph": "M", "name": "thread_sort_index", "pid": self.pid, "tid": number,
                "args": {"sort_index": number},
            }  # fmt: skip

    def cycles(self, offset_s: float, event: ProbeCycles) -> Iterator[dict[str, Any]]:
        """The cycles of one probe line."""
        if event.pid != self.process:
            self.process, self.shift_s = event.pid, offset_s - event.time_s
        written_s = event.time_s + self.shift_s if event.time_s else offset_s
        lengths_ms = [_length_ms(event, index) for index in range(len(event.cycle_ms))]
        start_us = max(self.end_us, written_s * 1e6 - sum(lengths_ms) * 1e3)
        for index, length_ms in enumerate(lengths_ms):
            yield from self._cycle(event, index, start_us, length_ms)
            start_us += length_ms * 1e3
        self.end_us = start_us

    def _cycle(
        self, event: ProbeCycles, index: int, start_us: float, length_ms: float
    ) -> Iterator[dict[str, Any]]:
        yield self._span(_CYCLE_TRACK, start_us, length_ms, _arguments(event, index))
        for phase in _ORDER:
            length = _at(event, phase, index)
            if length is None:
                continue
            yield self._span(phase, start_us, length)
            yield from self._parts(event, phase, index, start_us)
            start_us += length * 1e3

    def _parts(
        self, event: ProbeCycles, phase: Phase, index: int, start_us: float
    ) -> Iterator[dict[str, Any]]:
        for part in parts_of(phase):
            length = _at(event, part, index)
            if length is not None:
                yield self._span(part, start_us, length)
                start_us += length * 1e3

    def _span(
        self, track: Phase | str, start_us: float, length_ms: float, args: dict[str, Any] | None = None
    ) -> dict[str, Any]:
        begin, end = round(start_us, 3), round(start_us + length_ms * 1e3, 3)
        span = {
            "ph": "X",
            "name": phase_word(track) if isinstance(track, Phase) else track,
            "pid": self.pid,
            "tid": _TRACKS.index(track) + 1,
            "ts": begin,
            "dur": round(end - begin, 3),  # so that no span reaches into the next one
        }
        return span | ({"args": args} if args else {})


def _length_ms(event: ProbeCycles, index: int) -> float:
    """A cycle's length; for the first after a pause, which has none, the sum of its phases."""
    length = event.cycle_ms[index]
    return length if length is not None else sum(_at(event, phase, index) or 0.0 for phase in _ORDER)


def _at(event: ProbeCycles, phase: Phase, index: int) -> float | None:
    return _item(event.phase_ms.get(phase, []), index)


def _item(column: Sequence[T], index: int) -> T | None:
    return column[index] if index < len(column) else None


def _arguments(event: ProbeCycles, index: int) -> dict[str, Any]:
    values = {
        "batch": _item(event.batch, index),
        "steps": _item(event.steps, index),
        "accepted": _item(event.accepted, index),
        "clock": event.clock.value,
    }
    return {name: value for name, value in values.items() if value is not None}


def _name(kind: str, pid: int, tid: int, name: str) -> dict[str, Any]:
    return {"ph": "M", "name": kind, "pid": pid, "tid": tid, "args": {"name": name}}


def _mark(text: str, offset_s: float) -> dict[str, Any]:
    return {"ph": "i", "s": "g", "name": text, "pid": _SESSION_PID, "tid": 0, "ts": round(offset_s * 1e6, 3)}
