"""A unit that crashes in our own probe would be started again every few seconds: that is ended by us."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress

from specttui.errors import SpecttuiError
from specttui.events import Alert, Event, FailureSeen, ManagerKind, Severity
from specttui.host.managers.overrides import Unit, UnitOverrides
from specttui.session.commands import CommandRunner
from specttui.session.emitter import Emitter
from specttui.session.restarts import Restarter


class CrashLoop:
    """Watches the log of a systemd unit for crashes inside our block.

    Args:
        commands: Frames what is done, and refuses it in a read-only session.
        emitter: Is told what was done.
        restarter: Knows the manager; while it starts a server, it looks after crashes itself.
        overrides: Stops units.
        patched: Whether a worker file holds our block.
        unpatch: Brings the originals back.
    """

    def __init__(
        self,
        commands: CommandRunner,
        emitter: Emitter,
        restarter: Restarter,
        overrides: UnitOverrides,
        *,
        patched: Callable[[], bool],
        unpatch: Callable[[], Awaitable[None]],
    ) -> None:
        self._commands = commands
        self._emitter = emitter
        self._restarter = restarter
        self._overrides = overrides
        self._patched = patched
        self._unpatch = unpatch
        self._ending: asyncio.Task[None] | None = None

    def saw(self, event: Event) -> None:
        """Told of each event of the log."""
        ours = isinstance(event, FailureSeen) and event.fatal and event.in_probe
        unit = self._restarter.manager.kind is ManagerKind.SYSTEMD and not self._restarter.busy
        if ours and unit and self._patched() and (self._ending is None or self._ending.done()):
            self._ending = asyncio.create_task(self._end(), name="end crash loop")

    async def close(self) -> None:
        """End with the session."""
        if self._ending is not None:
            self._ending.cancel()
            with suppress(asyncio.CancelledError):
                await self._ending

    async def _end(self) -> None:
        await self._commands.idle()
        name = self._restarter.manager.name
        with suppress(SpecttuiError):  # told as the command's failure
            await self._commands.run(
                "end crash loop",
                f"the unit {name} crashes in our probe: bring its original worker file back",
                self._restore_or_stop,
                done=lambda what: what,
            )

    async def _restore_or_stop(self) -> str:
        unit = Unit.of(self._restarter.manager)
        try:
            await self._unpatch()
        except SpecttuiError as error:
            await self._overrides.stop(unit)
            text = f"The unit {unit.name} crashed in our probe, and the original could not be restored"
            self._tell(f"{text}: the unit was stopped", f"{error.title}. {error.remedy}".strip())
            return "unit stopped"
        self._tell(
            f"The unit {unit.name} crashed in our probe: the original worker file was restored",
            f"systemd starts it again by itself; look again with f5. If it gave up: "
            f"{unit.control} restart {unit.name}",
        )
        return "original restored"

    def _tell(self, message: str, remedy: str) -> None:
        self._emitter.emit(Alert(severity=Severity.ERROR, message=message, remedy=remedy))
