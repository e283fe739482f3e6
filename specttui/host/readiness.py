"""What is known of a starting server besides looking: its ready line, its progress, and how long to wait."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from specttui.errors import ServerStartError


@dataclass(frozen=True, slots=True)
class ReadyLimits:
    """How long to wait. None is "no limit".

    Attributes:
        total_s: From the start; big models take half an hour.
        silence_s: Without any progress or output.
        hang_s: Silent with busy GPUs whose memory does not change: a deadlock, not loading.
        poll_s: Between two looks.
        word_s: Between two words on a silent server.
    """

    total_s: float | None = 45 * 60.0
    silence_s: float | None = 30 * 60.0
    hang_s: float | None = 10 * 60.0
    poll_s: float = 1.0
    word_s: float = 30.0


#: What a start is given when nobody says otherwise.
DEFAULT_READY_LIMITS = ReadyLimits()


class StartFailedError(ServerStartError):
    """A start that failed, with what a diagnosis needs.

    Attributes:
        category: exited, port_in_use, silent, hung or too_long.
        exit_status: The launcher's; negative for a signal; None while it lives or when unknown.
        last_lines: The end of its log, where it ended.
    """

    def __init__(
        self,
        title: str,
        *,
        category: str,
        cause: str = "",
        remedy: str = "",
        exit_status: int | None = None,
        last_lines: tuple[str, ...] = (),
    ) -> None:
        super().__init__(title, cause=cause, remedy=remedy)
        self.category = category
        self.exit_status = exit_status
        self.last_lines = last_lines


class Readiness:
    """Told by whoever reads the log, read by whoever waits.

    Args:
        clock: Seconds that never go back.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._began_s = clock()
        self._progress_s = self._began_s
        self._extra_s = 0.0
        self.ready_line_seen = False
        self.last_line = ""

    def saw_ready_line(self) -> None:
        """The log says that the server is ready. By itself that proves nothing: see `wait_ready`."""
        self.ready_line_seen = True
        self.saw_progress()

    def saw_progress(self) -> None:
        """Something moved: a new line, a bar, a file that grew."""
        self._progress_s = self._clock()

    def extend(self, seconds: float) -> None:
        """Wait so much longer, by the user's wish."""
        self._extra_s += seconds

    @property
    def extra_s(self) -> float:
        """Seconds that the user added to every limit."""
        return self._extra_s

    @property
    def elapsed_s(self) -> float:
        """Seconds since the start."""
        return self._clock() - self._began_s

    @property
    def silent_s(self) -> float:
        """Seconds since the last progress."""
        return self._clock() - self._progress_s

    def check(self, limits: ReadyLimits) -> None:
        """Give up when a limit is over.

        Raises:
            StartFailedError: One is; the server still lives.
        """
        if limits.silence_s is not None and self.silent_s > limits.silence_s + self._extra_s:
            raise StartFailedError(
                f"The server has said nothing for {self.silent_s / 60:.0f} min",
                category="silent",
                cause="Its process still lives.",
                remedy="Wait longer, look at the log's end, or go back to the last good configuration.",
            )
        if limits.total_s is not None and self.elapsed_s > limits.total_s + self._extra_s:
            raise StartFailedError(
                f"The server is not ready after {self.elapsed_s / 60:.0f} min",
                category="too_long",
                cause="Its process still lives.",
                remedy="Wait longer, or go back to the last good configuration.",
            )
