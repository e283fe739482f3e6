r"""Incremental splitting of a log's bytes into lines, in bounded memory and whatever the chunking.

A line ends at `\n`, `\r\n` or a lone `\r` (progress bars). NUL bytes, which truncation leaves behind, are
dropped before anything else.
"""

from __future__ import annotations

#: A longer line is cut here and the rest thrown away up to the next line end.
MAX_LINE_BYTES = 65536
#: Input is taken in pieces of this size, so that only the first line of a piece can be too long.
_BLOCK_BYTES = MAX_LINE_BYTES


class LineSplitter:
    """Turns chunks of bytes into complete lines. What comes out does not depend on the chunking."""

    __slots__ = ("_held_return", "_parts", "_size")

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._size = 0
        self._held_return = False

    def feed(self, data: bytes) -> list[bytes]:
        r"""Take some bytes and return the lines they complete.

        Args:
            data: The next bytes of the log, cut anywhere.

        Returns:
            Complete lines without their line end. One that ended with a lone `\r` keeps that byte, so
            that a caller can tell a bar's passing states from its last. One of `MAX_LINE_BYTES` was cut.
        """
        if len(data) <= _BLOCK_BYTES:
            return self._block(data)
        lines: list[bytes] = []
        for start in range(0, len(data), _BLOCK_BYTES):
            lines += self._block(data[start : start + _BLOCK_BYTES])
        return lines

    def finish(self) -> bytes:
        """Return the unterminated rest (cut to `MAX_LINE_BYTES`) and start anew."""
        rest = b"".join(self._parts)
        self._parts, self._size, self._held_return = [], 0, False
        return rest

    @property
    def pending_bytes(self) -> int:
        """How many bytes of an unfinished line are held."""
        return self._size

    def _block(self, block: bytes) -> list[bytes]:
        if b"\0" in block:
            block = block.replace(b"\0", b"")
        if self._held_return:
            block = b"\r" + block
            self._held_return = False
        if b"\r" in block:
            block = self._mark_returns(block)
        lines = block.split(b"\n")
        rest = lines.pop()
        if lines:
            lines[0] = self._complete(lines[0])
        self._keep(rest)
        return lines

    def _mark_returns(self, block: bytes) -> bytes:
        # A return at the very end may be the first half of "\r\n": it waits for the next byte.
        if block.endswith(b"\r"):
            self._held_return = True
            block = block[:-1]
        return block.replace(b"\r\n", b"\n").replace(b"\r", b"\r\n")

    def _complete(self, end: bytes) -> bytes:
        if self._parts:
            self._parts.append(end)
            end = b"".join(self._parts)
            self._parts, self._size = [], 0
        return end if len(end) <= MAX_LINE_BYTES else end[:MAX_LINE_BYTES]

    def _keep(self, rest: bytes) -> None:
        room = MAX_LINE_BYTES - self._size
        if not rest or room <= 0:
            return
        self._parts.append(rest[:room])
        self._size += len(self._parts[-1])
