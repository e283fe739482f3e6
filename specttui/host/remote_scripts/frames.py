"""Framed output of the programs that stream: one header line, then so many raw bytes. Runs on the host.

A frame is the line `MARK {json}` and then `length` bytes. The mark is drawn anew for each stream, so
neither a log's own text nor a shell's start-up noise can be taken for a header.
"""

# A plain os call: it is made several times a second.
# ruff: noqa: PTH110

import json
import os
import select
import signal
import sys
import time

#: The variable that holds the pid of the shell that must live on where the one above is not ours.
LEADER = "SPECTTUI_LEADER"
_ALIVE_S = 5.0
_GONE = select.POLLERR | select.POLLHUP | select.POLLNVAL


class Writer:
    """Writes frames to standard output and knows when nobody reads them any more.

    Args:
        mark: What each header starts with.
    """

    def __init__(self, mark: str) -> None:
        self.mark = mark
        self._parent = os.getppid()
        self._leader = "/proc/" + os.environ.get(LEADER, "self")
        self._last_s = time.monotonic()
        self._poll = select.poll()
        self._poll.register(1, 0)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        for number in (signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, lambda *_: sys.exit(0))

    def send(self, kind: str, data: bytes = b"", **fields: object) -> None:
        """Write one frame, waiting while the reader is slow; ends the program when it is gone."""
        header = json.dumps(dict(fields, kind=kind, length=len(data)))
        frame = memoryview(f"{self.mark} {header}\n".encode("ascii") + data)
        try:
            while frame:
                frame = frame[os.write(1, frame) :]
        except OSError:
            sys.exit(0)
        self._last_s = time.monotonic()

    def notice(self, what: str, detail: str = "") -> None:
        """Say what happened to the log."""
        self.send("notice", what=what, detail=detail)

    def check_reader(self) -> None:
        """End the program when the connection is gone: nothing of ours may stay behind on the host."""
        left = os.getppid() != self._parent or not os.path.exists(self._leader)
        if left or any(event & _GONE for _, event in self._poll.poll(0)):
            sys.exit(0)
        if time.monotonic() - self._last_s > _ALIVE_S:
            self.send("alive")
