"""Pumps a server's log into events: follows it, parses it, survives broken connections without loss."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import aclosing, suppress

from specttui.errors import ConnectionLostError, RemoteCommandError
from specttui.events import Alert, Event, LogNotice, LogSource, Severity
from specttui.host.remote import Remote
from specttui.host.tail import Chunk, Notice, Position, TailItem, TailStart, follow
from specttui.log.parser import LogParser
from specttui.session.emitter import Emitter

#: How often pending log lines go to the screen: one write for many lines.
FLUSH_S = 0.4
#: How long to wait before following again after the connection broke.
RETRY_S = 0.5


class LogPump:
    """Follows one log at a time.

    Args:
        remote: The host; its `run` and `stream` raise ConnectionLostError while it is away.
        emitter: Takes the events.
        on_event: Called with each event after it was emitted; for what commands wait for.
    """

    def __init__(self, remote: Remote, emitter: Emitter, on_event: Callable[[Event], None]) -> None:
        self._remote = remote
        self._emitter = emitter
        self._on_event = on_event
        self._tasks: list[asyncio.Task[None]] = []
        self._parser = LogParser()
        self.source: LogSource | None = None

    async def begin(self, source: LogSource, start: TailStart) -> None:
        """Follow this log from now on, instead of the one before."""
        await self.stop()
        self.source = source
        self._parser = LogParser()
        self._tasks = [
            asyncio.create_task(self._pump(source, start), name="log pump"),
            asyncio.create_task(self._flush_often(), name="log flush"),
        ]

    async def stop(self) -> None:
        """Follow nothing; what was read and not yet told is told."""
        tasks, self._tasks = self._tasks, []
        for task in tasks:
            task.cancel()
        for task in tasks:
            with suppress(asyncio.CancelledError):
                await task
        if self.source is not None:
            self._tell(self._parser.finish())
            self.source = None

    async def _pump(self, source: LogSource, start: TailStart) -> None:
        while True:
            try:
                async with aclosing(follow(self._remote, source, start=start)) as items:
                    async for item in items:
                        start = self._take(item) or start
            except ConnectionLostError:
                await asyncio.sleep(RETRY_S)
                continue
            except RemoteCommandError as error:
                self._emitter.emit(
                    Alert(severity=Severity.ERROR, message=error.title, remedy=error.remedy or error.cause)
                )
            return

    def _take(self, item: TailItem) -> Position | None:
        match item:
            case Chunk(data, _, position):
                self._tell(self._parser.feed(data))
                return position
            case Notice(what, detail):
                self._tell([LogNotice(what=what, detail=detail)])
                if what == "cannot_follow":
                    self._emitter.emit(
                        Alert(
                            severity=Severity.WARNING,
                            message="The server's log cannot be followed",
                            remedy=detail,
                        )
                    )
        return None

    def _tell(self, events: list[Event]) -> None:
        for event in events:
            self._emitter.emit(event)
            self._on_event(event)

    async def _flush_often(self) -> None:
        while True:
            await asyncio.sleep(FLUSH_S)
            self._tell(self._parser.flush())
