"""Bounded columns of per-cycle probe figures."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from itertools import islice

from specttui.analysis.steady import FIRST_CYCLES
from specttui.events import Clock, Phase, ProbeCycles


class CycleColumns:
    """The last `capacity` cycles, one column per figure, all of one length.

    Columns are deques extended with whole arrays: folding a probe line costs a few C calls.
    """

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self.clock: Clock | None = None
        self.total = 0
        self._empty()

    def _empty(self) -> None:
        capacity = self.capacity
        self.cycle_ms: deque[float | None] = deque(maxlen=capacity)
        self.batch: deque[int] = deque(maxlen=capacity)
        self.steps: deque[int | None] = deque(maxlen=capacity)
        self.accepted: deque[int | None] = deque(maxlen=capacity)
        self.phase_ms: dict[Phase, deque[float | None]] = {}
        self.cpu_ms: dict[Phase, deque[float | None]] = {}
        self.histogram: list[int] = []

    def __len__(self) -> int:
        return len(self.cycle_ms)

    def add(self, event: ProbeCycles) -> None:
        """Append the cycles of one probe line. Another clock's figures are not mixed in: it starts anew."""
        if self.clock is not None and event.clock is not self.clock:
            self.clear()
        self.clock = event.clock
        count = len(event.cycle_ms)
        before = len(self.cycle_ms)
        self.cycle_ms.extend(event.cycle_ms)
        self.batch.extend(event.batch if len(event.batch) == count else [1] * count)
        self.steps.extend(event.steps if len(event.steps) == count else [None] * count)
        self.accepted.extend(event.accepted if len(event.accepted) == count else [None] * count)
        self._extend(self.phase_ms, event.phase_ms, before, count)
        self._extend(self.cpu_ms, event.cpu_ms, before, count)
        self._count(event.accept_histogram)
        self.total += count

    def clear(self) -> None:
        """Forget all cycles; `total` goes on counting."""
        self._empty()

    def last(self, count: int) -> CycleColumns:
        """The newest `count` cycles as columns of their own."""
        window = CycleColumns(count)
        skip = max(0, len(self) - count)
        window.clock, window.total = self.clock, self.total
        window.cycle_ms.extend(islice(self.cycle_ms, skip, None))
        window.batch.extend(islice(self.batch, skip, None))
        window.steps.extend(islice(self.steps, skip, None))
        window.accepted.extend(islice(self.accepted, skip, None))
        for mine, theirs in ((window.phase_ms, self.phase_ms), (window.cpu_ms, self.cpu_ms)):
            for phase, column in theirs.items():
                mine[phase] = deque(islice(column, skip, None), maxlen=count)
        window.histogram = list(self.histogram)
        return window

    def settled(self) -> CycleColumns:
        """The cycles without a server's first ones, as far as these are still here and as many follow."""
        early = max(0, FIRST_CYCLES - (self.total - len(self)))
        return self.last(len(self) - early) if 0 < early <= len(self) - FIRST_CYCLES else self

    def accept_len(self) -> float | None:
        """Tokens per cycle and request, bonus included, over the cycles whose acceptance is known."""
        known = [
            (accepted, batch)
            for accepted, batch in zip(self.accepted, self.batch, strict=True)
            if accepted is not None and batch
        ]
        verified = sum(batch for _, batch in known)
        return sum(accepted for accepted, _ in known) / verified + 1.0 if verified else None

    def _extend(
        self,
        columns: dict[Phase, deque[float | None]],
        arrays: dict[Phase, list[float | None]],
        before: int,
        count: int,
    ) -> None:
        for phase in arrays.keys() - columns.keys():
            columns[phase] = deque([None] * before, maxlen=self.capacity)
        for phase, column in columns.items():
            array: Sequence[float | None] = arrays.get(phase, ())
            column.extend(array if len(array) == count else [None] * count)

    def _count(self, histogram: Sequence[int]) -> None:
        if len(histogram) > len(self.histogram):
            self.histogram.extend([0] * (len(histogram) - len(self.histogram)))
        for index, count in enumerate(histogram):
            self.histogram[index] += count
