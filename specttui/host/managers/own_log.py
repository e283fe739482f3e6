"""Follow a log through the profile's own command."""

from __future__ import annotations

import asyncio
import shlex
from collections.abc import AsyncGenerator, Sequence

from specttui.errors import RemoteCommandError
from specttui.events import LogSource
from specttui.host.remote import Remote
from specttui.host.tail import Chunk, Notice, Position, TailItem, TailStart

_REOPEN_S = 1.0
_TRIES = 3


class OwnLog:
    """Follows whatever a command prints; takes the place of `specttui.host.tail.follow`.

    Args:
        argv: The command. It prints new lines only: it is run anew after it ended and after a reconnect, and
            nothing tells what was printed before.
    """

    def __init__(self, argv: Sequence[str]) -> None:
        self._argv = tuple(argv)

    async def __call__(
        self, remote: Remote, source: LogSource, *, start: TailStart
    ) -> AsyncGenerator[TailItem]:
        """Follow for ever; see `specttui.host.tail.follow`. Source and start are the command's own affair.

        Raises:
            ConnectionLostError: The connection broke.
            RemoteCommandError: The command ends at once, several times in a row.
        """
        del source
        offset = start.offset if isinstance(start, Position) else 0
        barren = 0
        while True:
            said = b""
            async with remote.stream(self._argv) as chunks:
                async for piece in chunks:
                    said = (said + piece)[-500:]
                    barren, offset = 0, offset + len(piece)
                    yield Chunk(piece, offset - len(piece), Position(offset=offset))
            barren += 1
            if barren >= _TRIES:
                raise RemoteCommandError(
                    f"The profile's log command ends again and again on {remote.name}",
                    cause=said.decode("utf-8", "replace").strip() or shlex.join(self._argv),
                    remedy=f"Run it by hand on the host: {shlex.join(self._argv)}",
                )
            yield Notice("reopened", "the log command ended")
            await asyncio.sleep(_REOPEN_S)
