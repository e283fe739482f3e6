"""The block's marker lines: how a patched file says what it was before, and how that is proved."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass

from specttui.events import FileState
from specttui.probe.runtime import BLOCK_VERSION, MARKER_BEGIN, MARKER_END


@dataclass(frozen=True, slots=True)
class Marker:
    """What the first marker line carries about the original and about the session that patched it.

    Attributes:
        sha256: Of the original file, in hexadecimal.
        size: Of the original file, in bytes.
        session: Id of the session that patched.
        utc: When, as given by the session (ISO 8601).
        clock: The clock the probe starts with.
        control: Path of the control file on the host, "" for none.
        worker: The class that is timed.
        version: Version of the block.
    """

    sha256: str
    size: int
    session: str = ""
    utc: str = ""
    clock: str = "events"
    control: str = ""
    worker: str = ""
    version: int = BLOCK_VERSION


@dataclass(frozen=True, slots=True)
class Reading:
    """What the marker lines of a file say.

    `original` is the proved original of a patched file, also where text after it was changed; None when
    there is no marker or the proof fails. `reason` says why a file is foreign.
    """

    state: FileState
    marker: Marker | None = None
    original: bytes | None = None
    reason: str = ""


def read_markers(source: bytes) -> Reading:
    """Tell an original from a patched file and from one that somebody else changed."""
    begins = _line_starts(source, MARKER_BEGIN.encode())
    ends = _line_starts(source, MARKER_END.encode())
    if not begins and not ends:
        return Reading(FileState.ORIGINAL)
    if not begins:
        return Reading(FileState.FOREIGN, reason="the block's first line is gone")
    marker = _parse(source, begins[0])
    if marker is None:
        return Reading(FileState.FOREIGN, reason="the block's first line cannot be read")
    original = source[: marker.size]
    if source[marker.size : begins[0]].strip(b"\r\n") or not _proves(marker, original):
        return Reading(FileState.FOREIGN, marker, reason="the text before the block was changed")
    return _read_block(source, begins, ends, Reading(FileState.PATCHED, marker, original))


def digest(source: bytes) -> str:
    """SHA-256 in hexadecimal."""
    return hashlib.sha256(source).hexdigest()


def _read_block(source: bytes, begins: list[int], ends: list[int], proved: Reading) -> Reading:
    """The original is proved; now the block itself."""
    if len(begins) > 1 or len(ends) > 1:
        reason = "it holds more than one block"
    elif not ends or b"\n" not in source[ends[0] :]:
        reason = "the block is cut off"
    elif source[source.index(b"\n", ends[0]) + 1 :]:
        reason = "there is text after the block"
    else:
        return proved
    return Reading(FileState.FOREIGN, proved.marker, proved.original, reason)


def _proves(marker: Marker, original: bytes) -> bool:
    return len(original) == marker.size and digest(original) == marker.sha256


def _line_starts(source: bytes, text: bytes) -> list[int]:
    """Offsets of lines that start with a text."""
    found = []
    position = source.find(text)
    while position >= 0:
        if position == 0 or source[position - 1 : position] in {b"\n", b"\r"}:
            found.append(position)
        position = source.find(text, position + 1)
    return found


def _parse(source: bytes, start: int) -> Marker | None:
    """The marker in the line at an offset; None if it is torn or of another make."""
    line = source[start:].split(b"\n", 1)[0].decode("ascii", "replace")
    version, _, payload = line[len(MARKER_BEGIN) :].strip().partition(" ")
    try:
        fields = json.loads(payload)
        return Marker(version=int(version.removeprefix("v")), **fields)
    except (ValueError, TypeError):
        return None
