"""Which decode lines are no measurement of the steady state, and why."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import deque
from enum import StrEnum

from specttui.events import DecodeStats, MemoryPressure, PrefillStats
from specttui.log.meaning.cycle import line_cycle_ms
from specttui.log.meaning.interval import DEFAULT_INTERVAL
from specttui.log.ranks import series_key
from specttui.log.stamps import stamp_seconds

#: A window this many times longer than usual holds an idle gap, not slow cycles.
IDLE_FACTOR = 3.0
#: A window holds idle time when the request in it came later than after this share of it.
IDLE_SHARE = 0.2
#: Pressure is over after so many lines in a row below this usage, without another retraction.
CALM_LINES = 5
CALM_USAGE = 0.9
_HISTORY = 15
#: Stamps have whole seconds.
_STAMP_S = 1.0


class Mark(StrEnum):
    """What a decode line is. Only `STEADY` lines go into statistics and scales."""

    STEADY = "steady"
    AFTER_IDLE = "after_idle"
    BATCH_CHANGED = "batch_changed"
    KV_PRESSURE = "kv_pressure"
    STEPS_CHANGED = "steps_changed"
    EMPTY = "empty"


class _Recent:
    """The last cycle times, with their median at hand: it is asked for with every line."""

    __slots__ = ("_ordered", "_values")

    def __init__(self) -> None:
        self._values: deque[float] = deque()
        self._ordered: list[float] = []

    def add(self, value: float) -> None:
        """Take a value; the oldest beyond the history goes."""
        if len(self._values) >= _HISTORY:
            del self._ordered[bisect_left(self._ordered, self._values.popleft())]
        self._values.append(value)
        insort(self._ordered, value)

    def clear(self) -> None:
        """Forget all."""
        self._values.clear()
        self._ordered.clear()

    @property
    def median(self) -> float | None:
        """The median, None of nothing."""
        count = len(self._ordered)
        if not count:
            return None
        middle = count // 2
        return (self._ordered[middle] + self._ordered[~middle]) / 2


class _Series:
    """One DP group's recent past."""

    __slots__ = ("begun", "calm", "cycles_ms", "marked", "pressed", "running", "switched")

    def __init__(self) -> None:
        self.cycles_ms = _Recent()
        self.running: int | None = None
        self.marked = False
        self.pressed = False
        self.switched = False
        self.calm = 0
        self.begun = ""


class LineMarker:
    """Marks decode lines as they come, one DP group apart from another.

    - A line's throughput covers the time since the line before, idle time included (CASES.md A19). So the
      first line ever is `AFTER_IDLE`; a line whose window is several times longer than usual, but never two
      in a row: the second of two long windows is the new normal; and a line whose window began well before
      the request in it, as its prefill line's stamp tells.
    - Where the number of running requests changed since the line before, tokens and requests do not fit
      together: `BATCH_CHANGED`. Its throughput is measured all the same.
    - From a retraction until the pool has room again: `KV_PRESSURE` (A22). What such lines show is the
      pool's doing, not the configuration's.
    - The first line after adaptive speculation took other steps covers both: `STEPS_CHANGED` (A18).

    Attributes:
        interval: Cycles between two lines.
    """

    def __init__(self, interval: int = DEFAULT_INTERVAL) -> None:
        self.interval = interval
        self._series: dict[str, _Series] = {}

    def pressure(self, event: MemoryPressure) -> None:
        """Requests of the event's group were retracted."""
        series = self._of(event.rank)
        series.pressed, series.calm = True, 0

    def prefill(self, event: PrefillStats) -> None:
        """A request began; if none ran before it, the group had been idle."""
        if event.running == 0:
            self._of(event.rank).begun = event.stamp

    def switch(self) -> None:
        """All groups decode with other steps from here on."""
        for series in self._series.values():
            series.switched = True

    def restart(self) -> None:
        """Another configuration serves: the past says nothing about it."""
        self._series.clear()

    def mark(self, line: DecodeStats) -> Mark:
        """Say what the next line is."""
        series = self._of(line.rank)
        same_batch = line.running == series.running
        series.running = line.running
        pressed = series.pressed and _under_pressure(series, line)
        cycle_ms = line_cycle_ms(line)
        if cycle_ms is None:
            return Mark.EMPTY
        if pressed:
            return Mark.KV_PRESSURE
        if series.switched:
            series.switched = False
            series.cycles_ms.clear()
            series.cycles_ms.add(cycle_ms)
            return Mark.STEPS_CHANGED
        if self._after_idle(series, cycle_ms, line.stamp):
            return Mark.AFTER_IDLE
        return Mark.STEADY if same_batch else Mark.BATCH_CHANGED

    def _of(self, rank: str) -> _Series:
        key = series_key(rank)
        series = self._series.get(key)
        if series is None:
            series = self._series[key] = _Series()
        return series

    def _after_idle(self, series: _Series, cycle_ms: float, stamp: str) -> bool:
        if series.begun and self._began_late(series, cycle_ms, stamp):
            series.marked = True
            return True
        usual_ms = series.cycles_ms.median
        long = usual_ms is not None and cycle_ms > IDLE_FACTOR * usual_ms
        if long and series.marked:
            series.cycles_ms.clear()
        series.marked = not series.marked and (usual_ms is None or long)
        if not series.marked:
            series.cycles_ms.add(cycle_ms)
        return series.marked

    def _began_late(self, series: _Series, cycle_ms: float, stamp: str) -> bool:
        """Whether the window began well before the request that ended an idle time."""
        begun_s, seen_s = stamp_seconds(series.begun), stamp_seconds(stamp)
        series.begun = ""
        if begun_s is None or seen_s is None:
            return False
        busy_s = max(0.0, seen_s - begun_s) + _STAMP_S
        return busy_s < (1.0 - IDLE_SHARE) * self.interval * cycle_ms / 1000.0


def _under_pressure(series: _Series, line: DecodeStats) -> bool:
    low = line.token_usage is not None and line.token_usage < CALM_USAGE
    series.calm = series.calm + 1 if low else 0
    series.pressed = series.calm < CALM_LINES
    return True
