"""Looks after a served host now and then: does the server still live, and what do the GPUs say."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress

from specttui.errors import SpecttuiError
from specttui.events import GpuSampled
from specttui.host.gpus import sample_gpus
from specttui.host.remote import Remote
from specttui.session.emitter import Emitter

#: Seconds between two looks at the server's process.
ALIVE_S = 3.0
#: Seconds between two looks at the GPUs.
GPU_S = 5.0
#: Seconds between two looks at SGLang's own timers.
TIMERS_S = 10.0

#: Field 22 of /proc/PID/stat, the start time; the name before it may hold spaces and parentheses.
_START_TICKS = "sed 's/.*) //' \"/proc/$1/stat\" 2>/dev/null | cut -d' ' -f20"


class Watch:
    """Periodic looks, each a command of its own, none while the connection is away.

    Args:
        remote: The host.
        emitter: Takes the GPU samples.
        server: The launcher to watch as (pid, start ticks), or None while there is none to watch.
        on_gone: Called once when that process is no more.
        look_at_timers: Reads the server's own timers, where it keeps some.
    """

    def __init__(
        self,
        remote: Remote,
        emitter: Emitter,
        server: Callable[[], tuple[int, int] | None],
        on_gone: Callable[[int], Awaitable[None]],
        look_at_timers: Callable[[], Awaitable[None]],
    ) -> None:
        self._remote = remote
        self._emitter = emitter
        self._server = server
        self._on_gone = on_gone
        self._look_at_timers = look_at_timers
        self._tasks: list[asyncio.Task[None]] = []

    def begin(self) -> None:
        """Look from now on."""
        if not self._tasks:
            self._tasks = [
                asyncio.create_task(self._every(ALIVE_S, self._look_at_server), name="watch server"),
                asyncio.create_task(self._every(GPU_S, self._look_at_gpus), name="watch gpus"),
                asyncio.create_task(self._every(TIMERS_S, self._look_at_timers), name="watch timers"),
            ]

    async def stop(self) -> None:
        """Look no more."""
        tasks, self._tasks = self._tasks, []
        for task in tasks:
            task.cancel()
        for task in tasks:
            with suppress(asyncio.CancelledError):
                await task

    async def _every(self, seconds: float, look: Callable[[], Awaitable[None]]) -> None:
        while True:
            await asyncio.sleep(seconds)
            # A look that fails says nothing about the server; the connection tells of itself.
            with suppress(SpecttuiError):
                await look()

    async def _look_at_server(self) -> None:
        watched = self._server()
        if watched is None:
            return
        pid, start_ticks = watched
        result = await self._remote.run(["sh", "-c", _START_TICKS, "sh", str(pid)], timeout_s=10.0)
        if self._server() == watched and result.text.strip() != str(start_ticks):
            await self._on_gone(pid)

    async def _look_at_gpus(self) -> None:
        gpus = await sample_gpus(self._remote)
        if gpus:
            self._emitter.emit(GpuSampled(gpus=gpus))
