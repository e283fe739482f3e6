"""Frames the user's commands: one at a time, each with its start and its end as events, cancellable."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from specttui.errors import SpecttuiError, UsageError
from specttui.events import CommandFailed, CommandFinished, CommandStarted
from specttui.session.emitter import Emitter

Result = TypeVar("Result")


class CancelledByUserError(SpecttuiError):
    """The user cancelled a command; it stopped at a safe point."""


class CommandRunner:
    """Runs commands one after the other; a second one while the first runs is refused.

    Args:
        emitter: Where the commands' events go.
        readonly: Refuse every command that changes the host.
    """

    def __init__(self, emitter: Emitter, *, readonly: bool = False) -> None:
        self._emitter = emitter
        self._readonly = readonly
        self._count = 0
        self._task: asyncio.Task[Any] | None = None
        self._name = ""

    @property
    def running(self) -> str:
        """The name of the command in progress, or "" when none is."""
        return self._name if self._task is not None else ""

    async def run(
        self,
        name: str,
        detail: str,
        work: Callable[[], Coroutine[Any, Any, Result]],
        *,
        changes_host: bool = True,
        done: Callable[[Result], str] | None = None,
    ) -> Result:
        """Run one command to its end.

        Args:
            name: What the user calls it ("patch").
            detail: What it does to the host, for the recording.
            work: Does it.
            changes_host: Refused in a read-only session.
            done: Words for the finished event, from the result.

        Raises:
            SpecttuiError: Whatever went wrong, after CommandFailed was emitted.
        """
        self._count += 1
        command_id = self._count
        self._emitter.emit(CommandStarted(command_id=command_id, name=name, detail=detail))
        try:
            self._admit(name, changes_host=changes_host)
            result = await self._hold(name, work())
        except SpecttuiError as error:
            self._fail(command_id, name, error)
            raise
        except Exception as error:
            wrapped = SpecttuiError(
                f"{name} failed unexpectedly",
                cause=f"{type(error).__name__}: {error}",
                remedy="Look at the log and try again; if it goes on, report it with the session folder.",
            )
            self._fail(command_id, name, wrapped)
            raise wrapped from error
        outcome = done(result) if done is not None else ""
        self._emitter.emit(CommandFinished(command_id=command_id, name=name, detail=outcome))
        return result

    async def idle(self) -> None:
        """Wait until no command runs."""
        while self._task is not None:
            await asyncio.wait({self._task})
            await asyncio.sleep(0)  # whoever ran it clears it away

    async def cancel(self) -> None:
        """Cancel the command in progress and wait until it has stopped."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait({self._task})

    def _admit(self, name: str, *, changes_host: bool) -> None:
        if changes_host and self._readonly:
            raise UsageError(
                f"{name} would change the host, and this session is read-only",
                remedy="Start again without --readonly.",
            )
        if self._task is not None:
            raise UsageError(
                f"{self._name} is still running",
                remedy="Wait for it to end, or cancel it first.",
            )

    async def _hold(self, name: str, work: Coroutine[Any, Any, Result]) -> Result:
        self._name = name
        task = self._task = asyncio.ensure_future(work)
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            if not task.done():
                task.cancel()
                await asyncio.wait({task})
                raise
            raise CancelledByUserError(f"{name} was cancelled") from None
        finally:
            self._task = None

    def _fail(self, command_id: int, name: str, error: SpecttuiError) -> None:
        self._emitter.emit(
            CommandFailed(
                command_id=command_id,
                name=name,
                title=error.title,
                cause=error.cause,
                remedy=error.remedy,
            )
        )
