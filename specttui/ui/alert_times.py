"""When each alert was first seen: it is told once, and stands on the screen while it is new."""

from __future__ import annotations

from collections.abc import Iterable

from specttui.events import Alert, Severity
from specttui.state.snapshot import Snapshot

#: How long an alert stands beneath the verdict, in seconds of the session.
ALERT_SHOWN_S = 120.0


class AlertTimes:
    """The alerts of one session.

    Args:
        known: Those that nobody is to be told of any more.
    """

    def __init__(self, known: Iterable[Alert]) -> None:
        self._seen_s: dict[Alert, float] = dict.fromkeys(known, float("-inf"))

    def new_in(self, snapshot: Snapshot) -> list[Alert]:
        """Those that were never seen before, in order; from now on they were."""
        new = [alert for alert in dict.fromkeys(snapshot.alerts) if alert not in self._seen_s]
        self._seen_s.update(dict.fromkeys(new, snapshot.offset_s))
        return new

    def recent(self, snapshot: Snapshot) -> Alert | None:
        """The newest alert that matters, while it is new."""
        since_s = snapshot.offset_s - ALERT_SHOWN_S
        matters = (alert for alert in reversed(snapshot.alerts) if alert.severity is not Severity.INFO)
        return next((alert for alert in matters if self._seen_s.get(alert, since_s) > since_s), None)
