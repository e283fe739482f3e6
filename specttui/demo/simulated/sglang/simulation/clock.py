"""Time as the simulation spends it: really, paced so that long-run means are right, or virtually."""

from __future__ import annotations

import ctypes
import time
from typing import Protocol

#: Waits end with a short spin: the kernel wakes sleepers tens of microseconds late.
_SPIN_S = 0.00012
#: Waits shorter than this are never cut: draft and extend, beside verify.
_SHORT_S = 0.002
#: So far behind, the lost time is given up rather than made good by phases that take no time.
_MAX_LAG_S = 0.5
_PR_SET_TIMERSLACK = 29
_TIMER_SLACK_NS = 1000


class Clock(Protocol):
    """What the scheduler needs of time, in seconds."""

    def now(self) -> float:
        """The time all spending has led to."""
        ...

    def spend(self, seconds: float) -> None:
        """Let `seconds` pass."""
        ...

    def catch_up(self) -> None:
        """Take over the outside's time after waiting for it."""
        ...


class PacedClock:
    """Waits for real; what a wait oversleeps, and what the code around it costs, is taken off a later one.

    Long waits pay for it and short ones keep their length: so the shares of a cycle's phases are right, and
    its sum is, over many, however busy the machine.
    """

    def __init__(self) -> None:
        self._due = time.perf_counter()

    def now(self) -> float:
        """When the spending so far is due; within half a second of the real time."""
        return self._due

    def spend(self, seconds: float) -> None:
        """Wait for `seconds`; a long wait is cut by what is owed to the time spent before it."""
        began = time.perf_counter()
        self._due += seconds
        if self._due < began - _MAX_LAG_S:
            self._due = began
        until = began + seconds if seconds < _SHORT_S else self._due
        remaining = until - began
        if remaining > _SPIN_S:
            time.sleep(remaining - _SPIN_S)
        while time.perf_counter() < until:
            pass

    def catch_up(self) -> None:
        """Forget the past: the next wait counts from now."""
        self._due = time.perf_counter()


class VirtualClock:
    """Time that passes only by being spent; for tests."""

    def __init__(self) -> None:
        self._now = 0.0

    def now(self) -> float:
        """The sum of all spending."""
        return self._now

    def spend(self, seconds: float) -> None:
        """Advance at once."""
        self._now += seconds

    def catch_up(self) -> None:
        """There is no outside."""


def sharpen_timers() -> None:
    """Ask the kernel to wake this thread's sleeps within a microsecond instead of 50."""
    ctypes.CDLL(None).prctl(_PR_SET_TIMERSLACK, _TIMER_SLACK_NS, 0, 0, 0)
