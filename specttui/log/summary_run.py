"""Folds one run of a saved log: its decode lines and its probe's figures."""

from __future__ import annotations

from collections import Counter
from statistics import fmean, median

from specttui.analysis.steady import FIRST_CYCLES
from specttui.events import (
    CYCLE_PHASES,
    Clock,
    DecodeStats,
    MemoryPressure,
    Phase,
    PrefillStats,
    ProbeCycles,
)
from specttui.log.meaning.accept_rate import accept_rates
from specttui.log.meaning.cycle import cycle_ms
from specttui.log.meaning.interval import DEFAULT_INTERVAL, log_interval, missing_lines
from specttui.log.meaning.marks import LineMarker, Mark
from specttui.log.ranks import LoggingRanks, series_key, system_decode
from specttui.log.summary_model import LoadFigures, PhaseFigures, ProbeFigures, RunFigures

#: Fewer steady lines at one load are an accident of traffic, not a measurement.
MIN_LINES = 3
#: Values kept per series; beyond it every second one is let go, so that any log fits into memory.
_MAX_VALUES = 200_000
_MAX_PAIRS = 2_000


class Values:
    """A long series of numbers in bounded memory."""

    __slots__ = ("_skip", "_stride", "kept", "seen")

    def __init__(self) -> None:
        self.kept: list[float] = []
        self.seen = 0
        self._stride = 1
        self._skip = 0

    def add(self, value: float) -> None:
        """Take a value; every `stride`-th one is kept."""
        self.seen += 1
        if self._skip:
            self._skip -= 1
            return
        self.kept.append(value)
        self._skip = self._stride - 1
        if len(self.kept) >= _MAX_VALUES:
            del self.kept[1::2]
            self._stride *= 2

    def percentile(self, fraction: float) -> float:
        """The value below which the fraction of the kept values lies (nearest rank)."""
        ordered = sorted(self.kept)
        return ordered[min(len(ordered) - 1, int(fraction * len(ordered)))]


class _Load:
    def __init__(self) -> None:
        self.throughput = Values()
        self.cycle = Values()
        self.accept_len = Values()

    def figures(self, running: int) -> LoadFigures:
        lengths = self.accept_len.kept
        return LoadFigures(
            running=running,
            lines=self.throughput.seen,
            throughput_tok_s=median(self.throughput.kept),
            mean_throughput_tok_s=fmean(self.throughput.kept),
            accept_len=fmean(lengths) if lengths else None,
            cycle_ms=median(self.cycle.kept),
        )


class _Probe:
    """One writing rank's cycles, without a server's first ones where as many follow."""

    def __init__(self) -> None:
        self.early: list[ProbeCycles] = []
        self.early_cycles = 0
        self.cycles = 0
        self.cycle = Values()
        self.phases: dict[Phase, Values] = {}
        self.phase_sum_ms: dict[Phase, float] = {}
        self.having_sum_ms: dict[Phase, float] = {}
        self.cycle_sum_ms = 0.0
        self.accepted = self.batch = 0

    def add(self, event: ProbeCycles) -> None:
        if self.early_cycles < FIRST_CYCLES:
            self.early.append(event)
            self.early_cycles += len(event.cycle_ms)
        else:
            self._count(event)

    def _count(self, event: ProbeCycles) -> None:
        self.cycles += len(event.cycle_ms)
        for index, cycle in enumerate(event.cycle_ms):
            if cycle is not None:
                self.cycle.add(cycle)
                self.cycle_sum_ms += cycle
            for phase, times in event.phase_ms.items():
                value = times[index] if index < len(times) else None
                if value is not None:
                    self._add_phase(phase, value, cycle)
        for accepted, batch in zip(event.accepted, event.batch, strict=False):
            if accepted is not None:
                self.accepted += accepted
                self.batch += batch

    def _add_phase(self, phase: Phase, value_ms: float, cycle_ms: float | None) -> None:
        self.phases.setdefault(phase, Values()).add(value_ms)
        # Shares compare sums over the same cycles: those whose length is known.
        if cycle_ms is not None:
            self.phase_sum_ms[phase] = self.phase_sum_ms.get(phase, 0.0) + value_ms
            self.having_sum_ms[phase] = self.having_sum_ms.get(phase, 0.0) + cycle_ms

    def figures(self, rank: str, clock: Clock) -> ProbeFigures:
        if self.cycles < FIRST_CYCLES:
            for event in self.early:
                self._count(event)
        return ProbeFigures(
            rank=rank,
            clock=clock.value,
            cycles=self.cycles,
            cycle_ms=median(self.cycle.kept) if self.cycle.kept else None,
            accept_len=self.accepted / self.batch + 1 if self.batch else None,
            phases=tuple(self._phase(phase) for phase in self.phases) + self._other(),
        )

    def _phase(self, phase: Phase) -> PhaseFigures:
        values = self.phases[phase]
        # The probe times the parts of phases in some cycles only: their share is of those.
        whole_ms = self.cycle_sum_ms if phase in CYCLE_PHASES else self.having_sum_ms.get(phase, 0.0)
        share = self.phase_sum_ms.get(phase, 0.0) / whole_ms if whole_ms else None
        return PhaseFigures(phase.value, median(values.kept), values.percentile(0.95), share)

    def _other(self) -> tuple[PhaseFigures, ...]:
        if not self.cycle_sum_ms or not self.phases:
            return ()
        phases_ms = sum(self.phase_sum_ms.get(phase, 0.0) for phase in CYCLE_PHASES)
        other = max(0.0, 1.0 - phases_ms / self.cycle_sum_ms)
        mean_ms = other * self.cycle_sum_ms / self.cycle.seen
        return (PhaseFigures(Phase.OTHER.value, mean_ms, mean_ms, other),)


