"""Folds decode lines into server-wide figures: summed over DP groups, first line after idle marked."""

from __future__ import annotations

import re
from collections import deque
from dataclasses import dataclass, field
from statistics import median

from specttui.events import DecodeStats

#: A line whose window took this many times longer than usual spans an idle gap (CASES A19).
IDLE_FACTOR = 3.0
#: A DP group silent for this long is no longer part of the server's throughput.
STALE_S = 30.0

_DP = re.compile(r"\bDP(\d+)\b")


@dataclass(frozen=True, slots=True)
class DecodeSample:
    """The server at one decode line: throughput summed over DP groups, the rest of this line's group.

    `cycle_ms` is 1000 x running x accept length / throughput of the line (per rank), which for a server
    without speculation is the time per token and request. `steady` is False for a line that spans idle time.
    """

    offset_s: float
    server_tok_s: float | None
    accept_len: float | None
    running: int | None
    queue: int | None
    cycle_ms: float | None
    steady: bool


@dataclass(slots=True)
class _Group:
    windows_s: deque[float] = field(default_factory=lambda: deque(maxlen=9))
    offset_s: float = 0.0
    line: DecodeStats | None = None
    slow_before: bool = False


class DecodeFold:
    """Keeps the newest line of each DP group. TP and PP duplicates of a group never add up."""

    def __init__(self) -> None:
        self._groups: dict[str, _Group] = {}
        self._speaker: dict[str, str] = {}

    def add(self, offset_s: float, line: DecodeStats) -> DecodeSample | None:
        """Take one decode line; None when another rank already speaks for its DP group."""
        key = data_parallel_group(line.rank)
        if self._speaker.setdefault(key, line.rank) != line.rank:
            return None
        group = self._groups.setdefault(key, _Group())
        steady = _is_steady(group, line)
        group.offset_s, group.line = offset_s, line
        return self._sample(offset_s, line, steady=steady)

    def _sample(self, offset_s: float, line: DecodeStats, *, steady: bool) -> DecodeSample:
        fresh = [
            group.line
            for group in self._groups.values()
            if group.line is not None and offset_s - group.offset_s <= STALE_S
        ]
        rates = [item.throughput_tok_s for item in fresh if item.throughput_tok_s is not None]
        running = [item.running for item in fresh if item.running is not None]
        queue = [item.queue for item in fresh if item.queue is not None]
        return DecodeSample(
            offset_s=offset_s,
            server_tok_s=sum(rates) if rates else None,
            accept_len=_weighted_accept_len(fresh),
            running=sum(running) if running else None,
            queue=sum(queue) if queue else None,
            cycle_ms=cycle_ms(line),
            steady=steady,
        )


def data_parallel_group(rank: str) -> str:
    """The DP group of a rank label: "DP1 TP2" -> "DP1"; "" when the label names none."""
    match = _DP.search(rank)
    return match.group(0) if match else ""


def cycle_ms(line: DecodeStats) -> float | None:
    """Cycle time in ms by the line alone: 1000 x running x accept length / throughput (CASES B09).

    Without an accept length (no speculation) each cycle emits one token per request.
    """
    if not line.throughput_tok_s or not line.running:
        return None
    return 1000.0 * line.running * (line.accept_len or 1.0) / line.throughput_tok_s


def _is_steady(group: _Group, line: DecodeStats) -> bool:
    """False for a first line and for one whose window spans an idle gap; a lasting slowdown is real."""
    window_s = (cycle_ms(line) or 0.0) / 1000.0
    if not window_s:
        return False
    first = not group.windows_s and group.line is None
    usual_s = median(group.windows_s) if group.windows_s else window_s
    slow = window_s > IDLE_FACTOR * usual_s
    if first or (slow and not group.slow_before):
        group.slow_before = slow
        return False
    if slow:
        group.windows_s.clear()
    group.slow_before = False
    group.windows_s.append(window_s)
    return True


def _weighted_accept_len(lines: list[DecodeStats]) -> float | None:
    known = [(line.accept_len, line.running or 1) for line in lines if line.accept_len is not None]
    weight = sum(count for _, count in known)
    return sum(value * count for value, count in known) / weight if weight else None
