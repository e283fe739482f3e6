"""A ProxyCommand: the program that carries the connection, and what it says when it fails."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket
import sys

from specttui.errors import ConnectionFailedError

_KEPT_BYTES = 4000


class ProxyCommand:
    """Runs a ProxyCommand with a socket as its input and output, as ssh does, and keeps its error output.

    asyncssh's own way reads the program's error output as if it came from the host; this one does not.
    """

    def __init__(self, process: asyncio.subprocess.Process, sock: socket.socket) -> None:
        self._process = process
        self._complaints = b""
        self._reader = asyncio.create_task(self._read_complaints())
        self.sock = sock

    @classmethod
    async def start(cls, command: str) -> ProxyCommand:
        """Start the command through the user's shell.

        Raises:
            ConnectionFailedError: It cannot be started, or not on this platform.
        """
        if sys.platform == "win32":
            raise ConnectionFailedError(
                "ProxyCommand is not supported on Windows",
                cause=f"The ssh configuration names: {command}",
                remedy="Use ProxyJump, or connect from WSL.",
            )
        ours, theirs = socket.socketpair()
        shell = os.environ.get("SHELL") or "/bin/sh"
        try:
            process = await asyncio.create_subprocess_exec(
                shell,
                "-c",
                f"exec {command}",
                stdin=theirs.fileno(),
                stdout=theirs.fileno(),
                stderr=asyncio.subprocess.PIPE,
                start_new_session=True,
            )
        except OSError as error:
            ours.close()
            raise ConnectionFailedError(
                "The ProxyCommand of the ssh configuration could not be started",
                cause=f"{shell}: {error.strerror}",
                remedy="Check that the shell in $SHELL exists.",
            ) from error
        finally:
            theirs.close()
        return cls(process, ours)

    @property
    def complaints(self) -> str:
        """What the command printed on its error output, the last 4000 bytes."""
        return self._complaints.decode("utf-8", "replace").strip()

    async def close(self) -> None:
        """End the command and wait for it; safe to call twice."""
        if self._process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGTERM)
        try:
            async with asyncio.timeout(2):
                await self._process.wait()
        except TimeoutError:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            await self._process.wait()
        self.sock.close()
        self._reader.cancel()
        await asyncio.wait([self._reader])

    async def _read_complaints(self) -> None:
        stderr = self._process.stderr
        while stderr is not None and (data := await stderr.read(_KEPT_BYTES)):
            self._complaints = (self._complaints + data)[-_KEPT_BYTES:]
