"""Markers around what a command prints: the part between them is the command's, the rest is shell noise."""

from __future__ import annotations

import re
import secrets
from dataclasses import dataclass, field

_NOISE_KEPT_BYTES = 2000


@dataclass(frozen=True, slots=True)
class FrameToken:
    """A random word nobody else prints. It is sent in two halves, so that a process list never shows it."""

    halves: tuple[str, str] = field(default_factory=lambda: (secrets.token_hex(8), secrets.token_hex(8)))

    @property
    def word(self) -> bytes:
        """The word as the markers print it."""
        return "".join(self.halves).encode()


class FrameReader:
    """Cuts one output stream at its markers, in any chunking, holding back no more than a marker's length.

    Attributes:
        pid: Process id (and group) of the remote `/bin/sh`, once the begin marker was seen.
        end: What the end marker said: an exit status, or `cwd` for a folder that cannot be entered.
        noise: The first bytes printed before the begin marker, for messages.
    """

    def __init__(self, token: FrameToken) -> None:
        self._begin = re.compile(re.escape(token.word) + rb":begin:(\d+)\n")
        self._end_head = token.word + b":end:"
        self._end = re.compile(re.escape(self._end_head) + rb"(\w+)\n")
        self._marker_bytes = len(token.word) + 32
        self._pending = b""
        self.pid: int | None = None
        self.end: str | None = None
        self.noise = b""

    def feed(self, data: bytes) -> bytes:
        """Take a chunk; give the part of it that the command printed, as far as that is certain."""
        if self.end is not None:
            return b""
        self._pending += data
        if self.pid is None and not self._begun():
            return b""
        found = self._end.search(self._pending)
        if found:
            self.end = found[1].decode()
            return self._take(found.start())
        return self._take(self._certain_bytes())

    def rest(self) -> bytes:
        """What was held back, when the stream ended without an end marker."""
        return self._take(len(self._pending)) if self.pid is not None and self.end is None else b""

    def _begun(self) -> bool:
        found = self._begin.search(self._pending)
        noise = self._take(found.start() if found else max(0, len(self._pending) - self._marker_bytes))
        self.noise += noise[: _NOISE_KEPT_BYTES - len(self.noise)]
        if found:
            self.pid = int(found[1])
            self._take(found.end() - found.start())
        return found is not None

    def _take(self, count: int) -> bytes:
        taken, self._pending = self._pending[:count], self._pending[count:]
        return taken

    def _certain_bytes(self) -> int:
        """How many bytes cannot be part of an end marker that is still on its way."""
        head = self._pending.rfind(self._end_head)
        if head >= 0:
            return head
        for length in range(min(len(self._end_head) - 1, len(self._pending)), 0, -1):
            if self._end_head.startswith(self._pending[-length:]):
                return len(self._pending) - length
        return len(self._pending)

    def unframed(self) -> str:
        """What was printed instead of a frame, for a message; empty if nothing was."""
        return (self.noise + self._pending).decode("utf-8", "replace").strip()[:_NOISE_KEPT_BYTES]
