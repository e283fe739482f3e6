"""Plays a recording as if it happened now: the same envelopes into the same fold."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from specttui.errors import UsageError
from specttui.events import Envelope
from specttui.session.folders import EVENTS_NAME
from specttui.session.playback import Playback
from specttui.session.recording import LineProblem, last_offset_s, read

#: Plays without waiting.
AS_FAST_AS_POSSIBLE = math.inf
#: Gaps in the recording longer than this many seconds are cut to it.
IDLE_CAP_S = 5.0

#: Envelopes handed out in one go before others get their turn.
_BURST = 500


@dataclass(frozen=True, slots=True)
class Rewound:
    """The player went back to the beginning: forget the state, the envelopes follow from the first."""


class Replay:
    """An asynchronous player, controlled while it plays.

    `async for item in replay` gives envelopes when they are due, and `Rewound` where a seek went
    backwards. Seeking hands out everything up to the target without waiting, so a consumer that folds
    always has the true state of that moment.

    Args:
        path: A recording or its session folder.
        speed: Recorded seconds per second; `AS_FAST_AS_POSSIBLE` never waits.
        idle_cap_s: Longer gaps are cut to this many recorded seconds.
        hold_at_end: At the end wait for a seek or `close` instead of ending; for the screen.
        clock: Monotonic seconds; tests give their own.
        wait: Waits for the event or so many seconds; tests give their own.

    Raises:
        UsageError: The speed is not above 0.
    """

    def __init__(
        self,
        path: Path,
        speed: float = 1.0,
        *,
        idle_cap_s: float = IDLE_CAP_S,
        hold_at_end: bool = False,
        clock: Callable[[], float] = time.monotonic,
        wait: Callable[[asyncio.Event, float], Awaitable[None]] | None = None,
    ) -> None:
        self.path = path / EVENTS_NAME if path.is_dir() else path
        self.problems: list[LineProblem] = []
        self.position_s = 0.0
        self.at_end = False
        self._playback = Playback(_speed(speed), idle_cap_s)
        self._hold_at_end = hold_at_end
        self._clock = clock
        self._wait = wait or _wait
        self._changed = asyncio.Event()
        self._target_s: float | None = None
        self._steps = 0
        self._closed = False

    @property
    def duration_s(self) -> float:
        """The recording's length in seconds."""
        return last_offset_s(self.path)

    @property
    def speed(self) -> float:
        """Recorded seconds per second."""
        return self._playback.speed

    @property
    def paused(self) -> bool:
        """True while nothing is handed out by itself."""
        return self._playback.paused

    def set_speed(self, speed: float) -> None:
        """Play at another speed from now on.

        Raises:
            UsageError: The speed is not above 0.
        """
        self._playback.set_speed(_speed(speed), self._clock())
        self._changed.set()

    def pause(self) -> None:
        """Stand still; `step`, `seek` and `resume` go on."""
        self._playback.pause(self._clock())
        self._changed.set()

    def resume(self) -> None:
        """Go on after a pause."""
        self._playback.resume(self._clock())
        self._changed.set()

    def step(self, count: int = 1) -> None:
        """Hand out the next `count` envelopes at once, also while paused."""
        self._steps += count
        self._changed.set()

    def seek(self, offset_s: float) -> None:
        """Go to the moment `offset_s` seconds after the session's start: its state, nothing after it."""
        self._target_s = max(0.0, offset_s)
        self._changed.set()

    def close(self) -> None:
        """End the iteration."""
        self._closed = True
        self._changed.set()

    async def __aiter__(self) -> AsyncIterator[Envelope | Rewound]:
        envelopes = self._open()
        burst = 0
        while not self._closed:
            following = next(envelopes, None)
            if following is not None:
                self._playback.advance(following.offset_s)
            self.at_end = following is None
            if not await self._until_due(following):
                if self._closed:
                    return
                envelopes = self._open()
                yield Rewound()
                continue
            if following is None:
                return
            self.position_s = following.offset_s
            yield following
            burst += 1
            if burst % _BURST == 0:
                await asyncio.sleep(0)

    async def _until_due(self, following: Envelope | None) -> bool:
        """Wait for the next envelope's moment; False when the player must start over or stop."""
        while not self._closed:
            self._changed.clear()
            if self._target_s is not None and self._target_s < self.position_s:
                return False
            if following is None:
                self._target_s = None
                if not self._hold_at_end:
                    return True
                await self._wait(self._changed, math.inf)
                continue
            if self._hurried(following.offset_s):
                return True
            remaining_s = self._playback.wait_s(self._clock())
            if remaining_s <= 0:
                return True
            await self._wait(self._changed, remaining_s)
        return False

    def _hurried(self, offset_s: float) -> bool:
        """True when a seek or a step lets the envelope at `offset_s` out before its time."""
        if self._target_s is not None:
            if offset_s <= self._target_s:
                return True
            self._playback.arrive(self._clock(), offset_s - self._target_s)
            self._target_s = None
        if self._steps > 0:
            self._steps -= 1
            self._playback.arrive(self._clock())
            return True
        return False

    def _open(self) -> Iterator[Envelope]:
        self.problems.clear()
        self.position_s = 0.0
        self._playback.rewind()
        return read(self.path, self.problems)


def _speed(speed: float) -> float:
    if not speed > 0:
        raise UsageError(
            f"A replay cannot run at speed {speed:g}", remedy="Give a number above 0; 1 is as it happened."
        )
    return speed


async def _wait(changed: asyncio.Event, seconds: float) -> None:
    try:
        await asyncio.wait_for(changed.wait(), None if math.isinf(seconds) else seconds)
    except TimeoutError:
        return