class RunFold:
    """Takes a run's events in order and tells its figures at the end."""

    def __init__(
        self, label: str, steps: int | None, draft_tokens: int | None, interval: int | None = None
    ) -> None:
        self.label, self.steps, self.draft_tokens = label, steps, draft_tokens
        self._marker = LineMarker(interval or DEFAULT_INTERVAL)
        self._ranks = LoggingRanks()
        self._latest: dict[str, tuple[DecodeStats, Mark]] = {}
        self._loads: dict[int, _Load] = {}
        self._excluded: Counter[str] = Counter()
        self._probes: dict[tuple[str, Clock], _Probe] = {}
        self._first_lines: list[DecodeStats] = []
        self._decode_lines = 0

    @property
    def empty(self) -> bool:
        """True while nothing was measured."""
        return not self._decode_lines and not self._probes

    def decode(self, line: DecodeStats) -> None:
        """Take a decode line; other ranks' copies of it are passed over."""
        if not self._ranks.counts(line.rank):
            self._excluded["other_rank"] += 1
            return
        self._decode_lines += 1
        mark = self._marker.mark(line)
        self._latest[series_key(line.rank)] = (line, mark)
        if len(self._first_lines) < _MAX_PAIRS and len(self._latest) == 1:
            self._first_lines.append(line)
        if mark is not Mark.STEADY:
            self._excluded[mark.value] += 1
        elif all(other is Mark.STEADY for _, other in self._latest.values()):
            self._sample()

    def prefill(self, event: PrefillStats) -> None:
        """A request began: the tokens since the line before include its prompt."""
        self._marker.prefill(event)
        if self._first_lines and self._first_lines[-1].tokens is not None:
            self._first_lines.append(DecodeStats())

    def pressure(self, event: MemoryPressure) -> None:
        """Requests were retracted."""
        self._marker.pressure(event)

    def probe(self, event: ProbeCycles) -> None:
        """Take the probe's figures."""
        self._probes.setdefault((event.rank, event.clock), _Probe()).add(event)

    def figures(self) -> RunFigures:
        """The run as it stands."""
        loads = tuple(
            load.figures(running)
            for running, load in sorted(self._loads.items())
            if load.throughput.seen >= MIN_LINES
        )
        interval = log_interval(self._first_lines)
        length = next((load.accept_len for load in loads if load.accept_len is not None), None)
        rates = accept_rates(length, self.draft_tokens) if length is not None else None
        return RunFigures(
            label=self.label,
            steps=self.steps,
            draft_tokens=self.draft_tokens,
            decode_lines=self._decode_lines,
            loads=loads,
            accept_rate=rates.of_drafts if rates else None,
            excluded=dict(self._excluded),
            interval_cycles=interval,
            missing_lines=missing_lines(self._first_lines, interval) if interval else 0,
            probe=tuple(probe.figures(rank, clock) for (rank, clock), probe in sorted(self._probes.items())),
        )

    def _sample(self) -> None:
        lines = [line for line, _ in self._latest.values()]
        system = system_decode(lines)
        cycles = [cycle_ms(line.running, line.accept_len, line.throughput_tok_s) for line in lines]
        known = [cycle for cycle in cycles if cycle is not None]
        if system is None or not known:
            return
        load = self._loads.setdefault(system.running, _Load())
        load.throughput.add(system.throughput_tok_s)
        load.cycle.add(fmean(known))
        if system.accept_len is not None:
            load.accept_len.add(system.accept_len)
