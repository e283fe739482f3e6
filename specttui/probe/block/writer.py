"""Whole lines into the server's log, never waiting: a line that cannot be written now is dropped and counted.

SGLang's watchdog kills a server whose scheduler hangs, so a full pipe must not hold us. A pipe is opened
anew without blocking (its own open file description: the server's stays as it is); a regular file is
written through the server's own descriptor, whose offset later lines of the server share.
"""

from __future__ import annotations

import os
import select
import stat
import sys
from contextlib import suppress
from typing import List, Tuple

from specttui.probe.block.words import _SPECTTUI_LINE_BYTES


class _SpecttuiWriter:
    """Writes to stdout, else to stderr; survives fork, closed and full outputs."""

    def __init__(self) -> None:
        self.pid = -1
        self.target = -1
        self.polled = False
        self.dropped = 0
        self.owed: List[str] = []

    def write(self, line: str) -> bool:
        """One line of ASCII without its newline; False when it was dropped."""
        data = (line + "\n").encode("ascii", "backslashreplace")
        if len(data) > _SPECTTUI_LINE_BYTES or not self._send(data):
            self.dropped += 1
            return False
        return True

    def write_surely(self, line: str) -> None:
        """A line worth repeating: tried again with the next ones until it is written."""
        self.owed = self.owed[-7:]
        self.owed.append(line)
        self.pay()

    def pay(self) -> None:
        """Try the lines still owed, in order."""
        while self.owed and self._send((self.owed[0] + "\n").encode("ascii", "backslashreplace")):
            self.owed.pop(0)

    def _send(self, data: bytes) -> bool:
        if self.pid != os.getpid():
            self.pid = os.getpid()
            self.target, self.polled = _specttui_output()
        if self.target < 0:
            return False
        try:
            if self.polled and not select.select([], [self.target], [], 0)[1]:
                return False
            return os.write(self.target, data) == len(data)
        except (OSError, ValueError):
            return False


def _specttui_output() -> Tuple[int, bool]:
    """The descriptor to write to, -1 if there is none, and whether to ask first if it takes data."""
    for stream in (sys.__stdout__, sys.__stderr__):
        with suppress(Exception):  # closed, replaced, or without a descriptor: try the next
            descriptor = stream.fileno()  # type: ignore[union-attr]
            mode = os.fstat(descriptor).st_mode
            if stat.S_ISREG(mode):
                return descriptor, False
            if stat.S_ISFIFO(mode):
                with suppress(OSError):
                    path = "/proc/self/fd/" + str(descriptor)
                    return os.open(path, os.O_WRONLY | os.O_NONBLOCK), False
            return descriptor, True
    return -1, False
