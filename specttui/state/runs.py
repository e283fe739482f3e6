"""One run: everything measured while one configuration served."""

from __future__ import annotations

from collections import Counter, deque
from dataclasses import dataclass, field

from specttui.events import AdaptiveSwitch, Launch, ProbeCycles, RunStarted, SpecSettings
from specttui.log.meaning.marks import Mark
from specttui.state.cycles import CycleColumns
from specttui.state.decode import DecodeSample

#: Decode lines kept per run: hours at one line a second.
RUN_LINES = 4096
#: Cycles kept per run and writing rank: minutes of steady serving.
RUN_CYCLES = 8192


@dataclass(slots=True)
class RunFold:
    """The samples of one run. `marks` counts all decode lines by what they are; only steady ones are kept."""

    run_id: int
    label: str
    launch: Launch
    settings: SpecSettings
    changes: tuple[str, ...]
    started_s: float
    ended_s: float | None = None
    samples: deque[DecodeSample] = field(default_factory=lambda: deque(maxlen=RUN_LINES))
    lines_seen: int = 0
    marks: Counter[Mark] = field(default_factory=Counter)
    cycles: dict[str, CycleColumns] = field(default_factory=dict)
    switches: list[AdaptiveSwitch] = field(default_factory=list)
    retracted: int = 0

    @classmethod
    def begin(cls, event: RunStarted, offset_s: float) -> RunFold:
        """A fresh run from its start event."""
        return cls(
            run_id=event.run_id,
            label=event.label,
            launch=event.launch,
            settings=event.settings,
            changes=event.changes,
            started_s=offset_s,
        )

    @property
    def version(self) -> tuple[int, int]:
        """Changes whenever figures were added: a key for cached statistics."""
        return self.lines_seen, sum(columns.total for columns in self.cycles.values())

    @property
    def main_cycles(self) -> CycleColumns | None:
        """The columns of the first writing rank; TP ranks agree, DP groups are shown apart."""
        return self.cycles[min(self.cycles)] if self.cycles else None

    def add_sample(self, sample: DecodeSample) -> None:
        """Count one decode line; lines that measure something else are counted by their mark only."""
        self.lines_seen += 1
        self.marks[sample.mark] += 1
        if sample.steady:
            self.samples.append(sample)

    def add_cycles(self, event: ProbeCycles) -> None:
        """Count the cycles of one probe line."""
        self.cycles.setdefault(event.rank, CycleColumns(RUN_CYCLES)).add(event)

    def switch(self, event: AdaptiveSwitch) -> None:
        """Adaptive speculation took other steps: figures before belong to another setting."""
        self.switches.append(event)
        self.forget()
        self.settings = self.settings.model_copy(
            update={"num_steps": event.steps_after, "num_draft_tokens": event.draft_tokens_after}
        )

    def forget(self) -> None:
        """Drop all figures: they belong to another server or setting."""
        self.samples.clear()
        self.marks.clear()
        for columns in self.cycles.values():
            columns.clear()
