"""A Remote without SSH: commands run on this machine, with a home folder of the test's own."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from specttui.errors import RemoteCommandError
from specttui.host.remote import CommandResult

_CHUNK_BYTES = 65536


class LocalRemote:
    """Implements `specttui.host.remote.Remote` with local subprocesses.

    Args:
        home: The home folder that commands see; also where their caches go.
        name: The host's name in messages.
        env: Variables added to every command's environment.

    `commands` holds every argv that was run or streamed, in order.
    """

    def __init__(self, home: Path, name: str = "local", env: Mapping[str, str] | None = None) -> None:
        self._home = home
        self._name = name
        self._env = dict(env or {})
        self.commands: list[tuple[str, ...]] = []

    @property
    def name(self) -> str:
        """The host's name for messages."""
        return self._name

    async def run(
        self,
        argv: Sequence[str],
        *,
        stdin: bytes = b"",
        env: Mapping[str, str] | None = None,
        cwd: str | None = None,
        timeout_s: float = 30.0,
        check: bool = False,
    ) -> CommandResult:
        """Run one command to its end; see `Remote.run`."""
        self.commands.append(tuple(argv))
        try:
            process = await asyncio.create_subprocess_exec(
                *argv,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                env=self._environment(env),
                cwd=cwd or self._home,
                start_new_session=True,
            )
        except OSError as error:
            return self._not_started(argv, error, check=check)
        try:
            async with asyncio.timeout(timeout_s):
                stdout, stderr = await process.communicate(stdin)
        except TimeoutError:
            raise RemoteCommandError(
                f"A command on {self._name} took longer than {timeout_s:g} s", cause=" ".join(argv)
            ) from None
        finally:
            await _end(process)
        result = CommandResult(tuple(argv), process.returncode or 0, stdout, stderr)
        if check and not result.ok:
            raise RemoteCommandError(
                f"A command on {self._name} exited with {result.exit_status}",
                cause=stderr.decode("utf-8", "replace"),
            )
        return result

    @asynccontextmanager
    async def stream(
        self, argv: Sequence[str], *, env: Mapping[str, str] | None = None
    ) -> AsyncIterator[AsyncIterator[bytes]]:
        """Run a command that goes on; see `Remote.stream`."""
        self.commands.append(tuple(argv))
        process = await asyncio.create_subprocess_exec(
            *argv,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            env=self._environment(env),
            cwd=self._home,
            start_new_session=True,
        )
        try:
            yield _chunks(process)
        finally:
            await _end(process)

    def _environment(self, extra: Mapping[str, str] | None) -> dict[str, str]:
        base = {key: value for key, value in os.environ.items() if key != "XDG_CACHE_HOME"}
        return base | {"HOME": str(self._home)} | self._env | dict(extra or {})

    def _not_started(self, argv: Sequence[str], error: OSError, *, check: bool) -> CommandResult:
        """What a remote `/bin/sh` answers for a program that is not there: 127, or 126 if not executable."""
        if check:
            raise RemoteCommandError(f"A command on {self._name} could not be started", cause=str(error))
        status = 127 if isinstance(error, FileNotFoundError) else 126
        return CommandResult(tuple(argv), status, b"", f"sh: {argv[0]}: {error.strerror}\n".encode())


async def _chunks(process: asyncio.subprocess.Process) -> AsyncIterator[bytes]:
    assert process.stdout is not None
    while chunk := await process.stdout.read(_CHUNK_BYTES):
        yield chunk


async def _end(process: asyncio.subprocess.Process) -> None:
    """End what still runs; detached children of a command that exited by itself are left alone."""
    if process.returncode is None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        await process.wait()
