"""A start while it goes on: what the log has told of it so far."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from specttui.events import (
    Event,
    FailureSeen,
    LogEvent,
    LogLines,
    LogNotice,
    ServerProgress,
    StartupStep,
)
from specttui.host.readiness import Readiness
from specttui.host.server import Restart
from specttui.session.convoy import Convoy
from specttui.session.startup_progress import StartupProgress

#: Lines of the log that tell of a death for which there is no better word.
LAST_LINES = 30


@dataclass(slots=True)
class StartInProgress:
    """What is known of a start.

    Attributes:
        restart: How the server is stopped again.
        readiness: Read by whoever waits.
        progress: Told of the start-up's steps.
        convoy: The nodes that start with it.
        failures: What the log told that ends a server, in order.
        last_lines: The end of the log.
        failed_s: When the first failure was told, on the session's clock.
        heard_s: When the log last told anything, on the same clock.
    """

    restart: Restart
    readiness: Readiness
    progress: StartupProgress
    convoy: Convoy
    failures: list[FailureSeen] = field(default_factory=list)
    last_lines: deque[str] = field(default_factory=lambda: deque(maxlen=LAST_LINES))
    failed_s: float | None = None
    heard_s: float | None = None

    def saw(self, event: Event, now_s: float) -> None:
        """Told of each event of the log.

        Args:
            event: What it tells.
            now_s: Now, on the session's clock.
        """
        if isinstance(event, LogEvent) and not isinstance(event, LogNotice):
            self.heard_s = now_s
            self.convoy.saw_progress()
        if isinstance(event, LogLines) and event.lines:
            self.readiness.last_line = event.lines[-1]
            self.last_lines.extend(event.lines)
        elif isinstance(event, LogNotice) and event.what == "cannot_follow":
            # Nobody will see its ready line: that it listens and answers has to do.
            self.readiness.saw_ready_line()
        elif isinstance(event, StartupStep):
            if event.phase == "ready":
                self.readiness.saw_ready_line()
            self.progress.take(event)
        elif isinstance(event, FailureSeen) and event.fatal:
            self.failures.append(event)
            self.failed_s = self.failed_s or now_s

    def tell_silence(self, silent: ServerProgress) -> None:
        """Nothing was said for a while: say so where the start is."""
        self.progress.tell(silent.detail)
