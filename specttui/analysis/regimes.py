"""Load sweeps: where the machine changes its behaviour, so that nothing may be interpolated across it.

Doubling the load at most doubles the cycle time while the same code paths run: that is work growing in
proportion, the worst case without a change. A cycle that grows faster than the load (so that throughput per
accepted token falls) means that another path took over: another all-reduce, another kernel, graphs left.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise


@dataclass(frozen=True, slots=True)
class LoadPoint:
    """One measured load: requests at once (or context tokens) and the cycle time there, in ms."""

    load: float
    cycle_ms: float


@dataclass(frozen=True, slots=True)
class RegimeChange:
    """Between two neighbouring loads the cycle grew by `cycle_ratio`, more than the load did."""

    below: float
    above: float
    cycle_ratio: float


def regime_changes(points: Sequence[LoadPoint]) -> tuple[RegimeChange, ...]:
    """Where a load sweep changes regime: the cycle grows faster than the load between neighbours."""
    ordered = sorted(points, key=lambda point: point.load)
    return tuple(
        RegimeChange(low.load, high.load, high.cycle_ms / low.cycle_ms)
        for low, high in pairwise(ordered)
        if high.cycle_ms / low.cycle_ms > high.load / low.load
    )


def interpolate_cycle_ms(points: Sequence[LoadPoint], load: float) -> float | None:
    """The cycle time at a load between measured ones, linearly.

    Returns:
        The time in ms, or None outside the measured loads and where the regime changes in between.
    """
    ordered = sorted(points, key=lambda point: point.load)
    for low, high in pairwise(ordered):
        if low.load <= load <= high.load:
            if load not in {low.load, high.load} and regime_changes([low, high]):
                return None
            part = (load - low.load) / (high.load - low.load)
            return low.cycle_ms + part * (high.cycle_ms - low.cycle_ms)
    return None


def crossover(loads: Sequence[float], speed_ups: Sequence[float]) -> float | None:
    """The first load, ascending, at which speculation no longer pays (speed-up 1 or less), or None."""
    pairs = sorted(zip(loads, speed_ups, strict=True))
    return next((load for load, speed_up in pairs if speed_up <= 1), None)
