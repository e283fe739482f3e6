"""Where a cycle's time goes: phases, their shares of the mean cycle, and what no phase explains.

`other` is the cycle minus its phases, so the shares of the rows that add up always sum to exactly 1. Parts
of a phase (target forward, accept, KV bookkeeping) are shown beneath it and never added. KV bookkeeping is
shown as a part of verify, which does most of it (slots for the verified tokens, freeing the rejected ones);
what the draft allocates is in it too. The probe times parts in some cycles only: their shares are of those.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from specttui.analysis.stats import known, mean, median, percentile
from specttui.events import CYCLE_PHASES, PART_OF, Phase

#: The order of the rows: the dearest first in practice, and always the same, so that nothing jumps.
ROW_ORDER = (
    Phase.VERIFY, Phase.TARGET_FORWARD, Phase.ACCEPT, Phase.KV, Phase.DRAFT, Phase.DRAFT_EXTEND, Phase.OTHER,
)  # fmt: skip
_SHOWN_UNDER = {**PART_OF, Phase.KV: Phase.VERIFY}
#: `other` above this share of the cycle means that the GPU waits for the host.
HOST_BOUND_SHARE = 0.10
#: The draft's CPU time this close to its GPU time means that launching, not computing, takes the time.
_LAUNCH_BOUND = 0.90
#: Phases may exceed the cycle by this much through rounding and clock differences.
_OVERLAP = 0.02


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a breakdown. Times in ms.

    `share` is the part of the mean cycle, 0 to 1; of a part, its mean over the mean of the same cycles.
    `counted` rows add up to the cycle; the others lie inside the phase `part_of`. None is unknown, and
    `reason` says why.
    """

    phase: Phase
    share: float | None
    median_ms: float | None
    p95_ms: float | None
    cpu_median_ms: float | None = None
    counted: bool = True
    part_of: Phase | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Breakdown:
    """The cycle in rows. `cycles` were used; `note` says what is odd about them ("" if nothing is).

    `mean_cycle_ms` is what the shares refer to: the mean cycle, or, where cycle times are unknown or smaller
    than their phases, the mean sum of phases.
    """

    rows: tuple[Row, ...]
    cycles: int
    mean_cycle_ms: float | None
    median_cycle_ms: float | None
    host_bound: bool = False
    note: str = ""

    def row(self, phase: Phase) -> Row | None:
        """The row of a phase, or None."""
        return next((row for row in self.rows if row.phase is phase), None)

    @property
    def largest(self) -> Row | None:
        """The counted row with the largest share, or None."""
        rows = [row for row in self.rows if row.counted and row.share is not None]
        return max(rows, key=lambda row: row.share or 0.0, default=None)


def breakdown(
    phase_ms: Mapping[Phase, Sequence[float | None]],
    cycle_ms: Sequence[float | None],
    *,
    cpu_ms: Mapping[Phase, Sequence[float | None]] | None = None,
    missing: Mapping[Phase, str] | None = None,
) -> Breakdown:
    """Break the cycle down.

    Args:
        phase_ms: For each phase its time in each cycle, in ms; None where a cycle did not have the phase,
            which then counts as 0 in the shares and not at all in median and percentile. A part's None is a
            cycle in which it was not timed, and does not count at all.
        cycle_ms: Each cycle's own time, in ms; None where unknown (after a pause).
        cpu_ms: The CPU's time in the same calls, where the phases are GPU times.
        missing: Phases that this worker cannot show -> why; they become rows without figures.

    Returns:
        Rows in `ROW_ORDER`: those with figures, those missing, and `other` where the cycle is known. Cycles
        whose time is unknown are left out where any is known; so are cycles without any phase.
    """
    phases = {phase: values for phase, values in phase_ms.items() if phase in ROW_ORDER and known(values)}
    used = _cycles_used(phases, cycle_ms)
    sums = [math.fsum(_at(phases[phase], i) for phase in CYCLE_PHASES if phase in phases) for i in used]
    cycles = [value for i in used if (value := _value(cycle_ms, i)) is not None]
    if not used or math.fsum(cycles or sums) <= 0:
        return Breakdown(tuple(_missing_rows(missing or {})), 0, None, None)
    # What the shares refer to, cycle by cycle: its own length, or where phases exceed it their sum.
    whole = cycles if math.fsum(cycles) >= math.fsum(sums) else sums
    total = math.fsum(whole)
    rows = [
        _row(phase, values, used, whole, (cpu_ms or {}).get(phase, ()))
        for phase, values in phases.items()
        if phase in CYCLE_PHASES or known([_value(values, i) for i in used])
    ]
    if cycles:
        rows.append(_other_row(cycles, sums, total))
    rows = [*_exact(rows), *_missing_rows({k: v for k, v in (missing or {}).items() if k not in phases})]
    rows.sort(key=lambda row: ROW_ORDER.index(row.phase))
    return Breakdown(
        rows=tuple(rows),
        cycles=len(used),
        mean_cycle_ms=total / len(used),
        median_cycle_ms=median(cycles) if cycles else None,
        host_bound=_host_bound(rows),
        note=_note(cycles, sums),
    )


