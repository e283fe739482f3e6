"""What was measured under one setting of a run: all of it, unless adaptive speculation changes the steps."""

from __future__ import annotations

from collections import Counter, deque
from dataclasses import dataclass, field
from typing import Any

from specttui.events import ProbeCycles, SpecSettings
from specttui.log.meaning.marks import Mark
from specttui.state.cycles import CycleColumns
from specttui.state.decode import DecodeSample

#: Decode lines kept per segment: hours at one line a second.
SEGMENT_LINES = 4096
#: Cycles kept per segment and writing rank: minutes of steady serving.
SEGMENT_CYCLES = 8192


@dataclass(slots=True)
class Segment:
    """The figures of one setting. `marks` counts all decode lines by what they are.

    Steady lines are kept in `samples`; those at a changing number of requests apart, in `mixed`.
    """

    settings: SpecSettings
    number: int = 0
    started_s: float = 0.0
    samples: deque[DecodeSample] = field(default_factory=lambda: deque(maxlen=SEGMENT_LINES))
    mixed: deque[DecodeSample] = field(default_factory=lambda: deque(maxlen=SEGMENT_LINES))
    lines_seen: int = 0
    lost: int = 0
    marks: Counter[Mark] = field(default_factory=Counter)
    cycles: dict[str, CycleColumns] = field(default_factory=dict)

    @property
    def version(self) -> tuple[int, int]:
        """Changes whenever figures were added: a key for cached statistics."""
        return self.lines_seen, sum(columns.total for columns in self.cycles.values())

    @property
    def empty(self) -> bool:
        """True while nothing was measured."""
        return self.version == (0, 0)

    @property
    def main_cycles(self) -> CycleColumns | None:
        """The columns of the first writing rank; TP ranks agree, DP groups are shown apart."""
        return self.cycles[min(self.cycles)] if self.cycles else None

    def add_sample(self, sample: DecodeSample) -> None:
        """Count one decode line; lines that measure something else are counted by their mark only."""
        self.lines_seen += 1
        self.lost += sample.lost
        mark = sample.mark
        self.marks[mark] += 1
        if mark is Mark.STEADY:
            self.samples.append(sample)
        elif mark is Mark.BATCH_CHANGED:
            self.mixed.append(sample)

    def add_cycles(self, event: ProbeCycles) -> None:
        """Count the cycles of one probe line."""
        columns = self.cycles.get(event.rank)
        if columns is None:
            columns = self.cycles[event.rank] = CycleColumns(SEGMENT_CYCLES)
        columns.add(event)

    def clear(self) -> None:
        """Drop all figures."""
        self.samples.clear()
        self.mixed.clear()
        self.marks.clear()
        self.lost = 0
        for columns in self.cycles.values():
            columns.clear()


def by_steps(event: ProbeCycles) -> dict[int | None, ProbeCycles]:
    """A probe line's cycles by the steps in force, in order of their first appearance.

    The histogram counts all cycles of a line together, so a line that had to be split has none.
    """
    count = len(event.cycle_ms)
    if len(event.steps) != count or len(set(event.steps)) <= 1:
        return {event.steps[0] if event.steps else None: event}
    return {
        steps: _only(event, [index for index, other in enumerate(event.steps) if other == steps])
        for steps in dict.fromkeys(event.steps)
    }


def _only(event: ProbeCycles, chosen: list[int]) -> ProbeCycles:
    count = len(event.cycle_ms)

    def pick(values: list[Any]) -> list[Any]:
        return [values[index] for index in chosen] if len(values) == count else []

    columns = {name: pick(getattr(event, name)) for name in ("steps", "batch", "cycle_ms", "accepted")}
    phases = {
        name: {phase: pick(values) for phase, values in getattr(event, name).items()}
        for name in ("phase_ms", "cpu_ms")
    }
    return event.model_copy(update=columns | phases | {"accept_histogram": []})
