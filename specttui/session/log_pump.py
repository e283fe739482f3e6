"""Pumps a server's log into events: follows it, parses it, survives broken connections without loss."""

from __future__ import annotations

import asyncio
import gc
import time
from collections.abc import Callable
from contextlib import aclosing, suppress
from functools import cache

from specttui.errors import ConnectionLostError, RemoteCommandError, SpecttuiError
from specttui.events import Alert, Event, LogNotice, LogSource, Severity
from specttui.host.hidden_log import HiddenLog
from specttui.host.managers.own_log import OwnLog
from specttui.host.remote import Remote
from specttui.host.tail import Chunk, FromEnd, Notice, Position, TailItem, TailStart, follow
from specttui.log.parser import LogParser
from specttui.session.emitter import Emitter

#: How often pending log lines go to the screen: one write for many lines.
FLUSH_S = 0.4
#: How long to wait before following again after the connection broke.
RETRY_S = 0.5
#: How long to wait after the follow process could not be run: what hinders it rarely passes at once.
REFUSED_RETRY_S = 15.0
#: The log of a server that has ended is quiet when nothing came for so long; that is waited for so long.
QUIET_S = 0.5
LONGEST_DRAIN_S = 3.0
#: A burst is worked off in turns: after so long, everybody else is let in, for so many rounds of the event
#: loop: a key press passes through several tasks until the screen is painted.
TURN_S = 0.002
_ROUNDS = 6
_PIECE_BYTES = 4096
#: After these the bytes go on elsewhere: a line that has no end yet will never get one.
_BREAKS = frozenset({"truncated", "rotated", "replaced", "hole", "skipped"})


class LogPump:
    """Follows one log at a time.

    Args:
        remote: The host; its `run` and `stream` raise ConnectionLostError while it is away.
        emitter: Takes the events.
        on_event: Called with each event after it was emitted; for what commands wait for.
        own: Follows the profile's own log command instead of the log that was found; or that through sudo.
    """

    def __init__(
        self,
        remote: Remote,
        emitter: Emitter,
        on_event: Callable[[Event], None],
        own: OwnLog | HiddenLog | None = None,
    ) -> None:
        self._follow = own or follow
        self._remote = remote
        self._emitter = emitter
        self._on_event = on_event
        self._tasks: list[asyncio.Task[None]] = []
        self._parser = LogParser()
        self._start: TailStart = FromEnd()
        self.source: LogSource | None = None
        self._read_s = 0.0

    @property
    def following(self) -> bool:
        """True while the log is read, or about to be read again after an interruption."""
        return bool(self._tasks) and not any(task.done() for task in self._tasks)

    async def begin(self, source: LogSource, start: TailStart) -> None:
        """Follow this log from now on, instead of the one before."""
        await self.stop()
        _keep_what_is_loaded()
        self.source, self._start = source, start
        self._parser = LogParser()
        self._set_out(source)

    async def pause(self) -> None:
        """Read on until the log is quiet, then no further; `resume` goes on there, `begin` elsewhere."""
        began_s = time.monotonic()
        while self.following and time.monotonic() - began_s < LONGEST_DRAIN_S:
            if time.monotonic() - max(self._read_s, began_s) >= QUIET_S:
                break
            await asyncio.sleep(QUIET_S / 5)
        await self._end_tasks()

    async def resume(self) -> None:
        """Follow the same log on, where reading it stopped; nothing is read twice."""
        if self.source is not None:
            await self._end_tasks()
            self._set_out(self.source)

    def _set_out(self, source: LogSource) -> None:
        self._tasks = [
            asyncio.create_task(self._pump(source), name="log pump"),
            asyncio.create_task(self._flush_often(), name="log flush"),
        ]
        for task in self._tasks:
            task.add_done_callback(self._ended)

    async def stop(self) -> None:
        """Follow nothing; what was read and not yet told is told."""
        await self._end_tasks()
        if self.source is not None:
            self._tell(self._parser.finish())
            self.source = None

    async def _end_tasks(self) -> None:
        tasks, self._tasks = self._tasks, []
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)  # awaiting one by itself would swallow our own cancellation

    async def _pump(self, source: LogSource) -> None:
        while True:
            try:
                async with aclosing(self._follow(self._remote, source, start=self._start)) as items:
                    async for item in items:
                        self._start = await self._take(item) or self._start
            except ConnectionLostError:
                await asyncio.sleep(RETRY_S)
            except RemoteCommandError as error:
                self._warn(error.title, error.remedy or error.cause, Severity.ERROR)
                await asyncio.sleep(REFUSED_RETRY_S)
            else:
                return

    async def _take(self, item: TailItem) -> Position | None:
        match item:
            case Chunk(data, _, position):
                self._read_s = time.monotonic()
                await self._parse(data)
                return position
            case Notice(what, detail):
                if what in _BREAKS:
                    self._parser.cut()
                self._tell([LogNotice(what=what, detail=detail)])
                if what == "cannot_follow":
                    self._warn("The server's log cannot be followed", detail)
        return None

    async def _parse(self, data: bytes) -> None:
        """Parse and tell bytes in turns, so that a burst never holds up the screen."""
        turn_ends = time.monotonic() + TURN_S
        for begin in range(0, len(data), _PIECE_BYTES):
            self._tell(self._parser.feed(data[begin : begin + _PIECE_BYTES]))
            if time.monotonic() >= turn_ends:
                await _let_others_in()
                turn_ends = time.monotonic() + TURN_S
        await _let_others_in()

    def _tell(self, events: list[Event]) -> None:
        for event in events:
            self._emitter.emit(event)
            self._on_event(event)

    async def _flush_often(self) -> None:
        while True:
            await asyncio.sleep(FLUSH_S)
            self._tell(self._parser.flush())

    def _ended(self, task: asyncio.Task[None]) -> None:
        """A task that died of an error of ours is told: figures that stand still must not look alive."""
        error = None if task.cancelled() else task.exception()
        if error is None:
            return
        cause = str(error) or type(error).__name__
        with suppress(SpecttuiError):  # the recording itself may be what failed; its command says so
            self._warn(f"Reading the log stopped: {cause}", "Press f5 to look again.", Severity.ERROR)

    def _warn(self, message: str, remedy: str, severity: Severity = Severity.WARNING) -> None:
        self._emitter.emit(Alert(severity=severity, message=message, remedy=remedy))


@cache
def _keep_what_is_loaded() -> None:
    """Tell the garbage collector, once, that what is loaded by now stays.

    A full collection goes through every object of every module, a hundred thousand of them, and a burst of
    lines brings one about every few seconds: each held up the keys by 50 to 100 ms.
    """
    gc.freeze()


async def _let_others_in() -> None:
    for _ in range(_ROUNDS):
        await asyncio.sleep(0)
