"""The cycle as the screen shows it: the newest cycles broken down, with a sparkline per phase."""

from __future__ import annotations

from collections.abc import Mapping

from specttui.analysis.breakdown import ROW_ORDER, Breakdown, Row, breakdown
from specttui.analysis.stats import known, mean, median
from specttui.events import PART_OF, Clock, FileState, Phase
from specttui.state.cycles import CycleColumns
from specttui.state.facts import Facts
from specttui.state.snapshot import CycleView, PhaseRow, RankRow, Series

#: Seconds that a sparkline shows.
WINDOW_S = 60.0
#: Steady decode lines behind a cycle that is read from the log alone.
LOG_LINES = 12
FROM_LOG = (
    "From the log: running x accept length / throughput. For the parts: p patches the worker, r restarts."
)
NEEDS_PROBE = "needs the probe"


def break_down(columns: CycleColumns, missing: Mapping[str, str]) -> Breakdown:
    """The breakdown of some cycles; `missing` maps a phase's name to why it cannot be shown.

    Only beside GPU times do the CPU's times say something of their own.
    """
    cpu_ms = columns.cpu_ms if columns.clock is Clock.EVENTS else {}
    return breakdown(
        {phase: list(column) for phase, column in columns.phase_ms.items()},
        list(columns.cycle_ms),
        cpu_ms={phase: list(column) for phase, column in cpu_ms.items()},
        missing={Phase(name): why for name, why in missing.items() if name in set(ROW_ORDER)},
    )


def cycle_view(facts: Facts, now_s: float) -> CycleView | None:
    """The newest cycles of the first writing rank; without the probe, what the log alone says of them."""
    columns = facts.window[min(facts.window)] if facts.window else None
    if columns is None or not len(columns):
        return _from_log(facts)
    columns = columns.settled()
    found = break_down(columns, facts.probe.missing)
    return CycleView(
        clock=columns.clock,
        cycles=found.cycles,
        cycle_ms=found.median_cycle_ms,
        mean_cycle_ms=found.mean_cycle_ms,
        rows=tuple(_phase_row(row, facts, now_s) for row in found.rows),
        batch=mean(list(columns.batch)),
        host_bound=found.host_bound,
        note=found.note,
    )


def _from_log(facts: Facts) -> CycleView | None:
    """The cycle as its decode lines tell it (CASES.md B09, B10); its parts need the probe."""
    run = facts.run
    if run is None or run.settings.is_baseline:
        return None
    samples = list(run.current.samples)[-LOG_LINES:]
    cycles = known([sample.cycle_ms for sample in samples])
    if not cycles:
        return None
    batches = known([sample.running for sample in samples])
    return CycleView(
        clock=None,
        cycles=len(cycles) * facts.decode.interval,
        cycle_ms=median(cycles),
        mean_cycle_ms=mean(cycles),
        rows=_unseen_rows() if _unpatched(facts) else (),
        batch=mean(batches) if batches else None,
        note=FROM_LOG,
    )


def _unpatched(facts: Facts) -> bool:
    file = facts.worker_file
    return facts.probe.status == "absent" and (file is None or file.state is not FileState.PATCHED)


def _unseen_rows() -> tuple[PhaseRow, ...]:
    return tuple(
        PhaseRow(phase, None, None, None, part_of=PART_OF.get(phase), available=False, reason=NEEDS_PROBE)
        for phase in ROW_ORDER
    )


def rank_rows(facts: Facts) -> tuple[RankRow, ...]:
    """One row per rank that wrote anything, for the slowest and the spread."""
    rows = {rank: _rank_row(rank, columns) for rank, columns in facts.window.items() if len(columns)}
    for rank, summary in facts.summaries.items():
        rows.setdefault(rank, RankRow(rank, summary.median_cycle_ms, dict(summary.median_phase_ms)))
    return tuple(rows[rank] for rank in sorted(rows))


def _rank_row(rank: str, columns: CycleColumns) -> RankRow:
    return RankRow(
        rank,
        _median(columns.cycle_ms),
        {
            phase: value
            for phase, column in columns.phase_ms.items()
            if (value := _median(column)) is not None
        },
    )


def _median(values: object) -> float | None:
    known = [value for value in values if value is not None]  # type: ignore[attr-defined]
    return median(known) if known else None


def _phase_row(row: Row, facts: Facts, now_s: float) -> PhaseRow:
    history = facts.history.get(row.phase.value)
    return PhaseRow(
        phase=row.phase,
        share=row.share,
        median_ms=row.median_ms,
        p95_ms=row.p95_ms,
        cpu_median_ms=row.cpu_median_ms,
        part_of=row.part_of,
        series=history.recent(now_s, WINDOW_S) if history else Series(),
        available=not row.reason,
        reason=row.reason,
    )
