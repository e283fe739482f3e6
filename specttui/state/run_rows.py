"""Runs as rows of the comparison table: medians of their steady part, compared with the baseline."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from specttui.analysis.stats import Estimate, bootstrap_interval, differ, known, mean, median
from specttui.analysis.steady import steady_start
from specttui.events import Phase
from specttui.launch import parallelism
from specttui.log.meaning.marks import Mark
from specttui.state.cycle_view import break_down
from specttui.state.cycles import CycleColumns
from specttui.state.decode import DecodeSample
from specttui.state.runs import RunFold
from specttui.state.segments import Segment
from specttui.state.snapshot import Interval, RunRow

#: A run in progress is summed up anew at most this often, statistics cost more than the screen; and as many
#: times less often as it has more than so many lines, of which a second's worth changes little.
REFRESH_S = 1.0
REFRESH_LINES = 1024
#: Cycles that a run's breakdown looks at: the newest ones.
BREAKDOWN_CYCLES = 2048
#: A run with fewer steady decode lines than this is still warming up.
ENOUGH_LINES = 5


@dataclass(frozen=True, slots=True)
class _Cached:
    version: tuple[int, int]
    ended_s: float | None
    at_s: float
    row: RunRow


class RunRows:
    """Sums runs up, remembering what did not change."""

    def __init__(self) -> None:
        self._cached: dict[tuple[int, int], _Cached] = {}

    def rows(self, runs: list[RunFold], now_s: float, missing: dict[str, str]) -> tuple[RunRow, ...]:
        """One row per run and per step count in it, in order, each compared with a comparable baseline."""
        rows = [self._row(run, segment, now_s, missing) for run in runs for segment in _shown(run)]
        return tuple(_compared(row, rows) for row in rows)

    def _row(self, run: RunFold, segment: Segment, now_s: float, missing: dict[str, str]) -> RunRow:
        key = run.run_id, segment.number
        cached = self._cached.get(key)
        if cached is not None and cached.ended_s == run.ended_s:
            keep_s = REFRESH_S * max(1.0, len(segment.samples) / REFRESH_LINES)
            fresh = now_s - cached.at_s < keep_s and now_s >= cached.at_s
            if cached.version == segment.version or (fresh and run.ended_s is None):
                return replace(cached.row, **_of_now(run, segment))
        row = _summed_up(run, segment, missing)
        self._cached[key] = _Cached(segment.version, run.ended_s, now_s, row)
        return row


def _shown(run: RunFold) -> list[Segment]:
    """A run's segments that have figures; the current one in any case where none has."""
    return [segment for segment in run.segments if not segment.empty] or [run.current]


def _of_now(run: RunFold, segment: Segment) -> dict[str, Any]:
    """What changes without new figures."""
    return {
        "label": _label(run, segment),
        "settings": segment.settings,
        "current": run.ended_s is None and segment is run.current,
        "segment": segment.number if run.switch_count else 0,
        "notes": _notes(run, segment),
    }


def _label(run: RunFold, segment: Segment) -> str:
    if not run.switch_count:
        return run.label
    return f"{run.label}: steps {segment.settings.num_steps} (adaptive)"


def _summed_up(run: RunFold, segment: Segment, missing: dict[str, str]) -> RunRow:
    samples = _samples(segment)
    rates = known([sample.server_tok_s for sample in samples])
    requests = known([sample.running for sample in samples])
    batch = median(requests) if requests else None
    throughput = _interval(bootstrap_interval(rates)) if rates else None
    row = RunRow(
        run_id=run.run_id,
        is_baseline=segment.settings.is_baseline,
        throughput_tok_s=throughput,
        per_request_tok_s=throughput.value / batch if throughput and batch else None,
        batch=batch,
        samples=len(rates),
        started_s=segment.started_s,
        ended_s=run.ended_s,
        changes=run.changes,
        launch=run.launch,
        warming_up=run.ended_s is None and len(rates) < ENOUGH_LINES,
        **_of_now(run, segment),
    )
    return _with_cycles(_from_log(row, samples), segment.main_cycles, missing)


def _samples(segment: Segment) -> list[DecodeSample]:
    """The steady lines; with too few of them also those at a changing number of requests."""
    steady = _steady(list(segment.samples))
    if not _is_mixed(segment):
        return steady
    return sorted([*segment.samples, *segment.mixed], key=lambda sample: sample.offset_s)


