"""What the rest of the host layer needs of a remote machine: commands in, bytes out."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class CommandResult:
    """What a remote command gave. Output is bytes: the remote side may print anything."""

    argv: tuple[str, ...]
    exit_status: int
    stdout: bytes
    stderr: bytes

    @property
    def ok(self) -> bool:
        """True when the command exited with 0."""
        return self.exit_status == 0

    @property
    def text(self) -> str:
        """Standard output as text, undecodable bytes replaced, without the last newline."""
        return self.stdout.decode("utf-8", "replace").rstrip("\n")


class Remote(Protocol):
    """A machine that runs commands: an SSH connection, or a stand-in for tests.

    Everything is an argv, rendered by one quoting function and run by `/bin/sh -c`, whatever the login
    shell is. Output is framed by markers, so what a shell prints at start-up never reaches the result.
    """

    @property
    def name(self) -> str:
        """The host as the user wrote it, for messages and envelopes."""
        ...

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
        """Run one command to its end.

        Args:
            argv: The command; never a shell line.
            stdin: Bytes for its standard input.
            env: Variables added to its environment.
            cwd: Its working folder.
            timeout_s: Seconds until it is given up.
            check: Raise RemoteCommandError when it exits with anything but 0.

        Raises:
            ConnectionLostError: The connection broke; the command may or may not have run.
            RemoteCommandError: It could not be started, took too long, or failed with `check`.
        """
        ...

    def stream(
        self, argv: Sequence[str], *, env: Mapping[str, str] | None = None
    ) -> AbstractAsyncContextManager[AsyncIterator[bytes]]:
        """Run a command that goes on; yields its output in chunks as it comes, stderr merged.

        Leaving the context ends the remote command. The iterator ends when the command does.

        Raises:
            ConnectionLostError: The connection broke.
        """
        ...
