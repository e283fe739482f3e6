"""The clocks: how a moment is marked, when it can be read, and what lies between two marks.

A mark is an index into the cycle's `stamps` (CPU seconds) and, with GPU events, into its `events`.
"""

from __future__ import annotations

import sys
from time import perf_counter
from typing import Any, List, Optional

from specttui.probe.block.cycle import _SpecttuiCycle


class _SpecttuiWallClock:
    """The CPU's clock alone."""

    name = "wall"

    def capturing(self) -> bool:
        """Whether a CUDA graph is being captured, in which nothing may be recorded."""
        return False

    def open(self, cycle: _SpecttuiCycle) -> None:
        """Prepare a cycle before its first mark."""

    def begin(self, cycle: _SpecttuiCycle) -> int:
        """Mark the start of a call."""
        cycle.stamps.append(perf_counter())
        return len(cycle.stamps) - 1

    def finish(self, cycle: _SpecttuiCycle) -> int:
        """Mark the end of a call."""
        cycle.stamps.append(perf_counter())
        return len(cycle.stamps) - 1

    def ready(self, _cycle: _SpecttuiCycle) -> bool:
        """Whether the cycle's marks, and its successor's first, can be read without waiting."""
        return True

    def period(self, cycle: _SpecttuiCycle) -> Optional[float]:
        """Milliseconds from the cycle's start to the next one's, None after a pause."""
        if cycle.successor is None:
            return None
        return (cycle.successor.started - cycle.started) * 1e3

    def release(self, cycle: _SpecttuiCycle) -> None:
        """Take back what the marks used."""


class _SpecttuiSyncClock(_SpecttuiWallClock):
    """The CPU's clock between synchronisations: a clean split of a cycle that it slows down."""

    name = "sync"

    def __init__(self, torch: Any) -> None:
        self.cuda = torch.cuda

    def capturing(self) -> bool:
        return bool(self.cuda.is_current_stream_capturing())

    def begin(self, cycle: _SpecttuiCycle) -> int:
        self.cuda.synchronize()
        cycle.stamps.append(perf_counter())
        return len(cycle.stamps) - 1

    def finish(self, cycle: _SpecttuiCycle) -> int:
        self.cuda.synchronize()
        cycle.stamps.append(perf_counter())
        return len(cycle.stamps) - 1


class _SpecttuiEventClock(_SpecttuiWallClock):
    """CUDA events from a pool, read back cycles later, when `query()` says that they are done."""

    name = "events"

    def __init__(self, torch: Any) -> None:
        self.cuda = torch.cuda
        self.make = torch.cuda.Event
        self.pool: List[Any] = []

    def capturing(self) -> bool:
        return bool(self.cuda.is_current_stream_capturing())

    def open(self, cycle: _SpecttuiCycle) -> None:
        # Looked up once per cycle: all phases run on the stream that is current in the cycle method.
        cycle.stream = self.cuda.current_stream()

    def begin(self, cycle: _SpecttuiCycle) -> int:
        pool = self.pool
        event = pool.pop() if pool else self.make(enable_timing=True)
        event.record(cycle.stream)
        cycle.events.append(event)
        cycle.stamps.append(perf_counter())
        return len(cycle.stamps) - 1

    def finish(self, cycle: _SpecttuiCycle) -> int:
        cycle.stamps.append(perf_counter())
        pool = self.pool
        event = pool.pop() if pool else self.make(enable_timing=True)
        event.record(cycle.stream)
        cycle.events.append(event)
        return len(cycle.stamps) - 1

    def ready(self, cycle: _SpecttuiCycle) -> bool:
        successor = cycle.successor
        last = cycle.events[-1] if successor is None else successor.events[0]
        return bool(last.query())

    def period(self, cycle: _SpecttuiCycle) -> Optional[float]:
        if cycle.successor is None:
            return None
        return cycle.events[0].elapsed_time(cycle.successor.events[0])  # type: ignore[no-any-return]

    def release(self, cycle: _SpecttuiCycle) -> None:
        self.pool.extend(cycle.events)
        cycle.events.clear()
        cycle.stream = None


def _specttui_torch() -> Any:
    """The server's torch if it sees a CUDA device, else None. Never imports: a worker with CUDA did."""
    torch = sys.modules.get("torch")
    try:
        return torch if torch is not None and torch.cuda.is_available() else None
    except Exception:
        return None


def _specttui_clock(name: str) -> Optional[_SpecttuiWallClock]:
    """The clock of that name, None for "off"; without CUDA the CPU's clock stands in for the others."""
    if name == "off":
        return None
    torch = _specttui_torch() if name in {"events", "sync"} else None
    if torch is None:
        return _SpecttuiWallClock()
    return _SpecttuiEventClock(torch) if name == "events" else _SpecttuiSyncClock(torch)
