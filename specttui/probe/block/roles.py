"""What a hooked call means to the cycle: when it counts, and which span it leaves.

`enter` returns the mark where the call began, or -1 when this call is not to be timed (it runs inside a
phase that already counts it); `leave` adds the spans.
"""

from __future__ import annotations

from typing import Any, Callable, Dict

from specttui.probe.block.acceptance import _SpecttuiAcceptance
from specttui.probe.block.cycle import _SpecttuiCycle
from specttui.probe.block.words import (
    _SPECTTUI_ACCEPT,
    _SPECTTUI_DRAFT,
    _SPECTTUI_EXTEND,
    _SPECTTUI_IN_DRAFT,
    _SPECTTUI_IN_EXTEND,
    _SPECTTUI_IN_KV,
    _SPECTTUI_IN_PHASE,
    _SPECTTUI_IN_PREFILL,
    _SPECTTUI_IN_TARGET,
    _SPECTTUI_IN_VERIFY,
    _SPECTTUI_KV,
    _SPECTTUI_PREFILL_DRAFT,
    _SPECTTUI_PREFILL_TARGET,
    _SPECTTUI_SKIP_KV,
    _SPECTTUI_SKIP_TARGET,
    _SPECTTUI_TARGET,
    _SPECTTUI_VERIFY,
)


class _SpecttuiRole:
    """A call that is a phase, unless it runs inside another one."""

    def __init__(self, phase: int, bit: int, blocked: int) -> None:
        self.phase = phase
        self.bit = bit
        self.blocked = blocked

    def enter(self, cycle: _SpecttuiCycle, _keywords: Dict[str, Any]) -> int:
        cycle.open |= self.bit
        return cycle.clock.begin(cycle)  # type: ignore[no-any-return]

    def leave(self, cycle: _SpecttuiCycle, start: int, _result: Any) -> int:
        end: int = cycle.clock.finish(cycle)
        cycle.open &= ~self.bit
        cycle.spans.append((self.phase, start, end))
        return end


class _SpecttuiExtendRole(_SpecttuiRole):
    """The draft extend; a verify that was put together from parts ends where it begins."""

    def enter(self, cycle: _SpecttuiCycle, _keywords: Dict[str, Any]) -> int:
        cycle.open |= self.bit
        start: int = cycle.clock.begin(cycle)
        if cycle.verify_start >= 0:
            cycle.end_verify(start)
        return start


class _SpecttuiVerifyRole(_SpecttuiRole):
    """Verify as one call; what follows the target's forward in it is acceptance."""

    def __init__(self, phase: int, bit: int, blocked: int, acceptance: _SpecttuiAcceptance) -> None:
        super().__init__(phase, bit, blocked)
        self.acceptance = acceptance

    def enter(self, cycle: _SpecttuiCycle, _keywords: Dict[str, Any]) -> int:
        cycle.open |= self.bit | cycle.skip
        return cycle.clock.begin(cycle)  # type: ignore[no-any-return]

    def leave(self, cycle: _SpecttuiCycle, start: int, result: Any) -> int:
        last: int = cycle.clock.finish(cycle)
        cycle.open &= ~self.bit
        end = last if cycle.cut < 0 else cycle.cut
        cycle.spans.append((_SPECTTUI_VERIFY, start, end))
        if cycle.accept_start >= 0:
            cycle.spans.append((_SPECTTUI_ACCEPT, cycle.accept_start, end))
        if cycle.cut >= 0:
            cycle.spans.append((_SPECTTUI_EXTEND, cycle.cut, last))
        cycle.decode = True
        cycle.counts = self.acceptance.in_verify(result)
        return last


class _SpecttuiInlineExtendRole(_SpecttuiRole):
    """A draft forward inside the call of verify: from there on it is draft extend."""

    def enter(self, cycle: _SpecttuiCycle, _keywords: Dict[str, Any]) -> int:
        if cycle.open & _SPECTTUI_IN_VERIFY and cycle.cut < 0:
            cycle.cut = cycle.clock.begin(cycle)
        return -1


