"""One run: everything measured while one configuration served, by the steps that were in force."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from specttui.events import AdaptiveSwitch, Launch, ProbeCycles, RunStarted, SpecSettings
from specttui.state.decode import DecodeSample
from specttui.state.segments import Segment, by_steps

#: Adaptive switches kept per run.
RUN_SWITCHES = 64


@dataclass(slots=True)
class RunFold:
    """A run's figures.

    Adaptive speculation changes the steps while a server runs, so figures before and after belong to
    different settings (CASES.md A18): each step count has a segment of its own, to which figures return
    when it does. A run without it has one segment.
    """

    run_id: int
    label: str
    launch: Launch
    changes: tuple[str, ...]
    started_s: float
    current: Segment
    segments: list[Segment]
    ended_s: float | None = None
    switches: deque[AdaptiveSwitch] = field(default_factory=lambda: deque(maxlen=RUN_SWITCHES))
    switch_count: int = 0
    retracted: int = 0
    suppressed: int = 0
    differences: tuple[str, ...] = ()

    @classmethod
    def begin(cls, event: RunStarted, offset_s: float) -> RunFold:
        """A fresh run from its start event."""
        segment = Segment(event.settings, 1, offset_s)
        return cls(
            run_id=event.run_id,
            label=event.label,
            launch=event.launch,
            changes=event.changes,
            started_s=offset_s,
            current=segment,
            segments=[segment],
        )

    @property
    def settings(self) -> SpecSettings:
        """The settings in force now."""
        return self.current.settings

    @property
    def lines_seen(self) -> int:
        """Decode lines so far."""
        return sum(segment.lines_seen for segment in self.segments)

    def adopt(self, settings: SpecSettings) -> None:
        """The log tells which settings are in force; what adaptive speculation chose is newer."""
        if not self.switch_count:
            self.current.settings = settings

    def add_sample(self, sample: DecodeSample) -> None:
        """Count one decode line."""
        self.current.add_sample(sample)

    def add_cycles(self, event: ProbeCycles, offset_s: float = 0.0) -> None:
        """Count the cycles of one probe line, each in the segment of its steps."""
        if not self.switch_count:
            self.current.add_cycles(event)
            return
        for steps, part in by_steps(event).items():
            segment = self.current if steps is None else self._segment(steps, None, offset_s)
            segment.add_cycles(part)

    def switch(self, event: AdaptiveSwitch, offset_s: float = 0.0) -> bool:
        """Adaptive speculation took other steps; False when another rank has said so already."""
        before = self.current.settings
        if before.num_steps == event.steps_after:
            return False
        if before.num_steps is None:
            self.current.settings = _with_steps(before, event.steps_before, event.draft_tokens_before)
        self.switches.append(event)
        self.switch_count += 1
        self.current = self._segment(event.steps_after, event.draft_tokens_after, offset_s)
        return True

    def forget(self) -> None:
        """Drop all figures: they belong to another server."""
        self.current.clear()
        self.segments = [self.current]
        self.switches.clear()
        self.switch_count = self.retracted = self.suppressed = 0

    def _segment(self, steps: int, draft_tokens: int | None, offset_s: float) -> Segment:
        found = next((each for each in self.segments if each.settings.num_steps == steps), None)
        if found is None:
            settings = _with_steps(self.current.settings, steps, draft_tokens)
            found = Segment(settings, len(self.segments) + 1, offset_s)
            self.segments.append(found)
        return found


def _with_steps(settings: SpecSettings, steps: int, draft_tokens: int | None) -> SpecSettings:
    """Adaptive speculation works with top-k 1 only, so without a word the draft tokens are steps + 1."""
    return settings.model_copy(update={"num_steps": steps, "num_draft_tokens": draft_tokens or steps + 1})
