"""Follow a log file through whatever happens to it, and stream what is new. Runs on the host.

A place in a file is its inode, an offset, and a hash of the few bytes before it: inode and offset alone
cannot tell a file that was truncated and has grown past the offset again.
"""
# Plain os calls: the program starts anew for every look, and /proc holds thousands of links.
# ruff: noqa: PTH100, PTH116

import errno
import hashlib
import os
import time
from typing import Any

from specttui.host.remote_scripts import frames

_CHUNK_BYTES = 65536
_TAIL_BYTES = 256  # a whole line with its stamp: the ends of two lines are often alike
_HOLE_BYTES = 4096
_LINE_BYTES = 1024 * 1024


class Follower:
    """One followed path: the open file, perhaps not the one at the path any more, and the place in it.

    Args:
        path: The log file.
        out: Where frames go.
        most_bytes: The most that is made up for after an interruption; more is skipped, and said so.
    """

    def __init__(self, path: str, out: "frames.Writer", most_bytes: int) -> None:
        self.path = path
        self.out = out
        self.most_bytes = most_bytes
        self.fd = -1
        self.inode = 0
        self.offset = 0
        self.tail = b""
        self.zeros = 0
        self.missing = False

    def start(self, start: "dict[str, Any]") -> None:
        """Open the file and go to where it begins.

        Args:
            start: `kind` is `end` (with `backlog`), `offset`, `whole`, or `position` (of an earlier visit).
        """
        opened = self._open(self.path)
        if start["kind"] == "position":
            self._resume(start["inode"], start["offset"], start["tail"])
        elif opened and start["kind"] == "end":
            self._go_near_end(start["backlog"])
        elif opened and start["kind"] == "offset":
            self._go_to(min(start["offset"], os.fstat(self.fd).st_size))

    def step(self) -> bool:
        """Send what is new; False when there was nothing."""
        if self.fd < 0 and not self._open(self.path):
            return False
        if self._read_new():
            return True
        return self._follow_path()

    def _open(self, path: str) -> bool:
        try:
            fd = os.open(path, os.O_RDONLY)
        except OSError as error:
            if not self.missing:
                self.out.notice("missing", f"{path}: {error.strerror}")
            self.missing = True
            return False
        if self.fd >= 0:
            os.close(self.fd)
        if self.missing:
            self.out.notice("appeared", path)
        self.fd, self.inode, self.missing = fd, os.fstat(fd).st_ino, False
        self._go_to(0)
        return True

    def _go_to(self, offset: int) -> None:
        self.offset = offset
        length = min(_TAIL_BYTES, offset)
        self.tail = os.pread(self.fd, length, offset - length)
        self.zeros = 0

    def _go_near_end(self, backlog: int) -> None:
        """Begin at the first line that starts within the backlog."""
        begin = max(0, os.fstat(self.fd).st_size - backlog)
        if begin:
            newline = os.pread(self.fd, min(backlog, _LINE_BYTES), begin - 1).find(b"\n")
            begin += max(newline, 0)
        self._go_to(begin)

    def _resume(self, inode: int, offset: int, tail: str) -> None:
        if self.inode != inode and not self._open_renamed(inode):
            if self.fd >= 0:
                self.out.notice("replaced", "the old file is gone; what it got since is lost")
            return
        if not self._is_at(offset, tail):
            self.out.notice("truncated", "while the connection was down")
            self._go_to(0)
            return
        self._go_to(offset)
        behind = os.fstat(self.fd).st_size - offset
        if behind > self.most_bytes:
            self._go_near_end(self.most_bytes)
            self.out.notice("skipped", f"{self.offset - offset} bytes written meanwhile")

    def _open_renamed(self, inode: int) -> bool:
        """Find the file of the last visit under its rotated name beside the path."""
        folder, name = os.path.split(os.path.abspath(self.path))
        stem = name.split(".")[0]
        for entry in os.scandir(folder):
            if entry.inode() == inode and entry.name.startswith(stem) and entry.is_file():
                return self._open(entry.path)
        return False

    def _is_at(self, offset: int, tail: str) -> bool:
        length = min(_TAIL_BYTES, offset)
        before = os.pread(self.fd, length, offset - length)
        return os.fstat(self.fd).st_size >= offset and digest(before) == tail

    def _read_new(self) -> bool:
        """Read one piece from the open file, having seen that it is still the same text before it."""
        size = os.fstat(self.fd).st_size
        if size < self.offset:
            self.out.notice("truncated", f"from {self.offset} to {size} bytes")
            self._go_to(0)
        elif self.tail != os.pread(self.fd, len(self.tail), self.offset - len(self.tail)):
            self.out.notice("truncated", f"and written again, {size} bytes now")
            self._go_to(0)
        if size <= self.offset:
            return False
        self._skip_hole(size)
        self._send(os.pread(self.fd, _CHUNK_BYTES, self.offset))
        return True

    def _skip_hole(self, size: int) -> None:
        """Step over a stretch that was never written: a writer that kept its offset leaves gigabytes."""
        try:
            data_at = os.lseek(self.fd, self.offset, os.SEEK_DATA)
        except OSError as error:
            data_at = size if error.errno == errno.ENXIO else self.offset
        if data_at > self.offset:
            zeros = self.zeros + data_at - self.offset
            self._go_to(data_at)
            self.zeros = zeros

    def _send(self, piece: bytes) -> None:
        begin, self.offset = self.offset, self.offset + len(piece)
        self.tail = (self.tail + piece)[-_TAIL_BYTES:]
        data = piece.replace(b"\0", b"")
        self.zeros += len(piece) - len(data)
        if data and self.zeros >= _HOLE_BYTES:
            self.out.notice("hole", f"{self.zeros} NUL bytes skipped")
        if data:
            self.zeros = 0
        place = {"inode": self.inode, "offset": begin, "end": self.offset, "tail": digest(self.tail)}
        self.out.send("data", data, **place)

    def _follow_path(self) -> bool:
        """Change to a new file at the path once it holds something.

        Until then the old one is read on: a server whose log was only renamed goes on writing to it.
        """
        try:
            status = os.stat(self.path)
        except OSError as error:
            if not self.missing:
                self.out.notice("vanished", f"{error.strerror}; reading on from the open file")
            self.missing = True
            return False
        if status.st_ino == self.inode or status.st_size == 0:
            return False
        while self._read_new():
            pass
        self.missing = False
        self.out.notice("rotated", "going on with the new file")
        return self._open(self.path)


def digest(data: bytes) -> str:
    """The hash of the few bytes before a place."""
    return hashlib.sha256(data).hexdigest()[:16]


def main(parameters: "dict[str, Any]") -> None:
    """Follow until the reader goes away.

    Args:
        parameters: `mark`, `path`, `start`, `poll_s`, `most_bytes`.
    """
    out = frames.Writer(parameters["mark"])
    follower = Follower(parameters["path"], out, parameters["most_bytes"])
    follower.start(parameters["start"])
    while True:
        out.check_reader()
        if not follower.step():
            time.sleep(parameters["poll_s"])