def _is_mixed(segment: Segment) -> bool:
    return len(segment.samples) < ENOUGH_LINES <= len(segment.samples) + len(segment.mixed)


def _steady(samples: list[DecodeSample]) -> list[DecodeSample]:
    """The samples without their warm-up; of very many, every so-manieth tells where that ends."""
    stride = max(1, len(samples) // REFRESH_LINES)
    rates = [sample.server_tok_s or 0.0 for sample in samples[::stride]]
    return samples[steady_start(rates) * stride :]


def _from_log(row: RunRow, samples: list[DecodeSample]) -> RunRow:
    lengths = known([sample.accept_len for sample in samples])
    cycles = known([sample.cycle_ms for sample in samples if sample.steady])
    return replace(
        row,
        accept_len=mean(lengths) if lengths else None,
        cycle_ms=median(cycles) if cycles else None,
        source="log" if cycles else "",
    )


def _with_cycles(row: RunRow, columns: CycleColumns | None, missing: dict[str, str]) -> RunRow:
    if columns is None or not known(list(columns.cycle_ms)):
        return row
    settled = columns.settled()
    steady = settled.last(_steady_count(settled))
    found = break_down(steady, missing)
    if found.median_cycle_ms is None:
        return row
    medians = {item.phase: item.median_ms for item in found.rows if item.median_ms is not None}
    shares: dict[Phase, float] = {item.phase: item.share for item in found.rows if item.share is not None}
    return replace(
        row,
        accept_len=steady.accept_len() or row.accept_len,
        cycle_ms=found.median_cycle_ms,
        source="probe",
        phase_ms=medians,
        phase_share=shares,
        cycles=len(steady),
        clock=columns.clock,
    )


def _steady_count(columns: CycleColumns) -> int:
    """How many of the newest cycles to look at: those after the warm-up, bounded."""
    values = known(list(columns.cycle_ms))
    return max(1, min(BREAKDOWN_CYCLES, len(columns) - steady_start(values)))


def _interval(estimate: Estimate) -> Interval:
    return Interval(estimate.value, estimate.low, estimate.high)


def _notes(run: RunFold, segment: Segment) -> tuple[str, ...]:
    notes = []
    if segment.marks[Mark.KV_PRESSURE]:
        notes.append(f"{segment.marks[Mark.KV_PRESSURE]} lines under KV pressure left out")
    if _is_mixed(segment):
        notes.append("the number of requests keeps changing: throughput is over all of them, at a mixed load")
    if segment.lost:
        notes.append(f"at least {segment.lost} decode lines are missing from the log: figures are incomplete")
    if run.suppressed:
        notes.append("lines of the log were dropped on the way: figures are incomplete")
    if run.switches:
        last = run.switches[-1]
        notes.append(
            f"adaptive: {run.switch_count} switches of steps, the last {last.steps_before} -> "
            f"{last.steps_after}; each step count has figures of its own"
        )
    return (*notes, *(f"the server changed {words}" for words in run.differences))


def _compared(row: RunRow, rows: list[RunRow]) -> RunRow:
    baseline = baseline_for(row, rows)
    if baseline is None or baseline.run_id == row.run_id:
        return row
    mine, theirs = row.throughput_tok_s, baseline.throughput_tok_s
    if mine is None or theirs is None or theirs.value <= 0:
        return row
    apart = differ(Estimate(mine.value, mine.low, mine.high), Estimate(theirs.value, theirs.low, theirs.high))
    return replace(row, change_vs_baseline=mine.value / theirs.value - 1.0, significant=apart)


def baseline_for(row: RunRow, rows: list[RunRow]) -> RunRow | None:
    """The newest baseline with figures on the same parallelism (CASES B07: never across TP sizes)."""
    comparable = [
        other
        for other in rows
        if other.is_baseline and other.throughput_tok_s is not None and _same_shape(other, row)
    ]
    return comparable[-1] if comparable else None


def _same_shape(one: RunRow, other: RunRow) -> bool:
    if one.launch is None or other.launch is None:
        return True
    return parallelism(one.launch) == parallelism(other.launch)
