"""What goes through one channel: a command's input and framed outputs, or a stream's chunks."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Iterator, Sequence

import asyncssh

from specttui.errors import ConnectionLostError, RemoteCommandError
from specttui.host.frame import FrameReader, FrameToken
from specttui.host.remote import CommandResult

_CHUNK_BYTES = 65536
_MAX_OUTPUT_BYTES = 64 * 1024 * 1024
_LEAVE_S = 5.0

Process = asyncssh.SSHClientProcess[bytes]


class Exchange:
    """Sends a command's input and collects its outputs, until both end markers have come."""

    def __init__(
        self, argv: Sequence[str], token: FrameToken, host: str, lost: Callable[[], ConnectionLostError]
    ) -> None:
        self._argv = tuple(argv)
        self._host = host
        self._lost = lost
        self._frames = (FrameReader(token), FrameReader(token))
        self._outputs = (bytearray(), bytearray())

    @property
    def pid(self) -> int | None:
        """The remote process group, once known."""
        return self._frames[0].pid

    @property
    def start_up_text(self) -> str:
        """What the login shell printed before the command, for messages."""
        return " ".join(
            text for frame in self._frames if (text := frame.noise.decode("utf-8", "replace").strip())
        )

    async def run(self, process: Process, stdin: bytes) -> CommandResult:
        """Exchange all there is.

        Raises:
            ConnectionLostError: The connection broke before the end.
            RemoteCommandError: The command was not run, was killed, or prints without end.
        """
        readers = [
            asyncio.create_task(self._read(reader, frame, output))
            for reader, frame, output in zip(
                (process.stdout, process.stderr), self._frames, self._outputs, strict=True
            )
        ]
        writer = asyncio.create_task(_write(process, stdin))
        try:
            with _as_loss(self._lost):
                await asyncio.wait(readers, return_when=asyncio.FIRST_EXCEPTION)
                for task in readers:
                    if task.done():
                        task.result()
        finally:
            for task in (*readers, writer):
                task.cancel()
            # A command may end without reading its input: what the writer met then is no failure.
            await asyncio.gather(*readers, writer, return_exceptions=True)
        await _heard_out(process, *self._frames)
        return self._result(process)

    async def hear_begin(self, process: Process) -> None:
        """Read until it is known as which process group the command runs: else nobody could end it."""
        with contextlib.suppress(TimeoutError, asyncssh.Error, OSError):
            async with asyncio.timeout(_LEAVE_S):
                while self.pid is None and (data := await process.stdout.read(_CHUNK_BYTES)):
                    self._frames[0].feed(data)

    async def _read(self, reader: asyncssh.SSHReader[bytes], frame: FrameReader, output: bytearray) -> None:
        while frame.end is None:
            data = await reader.read(_CHUNK_BYTES)
            if not data:
                output += frame.rest()
                return
            output += frame.feed(data)
            if len(output) > _MAX_OUTPUT_BYTES:
                raise RemoteCommandError(
                    f"A command on {self._host} prints more than {_MAX_OUTPUT_BYTES >> 20} MiB",
                    cause=in_words(self._argv),
                    remedy="Ask for less of it.",
                )

    def _result(self, process: Process) -> CommandResult:
        end = self._frames[0].end
        if end is None:
            raise self._unfinished(process)
        if end == "cwd":
            raise RemoteCommandError(
                f"The working folder of a command on {self._host} cannot be entered",
                cause=self._outputs[1].decode("utf-8", "replace").strip(),
                remedy="Check that the folder exists and that this account may enter it.",
            )
        return CommandResult(self._argv, int(end), bytes(self._outputs[0]), bytes(self._outputs[1]))

    def _unfinished(self, process: Process) -> ConnectionLostError | RemoteCommandError:
        if _is_lost(process):
            return self._lost()
        if self.pid is None:
            return not_run(self._host, *self._frames)
        return RemoteCommandError(
            f"A command on {self._host} was killed",
            cause=in_words(self._argv),
            remedy="Check the host's memory and who ends processes there, then try again.",
        )


class Stream:
    """The chunks of a command that goes on. A cancelled read loses nothing; `heard` is told of each."""

    def __init__(
        self,
        process: Process,
        frame: FrameReader,
        host: str,
        lost: Callable[[], ConnectionLostError],
        heard: Callable[[], None],
    ) -> None:
        self._process = process
        self._frame = frame
        self._host = host
        self._lost = lost
        self._heard = heard
        self._ended = False

    def __aiter__(self) -> Stream:
        return self

    async def __anext__(self) -> bytes:
        while not self._ended and self._frame.end is None:
            with _as_loss(self._lost):
                data = await self._process.stdout.read(_CHUNK_BYTES)
            if data:
                self._heard()
            else:
                await _heard_out(self._process, self._frame)
            chunk = self._frame.feed(data) if data else self._at_end()
            if chunk:
                return chunk
        raise StopAsyncIteration

    async def leave(self) -> None:
        """End the remote command by closing its input, and wait until it is gone."""
        with contextlib.suppress(TimeoutError, asyncssh.Error, OSError):
            async with asyncio.timeout(_LEAVE_S):
                self._process.stdin.write_eof()
                while await self._process.stdout.read(_CHUNK_BYTES):
                    continue

    def _at_end(self) -> bytes:
        """The output ended without its marker: lost connection, killed shell, or a command never run."""
        self._ended = True
        if _is_lost(self._process):
            raise self._lost()
        if self._frame.pid is None:
            raise not_run(self._host, self._frame)
        return self._frame.rest()


def not_run(host: str, *frames: FrameReader) -> RemoteCommandError:
    """The error for a login that printed something else instead of running our command."""
    said = " ".join(text for frame in frames if (text := frame.unframed()))
    return RemoteCommandError(
        f"{host} did not run a command",
        cause=f"It answered: {said}" if said else "It answered nothing.",
        remedy="Check the account's login shell and its start-up files.",
    )


def in_words(argv: Sequence[str]) -> str:
    """A command for a message, cut to one short line."""
    text = " ".join(" ".join(argv).split())
    return text if len(text) <= 200 else text[:197] + "..."


@contextlib.contextmanager
def _as_loss(lost: Callable[[], ConnectionLostError]) -> Iterator[None]:
    """What asyncssh or the socket raise in the middle of a command means that the connection broke."""
    try:
        yield
    except (asyncssh.Error, OSError) as error:
        raise lost() from error


async def _heard_out(process: Process, *frames: FrameReader) -> None:
    """Where the output ended without its marker, wait for the channel's end: only then is it known why.

    A server sends the end of the output first, then how the command ended, then that the channel is closed
    (RFC 4254, sections 5.3 and 6.10).
    """
    if all(frame.end is not None for frame in frames):
        return
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(_LEAVE_S):
            await process.wait_closed()


def _is_lost(process: Process) -> bool:
    """A server says how a command ended before it closes the channel; else the connection broke."""
    return process.exit_status is None and process.exit_signal is None


async def _write(process: Process, data: bytes) -> None:
    for start in range(0, len(data), _CHUNK_BYTES):
        process.stdin.write(data[start : start + _CHUNK_BYTES])
        await process.stdin.drain()
    process.stdin.write_eof()
