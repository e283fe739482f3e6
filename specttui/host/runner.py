"""The part of a remote that most of this layer needs: one command to its end."""

from __future__ import annotations

from collections.abc import Sequence
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
