"""A start-up as it goes on: phases with times, and what is left of it, learnt from earlier starts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from specttui.events import StartupStep
from specttui.log.phases import DRAFT_PHASES, PHASE_ORDER, PHASES


@dataclass(frozen=True, slots=True)
class PhaseTime:
    """One stretch of a start-up, in seconds since its beginning, until the next phase began."""

    phase: str
    started_s: float
    duration_s: float


@dataclass(frozen=True, slots=True)
class StartupView:
    """A start-up at one moment.

    `done`, `total` and `phase_fraction` are the current phase's progress bar. `fraction` and `eta_s` are
    about the whole start-up, None without earlier starts to learn from. `last_output_s` is how long ago
    the last line came: silence is shown, never called a failure.
    """

    phase: str
    detail: str
    done: int | None
    total: int | None
    phase_fraction: float | None
    fraction: float | None
    elapsed_s: float
    eta_s: float | None
    last_output_s: float
    ready: bool


class StartupModel:
    """Folds start-up steps. The slowest rank decides which phase the server is in.

    Args:
        earlier: Seconds per phase of earlier starts, as `durations` or `learnt` gave them.
    """

    def __init__(self, earlier: Mapping[str, float] | None = None) -> None:
        self._earlier = {phase: seconds for phase, seconds in (earlier or {}).items() if phase in PHASE_ORDER}
        self._open: dict[str, set[str]] = {}
        self._times: list[tuple[str, float]] = []
        self._bar: StartupStep | None = None
        self._detail = ""
        self._last_output_s = 0.0
        self._started = False

    @property
    def phase(self) -> str:
        """The phase the slowest rank is in, "" before the first step."""
        return self._times[-1][0] if self._times else ""

    @property
    def ready(self) -> bool:
        """True after the server's own ready line; an endpoint's answer is the host's to check."""
        return self.phase == "ready"

    def output(self, at_s: float, phase: str = "init") -> None:
        """Any line came at `at_s` seconds (on any one clock): the process lives."""
        if not self._started:
            self._started = True
            self._times.append((phase, at_s))
        self._last_output_s = max(self._last_output_s, at_s)

    def apply(self, step: StartupStep, at_s: float) -> None:
        """Take a step that was seen at `at_s` seconds."""
        self.output(at_s, step.phase)
        if step.edge == "begin":
            self._begin(step)
        elif step.edge == "end":
            self._open.get(step.rank, set()).discard(step.phase)
        self._enter(self._slowest(step.phase), at_s)
        if step.done is not None and step.phase == self.phase:
            self._bar = step
        if step.detail and step.phase == self.phase:
            self._detail = step.detail

    def phases(self, now_s: float) -> tuple[PhaseTime, ...]:
        """Every stretch so far, in order; "ready" ends the last one and is none itself."""
        if not self._times:
            return ()
        start_s = self._times[0][1]
        ends = [begin_s for _, begin_s in self._times[1:]] + [max(now_s, self._times[-1][1])]
        return tuple(
            PhaseTime(phase, begin_s - start_s, end_s - begin_s)
            for (phase, begin_s), end_s in zip(self._times, ends, strict=True)
            if phase != "ready"
        )

    def durations(self, now_s: float) -> dict[str, float]:
        """Seconds per phase; their sum is the whole start-up."""
        sums: dict[str, float] = {}
        for stretch in self.phases(now_s):
            sums[stretch.phase] = sums.get(stretch.phase, 0.0) + stretch.duration_s
        return sums

    def view(self, now_s: float) -> StartupView:
        """The start-up as of `now_s` seconds, on the clock of the steps."""
        durations = self.durations(now_s)
        bar = self._bar
        phase_fraction = bar.done / bar.total if bar and bar.total and bar.done is not None else None
        fraction, eta_s = self._outlook(durations, phase_fraction)
        return StartupView(
            phase=self.phase,
            detail=self._detail,
            done=bar.done if bar else None,
            total=bar.total if bar else None,
            phase_fraction=phase_fraction,
            fraction=fraction,
            elapsed_s=sum(durations.values()),
            eta_s=eta_s,
            last_output_s=max(0.0, now_s - self._last_output_s) if self._started else 0.0,
            ready=self.ready,
        )

    def _begin(self, step: StartupStep) -> None:
        order = PHASE_ORDER.get(step.phase, 0)
        for rank in {"", step.rank}:
            phases = self._open.setdefault(rank, set())
            phases -= {phase for phase in phases if PHASE_ORDER[phase] < order}
        if step.phase in PHASE_ORDER:
            self._open[step.rank].add(step.phase)

    def _slowest(self, newest: str) -> str:
        # A rank that logs nothing more (TP1 never announces the draft's graphs) does not hold back the
        # rest: only phases that some rank began and did not end count.
        if newest == "ready":
            return newest
        unfinished = [phase for phases in self._open.values() for phase in phases]
        return min(unfinished, key=PHASE_ORDER.__getitem__) if unfinished else newest

    def _enter(self, phase: str, at_s: float) -> None:
        if phase != self.phase and not self.ready:
            self._times.append((phase, at_s))
            self._bar = None
            self._detail = ""

    def _outlook(
        self, durations: Mapping[str, float], phase_fraction: float | None
    ) -> tuple[float | None, float | None]:
        """The fraction done and the seconds left, as far as earlier starts tell."""
        whole_s = sum(self._earlier.values())
        if self.ready:
            return 1.0, 0.0
        if whole_s <= 0.0:
            return None, None
        left_s = sum(
            max(0.0, seconds - durations.get(phase, 0.0))
            for phase, seconds in self._earlier.items()
            if PHASE_ORDER[phase] > PHASE_ORDER.get(self.phase, 0)
        )
        left_s += self._left_in_phase(durations, phase_fraction)
        return max(0.0, min(0.99, 1.0 - left_s / whole_s)), left_s

    def _left_in_phase(self, durations: Mapping[str, float], phase_fraction: float | None) -> float:
        expected_s = self._earlier.get(self.phase, 0.0)
        by_time_s = max(0.0, expected_s - durations.get(self.phase, 0.0))
        by_bar_s = self._bar.eta_s if self._bar is not None else None
        if by_bar_s is not None:
            return max(by_bar_s, 0.0)
        return by_time_s if phase_fraction is None else expected_s * (1.0 - phase_fraction)


def expected(earlier: Mapping[str, float], *, speculative: bool) -> dict[str, float]:
    """What to expect of a start: without speculation there is no draft model to load and capture."""
    return {phase: seconds for phase, seconds in earlier.items() if speculative or phase not in DRAFT_PHASES}


def learnt(
    earlier: Mapping[str, float], durations: Mapping[str, float], *, speculative: bool = True
) -> dict[str, float]:
    """Mix a finished start's durations into what was known: half old, half new.

    Args:
        earlier: Seconds per phase known so far; empty the first time.
        durations: Seconds per phase of the start that ended now.
        speculative: Whether that start had a draft model; if not, what is known of its phases is kept.

    Returns:
        Seconds per phase for the next `StartupModel`, of the phases that the new start could have.
    """
    new = {
        phase: (earlier[phase] + seconds) / 2 if phase in earlier else seconds
        for phase, seconds in durations.items()
    }
    kept = {} if speculative else {phase: earlier[phase] for phase in DRAFT_PHASES if phase in earlier}
    known = kept | new
    return {phase: known[phase] for phase in PHASES if phase in known}
