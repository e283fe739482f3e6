"""Where a log is just before a server is started: there its words begin, and no earlier server's are read."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import dataclass

from specttui.events import LogKind, LogSource
from specttui.host.remote import Remote
from specttui.host.tail import FromEnd, FromOffset, Position, TailStart, WholeFile

_SIZE = 'wc -c <"$1"'


@dataclass(frozen=True, slots=True)
class LogMark:
    """A moment in the logs of a host.

    Attributes:
        source: The log that was looked at.
        start: Where it ended at that moment.
        stamp: The moment by the host's clock, as docker writes it.
    """

    source: LogSource
    start: TailStart
    stamp: str = ""

    def start_in(self, source: LogSource) -> TailStart:
        """Where the words of a server begin that was started after this moment.

        Args:
            source: Its log, which may be another one: a new file, a new container.
        """
        if (source.kind, source.path) == (self.source.kind, self.source.path):
            return self.start
        if source.kind is LogKind.FILE:
            return WholeFile()
        if source.kind is LogKind.DOCKER and self.stamp:
            return Position(cursor=f"{self.stamp} 0")
        return FromEnd()


async def mark(remote: Remote, source: LogSource | None) -> LogMark:
    """Note where a log ends now.

    Args:
        remote: The host.
        source: The log; None when none is known.

    Raises:
        ConnectionLostError: The connection broke.
    """
    known = source or LogSource(kind=LogKind.UNKNOWN)
    stamp = (await remote.run(["date", "-u", "+%Y-%m-%dT%H:%M:%SZ"])).text
    start: TailStart = FromEnd()
    match known.kind:
        case LogKind.FILE:
            size = await remote.run(["sh", "-c", _SIZE, "sh", known.path])
            start = FromOffset(int(size.text)) if size.ok and size.text.strip().isdigit() else WholeFile()
        case LogKind.JOURNAL:
            start = Position(cursor=await _cursor(remote, known)) if known.path else FromEnd()
        case LogKind.DOCKER:
            start = Position(cursor=f"{stamp} 0")
        case _:
            pass
    return LogMark(known, start, stamp)


async def _cursor(remote: Remote, source: LogSource) -> str:
    """The journal's cursor after the unit's last entry, "" for a unit that has said nothing yet."""
    unit = ["--user-unit" if source.detail == "user" else "--unit", source.path]
    fields = ["--output=json", "--output-fields=MESSAGE", "--lines=1", "--no-pager"]
    result = await remote.run(["journalctl", *fields, *unit])
    with suppress(ValueError, IndexError, AttributeError):
        return str(json.loads(result.text.splitlines()[-1]).get("__CURSOR", ""))
    return ""
