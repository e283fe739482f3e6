"""The clocks: how a moment is marked, when it can be read, and what lies between two marks.

A mark is an index into the cycle's `stamps` (CPU seconds) and, with GPU events, into its `events`.
"""

from __future__ import annotations

import sys
from time import perf_counter
from typing import Any, Callable, List, Optional

from specttui.probe.block.cycle import _SpecttuiCycle
from specttui.probe.block.words import _SPECTTUI_PARTS_EVERY, _SPECTTUI_SAME_S


class _SpecttuiWallClock:
    """The CPU's clock alone.

    `elapsed` gives the milliseconds between two events, None where the CPU's stamps are all there is;
    `parts_every` says in which cycles the parts of phases are timed: every n-th; `rests` whether its cost is
    kept small.
    """

    name = "wall"
    parts_every = 1
    rests = True
    elapsed: Optional[Callable[[Any, Any], float]] = None

    def open(self, _cycle: _SpecttuiCycle) -> bool:
        """Prepare a cycle before its first mark; False while a CUDA graph is captured, where none may be."""
        return True

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
    parts_every = _SPECTTUI_PARTS_EVERY
    rests = False  # whoever asks for it wants to see what it does to the server

    def __init__(self, torch: Any) -> None:
        self.cuda = torch.cuda

    def open(self, _cycle: _SpecttuiCycle) -> bool:
        return not self.cuda.is_current_stream_capturing()

    def begin(self, cycle: _SpecttuiCycle) -> int:
        self.cuda.synchronize()
        cycle.stamps.append(perf_counter())
        return len(cycle.stamps) - 1

    def finish(self, cycle: _SpecttuiCycle) -> int:
        self.cuda.synchronize()
        cycle.stamps.append(perf_counter())
        return len(cycle.stamps) - 1


class _SpecttuiEventClock(_SpecttuiWallClock):
    """CUDA events from a pool, read back cycles later, when a query says that they are done.

    The methods of torch's events are taken from the C++ class beneath, which saves a Python call each.
    """

    name = "events"
    parts_every = _SPECTTUI_PARTS_EVERY
    elapsed: Callable[[Any, Any], float]

    def __init__(self, torch: Any) -> None:
        self.current_stream = torch.cuda.current_stream
        self.make = torch.cuda.Event
        self.pool: List[Any] = [self.make(enable_timing=True)]
        owner = type(self.pool[0])
        self.record = _specttui_native(owner, "record")
        self.query = _specttui_native(owner, "query")
        self.elapsed = _specttui_native(owner, "elapsed_time")
        native = getattr(torch, "_C", None)
        self.capturing = getattr(
            native, "_cuda_isCurrentStreamCapturing", torch.cuda.is_current_stream_capturing
        )
        # A stream's handle costs a fraction of the object that torch makes for it.
        self.current_handle = getattr(native, "_cuda_getCurrentRawStream", None)
        self.device = 0 if self.current_handle is None else torch.cuda.current_device()
        self.handle: Any = None
        self.stream: Any = None

    def open(self, cycle: _SpecttuiCycle) -> bool:
        if self.capturing():
            return False
        # Looked up once per cycle: all phases run on the stream that is current in the cycle method.
        handle = None if self.current_handle is None else self.current_handle(self.device)
        if handle is None or handle != self.handle:
            self.handle, self.stream = handle, self.current_stream()
        cycle.stream = self.stream
        return True

    def begin(self, cycle: _SpecttuiCycle) -> int:
        pool, stamps = self.pool, cycle.stamps
        if not stamps or perf_counter() - stamps[-1] > _SPECTTUI_SAME_S:
            event = pool.pop() if pool else self.make(enable_timing=True)
            self.record(event, cycle.stream)
            cycle.events.append(event)
            stamps.append(perf_counter())
        return len(stamps) - 1

    def finish(self, cycle: _SpecttuiCycle) -> int:
        pool, stamps = self.pool, cycle.stamps
        stamps.append(perf_counter())
        event = pool.pop() if pool else self.make(enable_timing=True)
        self.record(event, cycle.stream)
        cycle.events.append(event)
        return len(stamps) - 1

    def ready(self, cycle: _SpecttuiCycle) -> bool:
        successor = cycle.successor
        return bool(self.query(cycle.events[-1] if successor is None else successor.events[0]))

    def period(self, cycle: _SpecttuiCycle) -> Optional[float]:
        if cycle.successor is None:
            return None
        return self.elapsed(cycle.events[0], cycle.successor.events[0])

    def release(self, cycle: _SpecttuiCycle) -> None:
        self.pool.extend(cycle.events)
        cycle.events.clear()


def _specttui_native(owner: Any, name: str) -> Callable[..., Any]:
    """A class's method as a function, taken from the base that it refines if there is one."""
    found = [vars(base)[name] for base in owner.__mro__[1:] if name in vars(base)]
    method: Callable[..., Any] = found[0] if found else getattr(owner, name)
    return method


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
