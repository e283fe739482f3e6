"""What happens to the log itself, where the user must know of it."""

from __future__ import annotations

from typing import Final

from specttui.events import Alert, LogNotice, Severity

_INCOMPLETE = "Figures of this time are incomplete."
_WARNINGS: Final[dict[str, tuple[str, str]]] = {
    "custom_log_format": (
        "The log's layout hides the figures",
        "Start the server without SGLANG_LOGGING_CONFIG_PATH to see throughput and acceptance.",
    ),
    "suppressed": (
        "The journal dropped lines of the server's log",
        f"{_INCOMPLETE} Set LogRateLimitIntervalSec=0 in the unit, or let the server log to a file.",
    ),
    "skipped": (
        "A part of the log was skipped",
        f"{_INCOMPLETE} More was written during the interruption than is made up for.",
    ),
    "replaced": (
        "The log was replaced while the connection was down",
        f"{_INCOMPLETE} What the old file got in the meantime is lost.",
    ),
    "vanished": (
        "The server's log file was deleted",
        "The open file is read on. Let the server log elsewhere at the next restart (r).",
    ),
    "missing": ("The server's log file is not there", "It is followed as soon as it appears."),
}
#: What explains that there are no figures at all.
EXPLAINS: Final = frozenset({"custom_log_format", "cannot_follow", "missing"})
#: What brings lines that were never read.
LOSES_LINES: Final = frozenset({"suppressed", "skipped", "replaced"})
#: Why a decode line that should be there is not: the journal's limits, a full pipe, a rotation.
LOST_LINES: Final = Alert(
    severity=Severity.WARNING,
    message="Decode lines are missing from the log",
    remedy=f"{_INCOMPLETE} Look for rate limits of the journal or the container's log driver.",
)
POOL_FULL: Final = Alert(
    severity=Severity.WARNING,
    message="The KV pool is full: requests are retracted",
    remedy="Figures do not count until it has room again. Lower the concurrency, or raise "
    "--mem-fraction-static.",
)
SERVER_ERRORS: Final = Alert(
    severity=Severity.WARNING,
    message="The server answers requests with errors (HTTP 5xx)",
    remedy="See the log for the reason.",
)
_DRAINING: Final = Alert(
    severity=Severity.INFO,
    message="The server was asked to stop: it finishes its requests and ends",
    remedy="Somebody else, or its manager, sent SIGTERM.",
)


def alert_for(event: LogNotice, *, stopping: bool) -> Alert | None:
    """The alert that a notice calls for, or None where the line in the log view is enough.

    Args:
        event: What happened.
        stopping: Whether we are stopping the server ourselves.
    """
    if event.what == "draining":
        return None if stopping else _DRAINING
    found = _WARNINGS.get(event.what)
    if found is None:
        return None
    return Alert(severity=Severity.WARNING, message=found[0], remedy=found[1])
