"""Follows a log in the background and keeps what came, so that a test can wait for it."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing, asynccontextmanager

from specttui.events import LogSource
from specttui.host.remote import Remote
from specttui.host.tail import Chunk, FromEnd, Notice, Position, TailItem, TailStart, follow

_NEAR_END = FromEnd()


class Collector:
    """What a followed log gave so far."""

    def __init__(self) -> None:
        self.items: list[TailItem] = []
        self.task: asyncio.Task[None] | None = None

    @property
    def data(self) -> bytes:
        """All bytes."""
        return b"".join(item.data for item in self.items if isinstance(item, Chunk))

    @property
    def notices(self) -> list[str]:
        """What happened to the log, in order."""
        return [item.what for item in self.items if isinstance(item, Notice)]

    @property
    def position(self) -> Position:
        """The place after the last chunk."""
        return next(item.position for item in reversed(self.items) if isinstance(item, Chunk))

    async def until(self, condition: Callable[[Collector], bool], timeout_s: float = 40.0) -> None:
        """Wait until the collected items fulfil a condition."""
        deadline = asyncio.get_running_loop().time() + timeout_s
        while not condition(self):
            assert self.task is not None
            if self.task.done():
                self.task.result()
            now = asyncio.get_running_loop().time()
            assert now < deadline, (self.data[-300:], self.items[-5:])
            await asyncio.sleep(0.02)

    async def until_data(self, data: bytes) -> None:
        """Wait until the bytes so far end with these."""
        await self.until(lambda self: self.data.endswith(data))


@asynccontextmanager
async def following(
    remote: Remote, source: LogSource, start: TailStart = _NEAR_END
) -> AsyncIterator[Collector]:
    """Follow a log while the context lasts; leaving it cuts the connection."""
    collector = Collector()

    async def collect() -> None:
        async with aclosing(follow(remote, source, start=start)) as items:
            async for item in items:
                collector.items.append(item)

    collector.task = asyncio.create_task(collect())
    try:
        yield collector
    finally:
        collector.task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await collector.task
