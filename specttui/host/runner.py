"""The parts of a remote that most of this layer needs: one command to its end, or one that goes on."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Protocol

from specttui.host.remote import CommandResult


class Runner(Protocol):
    """Runs commands: any `Remote` does, and `Sudo` does it as root."""

    @property
    def name(self) -> str:
        """The host's name for messages."""
        ...

    async def run(self, argv: Sequence[str], *, stdin: bytes = b"", timeout_s: float = 30.0) -> CommandResult:
        """Run one command to its end; see `Remote.run`."""
        ...


class Streamer(Protocol):
    """Runs commands that go on: any `Remote` does, and `OtherUser` does it as somebody else."""

    @property
    def name(self) -> str:
        """The host's name for messages."""
        ...

    def stream(self, argv: Sequence[str]) -> AbstractAsyncContextManager[AsyncIterator[bytes]]:
        """Run a command that goes on; see `Remote.stream`."""
        ...
