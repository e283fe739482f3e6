"""One call of the cycle method: its marks, the spans between them, and what they come to."""

from __future__ import annotations

from typing import Any, List, Optional, Tuple

from specttui.probe.block.words import (
    _SPECTTUI_ACCEPT,
    _SPECTTUI_EXTEND,
    _SPECTTUI_PHASES,
    _SPECTTUI_PREFILL_DRAFT,
    _SPECTTUI_SKIP_KV,
    _SPECTTUI_SKIP_TARGET,
    _SPECTTUI_VERIFY,
)

_SPECTTUI_UNKNOWN: List[Optional[float]] = [None] * len(_SPECTTUI_PHASES)


class _SpecttuiCycle:
    """Filled while the worker runs, settled when its GPU work is done, used again after it is written.

    `open` holds bits of the phases running now and of the parts to pass by, `skip` the bit that verify adds
    in a cycle whose parts are not timed. `verify_start` and `verify_end` are marks of a verify that is not
    one call (-1: none), `accept_start` is where the acceptance inside verify begins, and `cut` where a draft
    extend begins inside the call of verify.
    """

    __slots__ = (
        "accept_start", "accepted", "batch", "clock", "copy", "counts", "cpu_ms", "cut", "cycle_ms", "decode",
        "events", "open", "own_s", "phase_ms", "skip", "spans", "stamps", "started", "step_spans", "steps",
        "stream", "successor", "token", "tokens", "verify_end", "verify_start", "waiting",
    )  # fmt: skip

    def __init__(self) -> None:
        self.events: List[Any] = []
        self.stamps: List[float] = []
        self.spans: List[Tuple[int, int, int]] = []
        self.step_spans: List[Tuple[int, int]] = []
        self.phase_ms: List[Optional[float]] = [None] * len(_SPECTTUI_PHASES)
        self.cpu_ms: List[Optional[float]] = [None] * len(_SPECTTUI_PHASES)

        self.reset()

    def reset(self) -> None:
        """Forget the last call; done when a cycle is put back, so that starting one costs little."""
        self.open = self.skip = 0
        self.stamps.clear()
        self.spans.clear()
        self.step_spans.clear()
        self.verify_start = self.verify_end = self.accept_start = self.cut = -1
        self.decode = self.waiting = False
        self.successor: Optional[_SpecttuiCycle] = None
        self.counts: Optional[List[int]] = None
        self.accepted: Optional[int] = None
        self.steps: Optional[int] = None
        self.tokens: Optional[int] = None
        self.cycle_ms: Optional[float] = None
        self.copy: Any = None
        self.stream: Any = None
        self.token = 0
        self.own_s = 0.0

    def start(self, now: float, clock: Any, batch: int) -> None:
        """Begin a call at `now` (CPU seconds)."""
        self.started, self.clock, self.batch = now, clock, batch

    def pass_parts_by(self) -> None:
        """Time only the phases in this call; a prefill's forward of the target is one."""
        self.open = _SPECTTUI_SKIP_KV
        self.skip = _SPECTTUI_SKIP_TARGET

    def end_verify(self, end: int) -> None:
        """Close a verify that was put together from parts, at a mark."""
        self.spans.append((_SPECTTUI_VERIFY, self.verify_start, end))
        if -1 < self.accept_start < end:
            self.spans.append((_SPECTTUI_ACCEPT, self.accept_start, end))
        self.verify_start = -1
        self.decode = True

    def settle(self) -> None:
        """Read the marks: sum the spans of each phase."""
        events, stamps, elapsed = self.events, self.stamps, self.clock.elapsed
        phase_ms, cpu_ms = self.phase_ms, self.cpu_ms
        phase_ms[:] = cpu_ms[:] = _SPECTTUI_UNKNOWN
        for phase, start, end in self.spans:
            if phase == _SPECTTUI_EXTEND and not self.decode:
                phase = _SPECTTUI_PREFILL_DRAFT  # noqa: PLW2901 - one method serves both
            cpu = (stamps[end] - stamps[start]) * 1e3
            time = cpu if elapsed is None else elapsed(events[start], events[end])
            if phase_ms[phase] is None:
                phase_ms[phase], cpu_ms[phase] = time, cpu
            else:
                phase_ms[phase] += time  # type: ignore[operator]
                cpu_ms[phase] += cpu  # type: ignore[operator]
        self.cycle_ms = self.clock.period(self)

    def between(self, start: int, end: int) -> float:
        """Milliseconds between two marks, by the cycle's clock."""
        if self.clock.elapsed is not None:
            return self.clock.elapsed(self.events[start], self.events[end])  # type: ignore[no-any-return]
        return (self.stamps[end] - self.stamps[start]) * 1e3
