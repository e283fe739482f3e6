"""The recording: one JSON line per envelope, written as it happens and read back as a stream.

Durability. Each envelope is handed to the kernel by one `write` before `append` returns, so it survives the
death of this process in any form; the disk is told to keep it (`fsync`) when the recording is closed, so a
power cut may cost the last seconds. A line may end torn (full disk, power cut): a writer that goes on
after a failed write starts a new line first, and `read` tolerates a torn last line.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from pydantic import ValidationError
from pydantic_core import PydanticSerializationError

from specttui.errors import RecordingError
from specttui.events import EVENTS_VERSION, Envelope
from specttui.private_files import private_folder
from specttui.session.folders import EVENTS_NAME

_TAIL_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class LineProblem:
    """A line that could not be used: its number from 1, why, and whether it is the torn last one."""

    line: int
    reason: str
    torn: bool = False


class Recording:
    """An `events.jsonl` open for appending. Use `Recording.create`."""

    def __init__(self, path: Path, descriptor: int) -> None:
        self.path = path
        self._descriptor = descriptor
        self._mid_line = False

    @classmethod
    def create(cls, folder: Path) -> Recording:
        """Begin, or go on with, the recording of a session folder.

        Args:
            folder: The session's folder; made with mode 0700 where it is missing. The file has mode 0600.

        Raises:
            RecordingError: The folder or file cannot be written.
        """
        path = folder / EVENTS_NAME
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_CLOEXEC", 0)
        try:
            private_folder(folder)
            recording = cls(path, os.open(path, flags, 0o600))
        except OSError as error:
            raise _cannot_write(path, error) from error
        recording._mid_line = _ends_mid_line(recording._descriptor)
        return recording

    def append(self, envelope: Envelope) -> None:
        """Write one envelope; when this returns, the kernel has it.

        Raises:
            RecordingError: The disk is full or gone, or the recording is closed.
        """
        if self._descriptor < 0:
            raise RecordingError("The recording is closed", cause=str(self.path))
        line = b"\n" * self._mid_line + _encode(envelope) + b"\n"
        self._mid_line = True
        try:
            while line:
                line = line[os.write(self._descriptor, line) :]
        except OSError as error:
            raise _cannot_write(self.path, error) from error
        self._mid_line = False

    def close(self) -> None:
        """Make the disk keep everything, and close. Closing twice does nothing."""
        if self._descriptor < 0:
            return
        descriptor, self._descriptor = self._descriptor, -1
        with contextlib.suppress(OSError):  # pipes and some network file systems cannot sync
            os.fsync(descriptor)
        os.close(descriptor)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


def read(path: Path, problems: list[LineProblem] | None = None) -> Iterator[Envelope]:
    """Read a recording as a stream, one line in memory at a time.

    A torn last line never fails: the writer died, or is still writing. A line broken in the middle fails
    unless the caller collects `problems`; then it is noted and passed over, as is an event of a kind that
    this version does not know.

    Args:
        path: An `events.jsonl`, or the session folder that holds one.
        problems: Gets an entry for every line passed over, the torn last one included.

    Yields:
        The envelopes in the order they were written.

    Raises:
        RecordingError: The file cannot be read, a line is broken and `problems` is None, or the
            recording's format version is not ours.
    """
    file = path / EVENTS_NAME if path.is_dir() else path
    try:
        with file.open("rb") as stream:
            for number, line in enumerate(stream, start=1):
                if not line.strip():
                    continue
                found = _decode(line, number)
                if isinstance(found, Envelope):
                    yield found
                elif problems is not None:
                    problems.append(found)
                elif not found.torn:
                    raise RecordingError(
                        f"Line {found.line} of {file} cannot be read",
                        cause=found.reason,
                        remedy="Delete that line from a copy of the file to use the rest.",
                    )
    except OSError as error:
        raise RecordingError(
            f"The recording {file} cannot be read", cause=error.strerror or str(error)
        ) from error


def last_offset_s(path: Path) -> float:
    """The offset of the last whole envelope, in seconds, without reading the whole recording.

    Args:
        path: An `events.jsonl`.

    Returns:
        0.0 for a recording without a whole line among its last MiB.

    Raises:
        RecordingError: The file cannot be read.
    """
    try:
        with path.open("rb") as stream:
            stream.seek(max(0, stream.seek(0, os.SEEK_END) - _TAIL_BYTES))
            lines = stream.read().splitlines()
    except OSError as error:
        raise RecordingError(
            f"The recording {path} cannot be read", cause=error.strerror or str(error)
        ) from error
    for line in reversed(lines):
        with contextlib.suppress(ValidationError):
            return Envelope.model_validate_json(line).offset_s
    return 0.0


def _encode(envelope: Envelope) -> bytes:
    try:
        return envelope.model_dump_json().encode()
    except (PydanticSerializationError, UnicodeEncodeError):
        # A path read from the host may hold bytes that are no UTF-8, kept as lone surrogates.
        return json.dumps(envelope.model_dump(), ensure_ascii=False).encode("utf-8", "replace")


def _decode(line: bytes, number: int) -> Envelope | LineProblem:
    try:
        envelope = Envelope.model_validate_json(line)
    except ValidationError as error:
        _refuse_other_version(line, number)
        return _problem(error, number, torn=not line.endswith(b"\n"))
    if envelope.v != EVENTS_VERSION:
        _refuse_other_version(line, number)
    return envelope


def _problem(error: ValidationError, number: int, *, torn: bool) -> LineProblem:
    detail = error.errors(include_url=False, include_input=False)[0]
    if torn:
        return LineProblem(number, "the last line is torn", torn=True)
    if detail["type"] == "union_tag_invalid":
        kind = detail["ctx"]["tag"]
        return LineProblem(number, f"its event is of an unknown kind, '{kind}': recorded by another version")
    where = ".".join(str(part) for part in detail["loc"])
    return LineProblem(number, f"{where}: {detail['msg']}" if where else detail["msg"])


def _refuse_other_version(line: bytes, number: int) -> None:
    try:
        record = json.loads(line)
    except ValueError:
        return
    version = record.get("v") if isinstance(record, dict) else None
    if isinstance(version, int) and version != EVENTS_VERSION:
        raise RecordingError(
            f"Line {number} has format version {version}; this specttui reads version {EVENTS_VERSION}",
            remedy="Open the recording with the version of specttui that made it, or a newer one.",
        )


def _ends_mid_line(descriptor: int) -> bool:
    size = os.lseek(descriptor, 0, os.SEEK_END)
    if size == 0:
        return False
    os.lseek(descriptor, size - 1, os.SEEK_SET)
    return os.read(descriptor, 1) != b"\n"


def _cannot_write(path: Path, error: OSError) -> RecordingError:
    return RecordingError(
        f"The recording {path} cannot be written",
        cause=error.strerror or str(error),
        remedy="Free space or permissions there; what was recorded before is safe.",
    )
