"""When the lines of a start-up were written, where many of them arrive at once."""

from __future__ import annotations

from specttui.log.stamps import stamp_seconds


class StampClock:
    """Seconds on the server's own clock, for a start whose log is read after the fact.

    Lines that come while we look carry a stamp and an arrival; what has no stamp (progress bars) lies as
    long after the newest stamp as it arrived after it. It never goes back.
    """

    def __init__(self) -> None:
        self._stamp_s: float | None = None
        self._arrived_s = 0.0
        self._last_s = 0.0

    def at(self, stamp: str, arrived_s: float) -> float:
        """When a line was written.

        Args:
            stamp: Its stamp as printed, "" if it has none.
            arrived_s: When it arrived, on our clock.
        """
        seen_s = stamp_seconds(stamp) if stamp else None
        if seen_s is not None and (self._stamp_s is None or seen_s > self._stamp_s):
            self._stamp_s, self._arrived_s = seen_s, arrived_s
            self._last_s = max(self._last_s, seen_s)
        return self.now(arrived_s)

    def now(self, at_s: float) -> float:
        """The server's clock at a time of ours; ours itself before the first stamp."""
        if self._stamp_s is None:
            return at_s
        self._last_s = max(self._last_s, self._stamp_s + max(0.0, at_s - self._arrived_s))
        return self._last_s
