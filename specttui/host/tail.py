"""Follow a server's log: bytes as they come, and notices on what happened to the log itself."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass
from typing import Any

from specttui.errors import RemoteCommandError
from specttui.events import LogKind, LogSource
from specttui.host.log_source import proposal
from specttui.host.remote_python import streaming_argv
from specttui.host.runner import Streamer
from specttui.host.stream_frames import Frame, FrameReader

#: How often the host looks for new bytes.
POLL_S = 0.2
#: The most that is made up for after an interruption.
MOST_BYTES = 256 * 1024 * 1024
_LINE_BYTES = 128
_REOPEN_S = 0.5
_TRIES = 3


@dataclass(frozen=True, slots=True)
class FromEnd:
    """Begin with the last lines, so many bytes of them at most."""

    backlog_bytes: int = 256 * 1024


@dataclass(frozen=True, slots=True)
class WholeFile:
    """Begin at the log's beginning."""


@dataclass(frozen=True, slots=True)
class Position:
    """A place in a log, to go on from after a reconnect without loss or repetition.

    Attributes:
        inode: The file's; 0 for a container's or a unit's log.
        offset: Bytes before this place.
        tail: A hash of the few bytes before it, which tells a file that was truncated and has grown again.
        cursor: The place in a container's or a unit's log, "" for a file.
    """

    inode: int = 0
    offset: int = 0
    tail: str = ""
    cursor: str = ""


@dataclass(frozen=True, slots=True)
class FromOffset:
    """Begin after so many bytes of the file as it is now: where a server that we started began to write."""

    offset: int


TailStart = FromEnd | FromOffset | WholeFile | Position


@dataclass(frozen=True, slots=True)
class Chunk:
    """New bytes, in any cut. `offset` is where they begin; `position` is the place after them."""

    data: bytes
    offset: int
    position: Position


@dataclass(frozen=True, slots=True)
class Notice:
    """Something that happened to the log.

    `what` is one of truncated, rotated, replaced, vanished, missing, appeared, hole, skipped, suppressed,
    reopened, cannot_follow.
    """

    what: str
    detail: str = ""


TailItem = Chunk | Notice


async def follow(
    remote: Streamer, source: LogSource, *, start: TailStart = FromEnd()
) -> AsyncGenerator[TailItem]:
    """Follow a log for ever, over one stream.

    A follow process that ends silently is started again where it stopped. Close the iterator
    (`contextlib.aclosing`) to end the process on the host.

    Args:
        remote: The host.
        source: The log, as discovery named it.
        start: Where to begin: near the end, at the beginning, or at the last chunk's `position`.

    Yields:
        Chunks and notices. A source that cannot be followed gives one notice `cannot_follow` whose detail
        says what to do, and ends; where only the account's rights are in doubt it is followed all the same.

    Raises:
        ConnectionLostError: The connection broke; go on later from the last chunk's position.
        RemoteCommandError: The follow process cannot be run.
    """
    advice = proposal(source)
    if advice or not source.path:
        yield Notice("cannot_follow", advice or "The log's place is not known; give it as the log file.")
        return
    barren = 0
    while True:
        reader = FrameReader(secrets.token_hex(8))
        frames = 0
        async with remote.stream(_argv(source, start, reader.mark)) as chunks:
            async for piece in chunks:
                for frame in reader.feed(piece):
                    frames += 1
                    item = _item(frame)
                    if isinstance(item, Chunk):
                        start = item.position
                    if item:
                        yield item
                    if frame.kind == "failed":
                        return
        barren = 0 if frames else barren + 1
        if barren >= _TRIES:
            raise _cannot_run(remote, source, reader)
        yield Notice("reopened", "the process that follows the log ended")
        await asyncio.sleep(_REOPEN_S)


def _argv(source: LogSource, start: TailStart, mark: str) -> Sequence[str]:
    if source.kind is LogKind.FILE:
        places = {"path": source.path, "start": _file_start(start), "most_bytes": MOST_BYTES}
        return streaming_argv("follow_file", {"mark": mark, "poll_s": POLL_S, **places})
    place = {
        "tool": source.detail or ("docker" if source.kind is LogKind.DOCKER else "system"),
        "name": source.path,
        "lines": start.backlog_bytes // _LINE_BYTES if isinstance(start, FromEnd) else 0,
        "cursor": start.cursor if isinstance(start, Position) else "",
    }
    return streaming_argv("follow_command", {"mark": mark, **place})


def _file_start(start: TailStart) -> dict[str, Any]:
    match start:
        case FromEnd(backlog):
            return {"kind": "end", "backlog": backlog}
        case FromOffset(offset):
            return {"kind": "offset", "offset": offset}
        case Position(inode, offset, tail):
            return {"kind": "position", "inode": inode, "offset": offset, "tail": tail}
        case WholeFile():
            return {"kind": "whole"}


def _item(frame: Frame) -> TailItem | None:
    fields = frame.fields
    match frame.kind:
        case "data" if frame.data:
            position = Position(
                inode=fields.get("inode", 0),
                offset=fields["end"],
                tail=fields.get("tail", ""),
                cursor=fields.get("cursor", ""),
            )
            return Chunk(frame.data, fields["offset"], position)
        case "notice":
            return Notice(fields["what"], fields["detail"])
        case "failed":
            advice = "Restart the server through specttui, which appends its output to a file."
            return Notice("cannot_follow", f"{fields['detail']} (exit status {fields['status']}). {advice}")
        case _:
            return None


def _cannot_run(remote: Streamer, source: LogSource, reader: FrameReader) -> RemoteCommandError:
    return RemoteCommandError(
        f"The log {source.path} on {remote.name} cannot be followed",
        cause=reader.noise.decode("utf-8", "replace").strip() or "the follow process ends at once",
        remedy="Check that Python 3.6 or newer runs on the host.",
    )