def _value(values: Sequence[float | None], index: int) -> float | None:
    return values[index] if index < len(values) else None


def _at(values: Sequence[float | None], index: int) -> float:
    return _value(values, index) or 0.0


def _cycles_used(
    phases: Mapping[Phase, Sequence[float | None]], cycle_ms: Sequence[float | None]
) -> list[int]:
    """The cycles to use: those with a phase, and with a cycle time if any has one."""
    longest = max((len(values) for values in phases.values()), default=0)
    with_phase = [
        i
        for i in range(longest)
        if any(_value(phases[phase], i) is not None for phase in CYCLE_PHASES if phase in phases)
    ]
    timed = [i for i in with_phase if _value(cycle_ms, i) is not None]
    return timed or with_phase


def _row(
    phase: Phase,
    values: Sequence[float | None],
    used: Sequence[int],
    whole_ms: Sequence[float],
    cpu_values: Sequence[float | None],
) -> Row:
    seen = known([_value(values, i) for i in used])
    cpu = known([_value(cpu_values, i) for i in used])
    return Row(
        phase=phase,
        share=_share(phase, [_value(values, i) for i in used], whole_ms),
        median_ms=median(seen) if seen else None,
        p95_ms=percentile(seen, 95) if seen else None,
        cpu_median_ms=median(cpu) if cpu else None,
        counted=phase in CYCLE_PHASES,
        part_of=_SHOWN_UNDER.get(phase),
    )


def _share(phase: Phase, values: Sequence[float | None], whole_ms: Sequence[float]) -> float:
    """A phase's share of all cycles; a part's of the cycles that have it, unless these have no length."""
    total_ms = math.fsum(whole_ms)
    if phase not in CYCLE_PHASES:
        having = [whole for value, whole in zip(values, whole_ms, strict=True) if known([value])]
        own_ms = math.fsum(having)
        total_ms = own_ms or total_ms * len(having) / len(whole_ms)
    return math.fsum(known(values)) / total_ms


def _other_row(cycles: Sequence[float], sums: Sequence[float], total_ms: float) -> Row:
    rest = [max(0.0, cycle - phases) for cycle, phases in zip(cycles, sums, strict=True)]
    share = max(0.0, 1 - math.fsum(sums) / total_ms)
    return Row(Phase.OTHER, share, median(rest), percentile(rest, 95))


def _exact(rows: list[Row]) -> list[Row]:
    """The rows with the largest share adjusted by rounding errors, so that the shares sum to exactly 1."""
    shares = {row.phase: row.share or 0.0 for row in rows if row.counted}
    ordered = [phase for phase in ROW_ORDER if phase in shares]
    largest = max(shares, key=lambda phase: shares[phase])
    for _ in range(8):
        error = 1.0 - sum(shares[phase] for phase in ordered)
        if not error:
            break
        shares[largest] += error
    return [_with_share(row, shares[row.phase]) if row.counted else row for row in rows]


def _with_share(row: Row, share: float) -> Row:
    return Row(row.phase, share, row.median_ms, row.p95_ms, row.cpu_median_ms, row.counted, row.part_of)


def _missing_rows(missing: Mapping[Phase, str]) -> list[Row]:
    rows = [
        Row(
            phase,
            None,
            None,
            None,
            counted=phase in CYCLE_PHASES,
            part_of=_SHOWN_UNDER.get(phase),
            reason=why,
        )
        for phase, why in missing.items()
        if phase in ROW_ORDER
    ]
    return sorted(rows, key=lambda row: ROW_ORDER.index(row.phase))


def _host_bound(rows: Sequence[Row]) -> bool:
    """True when `other` is large, or the draft's CPU time is about its GPU time.

    Only the draft is compared: it never waits for the GPU, while verify in the synchronous worker does, so
    that its CPU time always comes close to the GPU's.
    """
    found = {row.phase: row for row in rows}
    other, draft = found.get(Phase.OTHER), found.get(Phase.DRAFT)
    if other and (other.share or 0.0) > HOST_BOUND_SHARE:
        return True
    if draft is None or not draft.median_ms or draft.cpu_median_ms is None:
        return False
    return draft.cpu_median_ms >= _LAUNCH_BOUND * draft.median_ms


def _note(cycles: Sequence[float], sums: Sequence[float]) -> str:
    if not cycles:
        return "cycle time unknown: shares are of the sum of phases"
    ratio = mean(sums) / mean(cycles) if mean(cycles) > 0 else 0.0
    if ratio > 1 + _OVERLAP:
        return f"phases add up to {100 * ratio:.0f} % of the cycle: they overlap, shares are of their sum"
    return ""
