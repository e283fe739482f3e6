"""Which decode lines are no measurement of the steady state, and why."""

from __future__ import annotations

from collections import deque
from enum import StrEnum
from statistics import median

from specttui.events import DecodeStats, MemoryPressure
from specttui.log.meaning.cycle import line_cycle_ms
from specttui.log.ranks import series_key

#: A window this many times longer than usual holds an idle gap, not slow cycles.
IDLE_FACTOR = 3.0
#: Pressure is over after so many lines in a row below this usage, without another retraction.
CALM_LINES = 5
CALM_USAGE = 0.9
_HISTORY = 15


class Mark(StrEnum):
    """What a decode line is. Only `STEADY` lines go into statistics and scales."""

    STEADY = "steady"
    AFTER_IDLE = "after_idle"
    BATCH_CHANGED = "batch_changed"
    KV_PRESSURE = "kv_pressure"
    EMPTY = "empty"


class _Series:
    """One DP group's recent past."""

    __slots__ = ("calm", "cycles_ms", "marked", "pressed", "running")

    def __init__(self) -> None:
        self.cycles_ms: deque[float] = deque(maxlen=_HISTORY)
        self.running: int | None = None
        self.marked = False
        self.pressed = False
        self.calm = 0


class LineMarker:
    """Marks decode lines as they come, one DP group apart from another.

    - A line's throughput covers the time since the line before, idle time included: the first line ever,
      and a line whose window is several times longer than usual, is `AFTER_IDLE` (CASES.md A19). Never two
      in a row: the second of two long windows is the new normal.
    - Where the number of running requests changed since the line before, tokens and requests do not fit
      together: `BATCH_CHANGED`.
    - From a retraction until the pool has room again: `KV_PRESSURE` (A22). What such lines show is the
      pool's doing, not the configuration's.
    """

    def __init__(self) -> None:
        self._series: dict[str, _Series] = {}

    def pressure(self, event: MemoryPressure) -> None:
        """Requests of the event's group were retracted."""
        series = self._of(event.rank)
        series.pressed, series.calm = True, 0

    def restart(self) -> None:
        """Another configuration serves: the past says nothing about it."""
        self._series.clear()

    def mark(self, line: DecodeStats) -> Mark:
        """Say what the next line is."""
        series = self._of(line.rank)
        same_batch = line.running == series.running
        series.running = line.running
        pressed = self._pressed(series, line)
        cycle_ms = line_cycle_ms(line)
        if cycle_ms is None:
            return Mark.EMPTY
        if pressed:
            return Mark.KV_PRESSURE
        if self._after_idle(series, cycle_ms):
            return Mark.AFTER_IDLE
        return Mark.STEADY if same_batch else Mark.BATCH_CHANGED

    def _of(self, rank: str) -> _Series:
        return self._series.setdefault(series_key(rank), _Series())

    @staticmethod
    def _pressed(series: _Series, line: DecodeStats) -> bool:
        if not series.pressed:
            return False
        low = line.token_usage is not None and line.token_usage < CALM_USAGE
        series.calm = series.calm + 1 if low else 0
        series.pressed = series.calm < CALM_LINES
        return True

    @staticmethod
    def _after_idle(series: _Series, cycle_ms: float) -> bool:
        if series.marked and series.cycles_ms and cycle_ms > IDLE_FACTOR * median(series.cycles_ms):
            series.cycles_ms.clear()
        idle = not series.marked and (
            not series.cycles_ms or cycle_ms > IDLE_FACTOR * median(series.cycles_ms)
        )
        series.marked = idle
        if not idle:
            series.cycles_ms.append(cycle_ms)
        return idle
