"""The report's last part: what each figure means, how it was taken, and what it does not say."""

from __future__ import annotations

from collections.abc import Iterator

from specttui.events import Clock
from specttui.report.blocks import bullets, section
from specttui.report.facts import ReportInput
from specttui.report.figures import number

_CLOCKS = {
    Clock.EVENTS: (
        "`events`: CUDA events around each call, read back later without a synchronisation: GPU time. A "
        "phase's time contains what the GPU idles inside it."
    ),
    Clock.WALL: (
        "`wall`: the CPU's clock. It misleads about phases: a synchronous worker's verify absorbs the "
        "draft's unfinished GPU time, and an overlapped worker only enqueues."
    ),
    Clock.SYNC: (
        "`sync`: the CPU's clock with a synchronisation around each phase. Its figures are distorted, the "
        "throughput included: compare them with each other only."
    ),
}
_FIGURES = (
    (
        "Server tok/s: tokens per second over all requests, from the server's own decode log lines; the "
        "median of the run's steady part, ± half of its 95 % bootstrap interval. Lines over idle time, "
        "during warm-up and under a full KV pool do not count."
    ),
    "Accept length A: tokens per cycle and request, the bonus token included (accepted drafts + 1).",
    (
        "Cycle C: from the start of one decode cycle to the start of the next while decoding goes on; the "
        "median in ms. For a baseline run it is TPOT, the time per token and request."
    ),
    (
        "Phase shares are parts of the mean cycle and, with `other`, add up to 100 %; figures in brackets "
        "lie inside the phase above them. `other` is the cycle minus its phases: scheduling, launch gaps, "
        "copies. Medians of phases need not add up to the median cycle."
    ),
    "tok/s per request = 1000 A / C. Server tok/s = batch size times that.",
    (
        "Break-even accept length A* = C / TPOT of the baseline at the same load. Speed-up = A / A*. "
        "Headroom = A - A*."
    ),
    '"vs baseline" compares server tok/s; "within noise" means that the intervals overlap.',
)
_CAVEATS = (
    (
        "All verdicts hold for the load they were measured at (batch size, context length, prompts), and "
        "for no other."
    ),
    (
        "Configurations are ranked by throughput. Phase times explain a difference; they never rank, "
        "because time saved in one phase can come back as idle time."
    ),
    (
        "Runs follow one another, so drift of the host (temperature, neighbours) is in their differences. "
        "Repeat a run to see how much."
    ),
    "Acceptance depends on the text that is decoded. Random tokens cannot be drafted and say nothing.",
)


def method(report: ReportInput) -> str:
    """Clocks used, definitions and caveats."""
    return "\n\n".join(
        block
        for block in (
            section("Figures", bullets(_FIGURES), level=3),
            section(
                "Clocks", bullets(_CLOCKS[clock] for clock in report.clocks if clock in _CLOCKS), level=3
            ),
            section("Caveats", bullets((*_CAVEATS, *_observer(report))), level=3),
        )
        if block
    )


def _observer(report: ReportInput) -> Iterator[str]:
    if not report.clocks:
        return
    cost = report.snapshot.probe.self_us
    measured = (
        f" It measured {number(cost, 0)} us of its own CPU time per cycle here." if cost is not None else ""
    )
    yield (
        "Observer effect: the probe runs inside the server and costs CPU time in every cycle."
        + measured
        + " `m` measures what it costs in cycle time: off and on in turn, under the same load."
    )
