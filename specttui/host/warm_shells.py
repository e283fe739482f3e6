"""Shells that were started ahead and wait for a script: a command given to one costs a single round trip.

Opening a channel and starting a command on it are two round trips before the command's own. On a distant
host that is most of what a short command takes, so two shells are kept ready; each runs one script.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable

from specttui.host.exchange import Process

#: So many keep pace with commands that follow each other: while one runs, its successor is being started.
MOST = 2


class WarmShells:
    """Keeps shells ready.

    Args:
        open_shell: Starts one; gives None where the host does not allow another.
    """

    def __init__(self, open_shell: Callable[[], Awaitable[Process | None]]) -> None:
        self._open_shell = open_shell
        self._ready: deque[Process] = deque()
        self._opening: set[asyncio.Task[None]] = set()

    @property
    def count(self) -> int:
        """Those that are ready or about to be: each takes a channel."""
        return len(self._ready) + len(self._opening)

    def prepare(self, room: int) -> None:
        """Start what is missing, in the background.

        Args:
            room: How many channels there are left for it.
        """
        for _ in range(min(MOST - self.count, room)):
            task = asyncio.create_task(self._open(), name="warm shell")
            self._opening.add(task)
            task.add_done_callback(self._opening.discard)

    async def take(self) -> Process | None:
        """A shell that is ready, or that will be sooner than a new one; None when there is none."""
        while True:
            while self._ready:
                process = self._ready.popleft()
                if not _is_gone(process):
                    return process
            if not self._opening:
                return None
            await asyncio.wait(self._opening, return_when=asyncio.FIRST_COMPLETED)

    async def close(self) -> None:
        """Let go of all; they end on the host when their channels do."""
        opening = list(self._opening)
        for task in opening:
            task.cancel()
        if opening:
            await asyncio.wait(opening)
        while self._ready:
            self._ready.popleft().close()

    async def _open(self) -> None:
        process = await self._open_shell()
        if process is not None:
            self._ready.append(process)


def _is_gone(process: Process) -> bool:
    """True for a shell that ended while it waited: hosts may close idle channels, and shells have limits."""
    return process.exit_status is not None or process.exit_signal is not None or process.is_closing()