class _SpecttuiTargetRole(_SpecttuiRole):
    """The target's forward: inside verify, as the start of a verify in parts, or in prefill.

    Once it is enqueued in a verify, the GPU has the most to do and the CPU runs ahead of it or is about to
    wait for it: the moment to catch up with what the probe has put off. Acceptance begins after that.
    """

    def __init__(self, phase: int, bit: int, blocked: int, catch_up: Callable[[], bool]) -> None:
        super().__init__(phase, bit, blocked)
        self.catch_up = catch_up

    def enter(self, cycle: _SpecttuiCycle, keywords: Dict[str, Any]) -> int:
        start: int = cycle.clock.begin(cycle)
        cycle.open |= self.bit
        opens = not cycle.open & _SPECTTUI_IN_VERIFY and cycle.verify_start < 0
        if opens and (keywords.get("is_verify") or keywords.get("skip_sample")):
            cycle.verify_start = start
        return start

    def leave(self, cycle: _SpecttuiCycle, start: int, _result: Any) -> int:
        end: int = cycle.clock.finish(cycle)
        cycle.open &= ~self.bit
        if cycle.open & _SPECTTUI_IN_VERIFY or cycle.verify_start >= 0:
            cycle.accept_start = cycle.verify_end = end
            cycle.spans.append((_SPECTTUI_TARGET, start, end))
            if self.catch_up():
                cycle.accept_start = cycle.clock.begin(cycle)
        else:
            cycle.spans.append((_SPECTTUI_PREFILL_TARGET, start, end))
        return end


class _SpecttuiPartRole(_SpecttuiRole):
    """A part of verify where verify is no call of its own: opens it, or moves its end."""

    def enter(self, cycle: _SpecttuiCycle, _keywords: Dict[str, Any]) -> int:
        start: int = cycle.clock.begin(cycle)
        cycle.open |= self.bit
        if cycle.verify_start < 0:
            cycle.verify_start = start
        return start

    def leave(self, cycle: _SpecttuiCycle, _start: int, _result: Any) -> int:
        end: int = cycle.clock.finish(cycle)
        cycle.open &= ~self.bit
        cycle.verify_end = end
        return end


class _SpecttuiCloseRole(_SpecttuiRole):
    """A call before which a verify in parts has ended; it is no phase itself."""

    def enter(self, cycle: _SpecttuiCycle, _keywords: Dict[str, Any]) -> int:
        if cycle.verify_start >= 0:
            cycle.end_verify(cycle.clock.finish(cycle))
        return -1


def _specttui_roles(
    acceptance: _SpecttuiAcceptance, catch_up: Callable[[], bool]
) -> Dict[str, _SpecttuiRole]:
    """Every role by its name in the settings."""
    phase, kv = _SPECTTUI_IN_PHASE, _SPECTTUI_IN_KV
    draft, verify, extend = _SPECTTUI_IN_DRAFT, _SPECTTUI_IN_VERIFY, _SPECTTUI_IN_EXTEND
    prefill, target = _SPECTTUI_IN_PREFILL, _SPECTTUI_IN_TARGET
    no_target = draft | extend | prefill | target | _SPECTTUI_SKIP_TARGET
    return {
        "draft": _SpecttuiRole(_SPECTTUI_DRAFT, draft, phase),
        "verify": _SpecttuiVerifyRole(_SPECTTUI_VERIFY, verify, phase, acceptance),
        "verify_part": _SpecttuiPartRole(_SPECTTUI_VERIFY, verify, phase),
        "draft_extend": _SpecttuiExtendRole(_SPECTTUI_EXTEND, extend, phase),
        "inline_extend": _SpecttuiInlineExtendRole(_SPECTTUI_EXTEND, 0, draft | extend | prefill),
        "target_forward": _SpecttuiTargetRole(_SPECTTUI_TARGET, target, no_target, catch_up),
        "kv": _SpecttuiRole(_SPECTTUI_KV, kv, kv | _SPECTTUI_SKIP_KV),
        "prefill_target": _SpecttuiRole(_SPECTTUI_PREFILL_TARGET, prefill, phase),
        "prefill_draft": _SpecttuiRole(_SPECTTUI_PREFILL_DRAFT, prefill, phase),
        "close": _SpecttuiCloseRole(_SPECTTUI_VERIFY, 0, phase),
    }
