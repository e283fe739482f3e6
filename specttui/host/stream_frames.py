"""Takes a stream of frames apart: the other end of `remote_scripts.frames`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

_HEADER_LIMIT_BYTES = 65536
_NOISE_BYTES = 4096


@dataclass(frozen=True, slots=True)
class Frame:
    """One frame: what it is, its further fields, and its raw bytes."""

    kind: str
    fields: dict[str, Any]
    data: bytes


class FrameReader:
    """Splits bytes, in whatever cut they come, into frames.

    Args:
        mark: What each header starts with. Text outside of frames is kept as `noise`, its end only.
    """

    def __init__(self, mark: str) -> None:
        self.mark = mark
        self.noise = b""
        self._buffer = bytearray()
        self._header: dict[str, Any] | None = None

    def feed(self, piece: bytes) -> Iterator[Frame]:
        """The frames that these bytes complete."""
        self._buffer += piece
        while True:
            if self._header is None and not self._take_header():
                return
            assert self._header is not None
            length = self._header["length"]
            if len(self._buffer) < length:
                return
            fields, self._header = self._header, None
            data = bytes(self._buffer[:length])
            del self._buffer[:length]
            yield Frame(fields.pop("kind"), fields, data)

    def _take_header(self) -> bool:
        """Read lines until one is a header; False when the next line is not complete yet."""
        start = self.mark.encode("ascii") + b" "
        while (end := self._buffer.find(b"\n")) >= 0:
            line = bytes(self._buffer[:end])
            del self._buffer[: end + 1]
            _, found, text = line.rpartition(start)
            if found:
                self._header = json.loads(text)
                return True
            self.noise = (self.noise + line + b"\n")[-_NOISE_BYTES:]
        if len(self._buffer) > _HEADER_LIMIT_BYTES:
            self._buffer.clear()
        return False
