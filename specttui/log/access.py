"""uvicorn's access-log lines: nine tenths of a busy log, and no news but their status."""

from __future__ import annotations

import re

from specttui.events import HttpSeen

_STATUS = re.compile(r"HTTP/\d(?:\.\d)?\" (\d{3})\b")


class AccessCounter:
    """Counts access-log lines by status class between two flushes."""

    __slots__ = ("client_errors", "ok", "server_errors")

    def __init__(self) -> None:
        self.ok = self.client_errors = self.server_errors = 0

    def take(self, body: str) -> bool:
        """Count the line if it is an access-log line.

        Args:
            body: The line's message, from `INFO:` on.

        Returns:
            True if it was one.
        """
        found = _STATUS.search(body) if body.startswith("INFO:") else None
        if found is None:
            return False
        status = found[1]
        if status < "400":
            self.ok += 1
        elif status < "500":
            self.client_errors += 1
        else:
            self.server_errors += 1
        return True

    def flush(self) -> HttpSeen | None:
        """The counts since the last flush as one event, or None if there were no requests."""
        if not (self.ok or self.client_errors or self.server_errors):
            return None
        seen = HttpSeen(ok=self.ok, client_errors=self.client_errors, server_errors=self.server_errors)
        self.ok = self.client_errors = self.server_errors = 0
        return seen
