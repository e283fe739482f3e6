"""Times as printed in log lines."""

from __future__ import annotations

from datetime import UTC, datetime


def stamp_seconds(stamp: str) -> float | None:
    """Seconds on the log's own clock: for differences within one log, not a point in UTC.

    Args:
        stamp: "2026-02-11 08:00:01", the same with ".482" or ",482", or a clock only ("04:40:55").

    Returns:
        Seconds since 1970 as if the stamp were UTC (a clock only: since midnight), or None.
    """
    text = stamp.replace(",", ".")
    try:
        moment = datetime.fromisoformat(text if "-" in text else f"1970-01-01 {text}")
        return moment.replace(tzinfo=UTC).timestamp()
    except (ValueError, OverflowError):
        return None
