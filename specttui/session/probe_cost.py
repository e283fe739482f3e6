"""Measures what the probe itself costs: off and on in turn, under the load that is there anyway."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from statistics import fmean

from specttui.analysis.stats import bootstrap_interval
from specttui.errors import SpecttuiError
from specttui.events import Clock, ProbeCostMeasured
from specttui.state.session_state import SessionState

#: After a switch, decode lines of this many seconds still mix both settings, and the probe looks at its
#: control file at most twice a second.
SETTLE_S = 2.5
#: Lines that each stretch needs at least.
FEWEST_LINES = 3


async def measure_probe_cost(
    state: SessionState,
    now_s: Callable[[], float],
    set_clock: Callable[[Clock], Awaitable[None]],
    *,
    clock: Clock,
    pairs: int,
    stretch_s: float,
) -> ProbeCostMeasured:
    """Switch the probe off and on in the order ABBA, and compare cycle times of SGLang's own log lines.

    The log speaks whether the probe is on or off, and its cycle time (running x accept length / throughput)
    does not depend on what was accepted.

    Args:
        state: Where the decode lines arrive.
        now_s: The session's clock, that of the state's offsets.
        set_clock: Switches the running probe.
        clock: What "on" is.
        pairs: How often both settings are measured.
        stretch_s: Seconds per stretch, settling apart.

    Returns:
        The change of the cycle time with its 95 % interval over the pairs. The probe is on afterwards.

    Raises:
        SpecttuiError: Too few decode lines came: there is no steady traffic.
    """
    ratios: list[float] = []
    means: dict[Clock, list[float]] = {clock: [], Clock.OFF: []}
    try:
        for pair in range(pairs):
            order = (Clock.OFF, clock) if pair % 2 == 0 else (clock, Clock.OFF)
            found = {each: await _stretch(state, now_s, set_clock, each, stretch_s) for each in order}
            for each, mean_ms in found.items():
                means[each].append(mean_ms)
            ratios.append(found[clock] / found[Clock.OFF] - 1.0)
    finally:
        await set_clock(clock)
    change = bootstrap_interval(ratios, statistic=fmean, blocks=len(ratios))
    return ProbeCostMeasured(
        clock=clock,
        pairs=pairs,
        cycle_on_ms=fmean(means[clock]),
        cycle_off_ms=fmean(means[Clock.OFF]),
        change=change.value,
        low=change.low,
        high=change.high,
    )


async def _stretch(
    state: SessionState,
    now_s: Callable[[], float],
    set_clock: Callable[[Clock], Awaitable[None]],
    clock: Clock,
    stretch_s: float,
) -> float:
    await set_clock(clock)
    await asyncio.sleep(SETTLE_S)
    began_s = now_s()
    await asyncio.sleep(stretch_s)
    run = state.run
    samples = [sample for sample in run.current.samples if sample.offset_s >= began_s] if run else []
    cycles_ms = [sample.cycle_ms for sample in samples if sample.cycle_ms is not None]
    if len(cycles_ms) < FEWEST_LINES:
        raise SpecttuiError(
            "The probe's cost cannot be measured without steady traffic",
            cause=f"Only {len(cycles_ms)} decode lines came in {stretch_s:.0f} s.",
            remedy="Send load (l) that lasts about a minute, then measure again.",
        )
    return fmean(cycles_ms)
