"""The arithmetic of replay: when is which moment of a recording due? No clock is read here."""

from __future__ import annotations

import math


class Playback:
    """Maps a recording's offsets to a player's clock: speed, pause, jumps, long gaps cut short.

    The recording is measured along a track in which every gap between two events longer than
    `idle_cap_s` counts as `idle_cap_s`. The playhead moves along that track at `speed`; an event is due
    when the playhead reaches it, so a late consumer catches up and errors do not add up.

    Args:
        speed: Recorded seconds per second of the player's clock; infinity plays without waiting.
        idle_cap_s: The longest gap, in recorded seconds, that is waited out.
    """

    def __init__(self, speed: float = 1.0, idle_cap_s: float = math.inf) -> None:
        self.speed = _checked(speed)
        self.idle_cap_s = idle_cap_s
        self._track_s = 0.0
        self._last_offset_s: float | None = None
        self._head_s = 0.0
        self._head_at_s: float | None = None
        self._paused = False

    @property
    def paused(self) -> bool:
        """True while the playhead stands still."""
        return self._paused

    def advance(self, offset_s: float) -> None:
        """Make the event at `offset_s` the next one: it lies one (capped) gap after the one before."""
        if self._last_offset_s is not None:
            self._track_s += min(max(0.0, offset_s - self._last_offset_s), self.idle_cap_s)
        self._last_offset_s = offset_s

    def wait_s(self, now_s: float) -> float:
        """Seconds of the player's clock until the next event is due; infinity while paused.

        Args:
            now_s: The player's clock.
        """
        if self._paused:
            return math.inf
        if math.isinf(self.speed):
            self.arrive(now_s)
            return 0.0
        return max(0.0, (self._track_s - self._move(now_s)) / self.speed)

    def pause(self, now_s: float) -> None:
        """Stop the playhead."""
        self._move(now_s)
        self._paused = True

    def resume(self, now_s: float) -> None:
        """Let the playhead go on from where it stands."""
        self._move(now_s)
        self._paused = False

    def set_speed(self, speed: float, now_s: float) -> None:
        """Change the speed from now on; the rest of a gap is played at the new one.

        Raises:
            ValueError: The speed is not above 0.
        """
        self._move(now_s)
        self.speed = _checked(speed)

    def arrive(self, now_s: float, lead_s: float = 0.0) -> None:
        """Put the playhead `lead_s` recorded seconds before the next event, where a seek or a step ends."""
        self._head_s, self._head_at_s = self._track_s - min(lead_s, self.idle_cap_s), now_s

    def rewind(self) -> None:
        """Go back to the beginning of the recording; speed and pause stay."""
        self._track_s = self._head_s = 0.0
        self._last_offset_s = self._head_at_s = None

    def _move(self, now_s: float) -> float:
        if self._head_at_s is not None and not self._paused and not math.isinf(self.speed):
            self._head_s += (now_s - self._head_at_s) * self.speed
        self._head_at_s = now_s
        return self._head_s


def _checked(speed: float) -> float:
    if not speed > 0:
        raise ValueError(f"the speed must be above 0, not {speed}")
    return speed
