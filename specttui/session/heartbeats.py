"""Signs of life for the locks that a session holds on a host, and giving them back in the end."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager, suppress

from specttui.errors import SpecttuiError, WorkerFileChangedError, WorkerFileError
from specttui.events import Alert, Severity
from specttui.host.locks import LockedError
from specttui.host.path_lock import Held
from specttui.session.emitter import Emitter

#: How often a held lock shows that its session lives; it counts as dead after two minutes.
HEARTBEAT_S = 30.0
#: How long leaving may take to give the locks back.
RELEASE_S = 3.0


class Heartbeats:
    """Renews what is held while the session lasts.

    Args:
        emitter: Is told when another session takes something over; None tells nobody.
    """

    def __init__(self, emitter: Emitter | None = None) -> None:
        self._emitter = emitter
        self._held: dict[str, Held] = {}
        self._sources: list[Callable[[], Iterable[Held]]] = []
        self._task: asyncio.Task[None] | None = None

    def hold(self, held: Held) -> None:
        """Renew this lock, which is ours, from now on."""
        self._held[held.path] = held
        self.begin()

    @asynccontextmanager
    async def holding(self, held: Held, *, kept: bool) -> AsyncIterator[None]:
        """While something is done that takes this lock: it is ours from then on, unless that fails.

        When the connection breaks nobody knows whether it was taken, so it counts as ours.

        Args:
            held: The lock.
            kept: It is to stay ours also when what is done fails: there is something that it stands for.
        """
        self.hold(held)
        try:
            yield
        except LockedError:
            self.let_go(held.path)
            raise
        except WorkerFileError:
            if not kept:
                self.let_go(held.path)
                with suppress(SpecttuiError):
                    await held.release()
            raise

    def let_go(self, path: str) -> None:
        """Renew this one no longer: it was given back."""
        self._held.pop(path, None)

    def also(self, source: Callable[[], Iterable[Held]]) -> None:
        """Ask at every beat what else is to be held; see `begin`."""
        self._sources.append(source)

    def begin(self) -> None:
        """Beat from now on, if it does not yet."""
        if self._task is None:
            self._task = asyncio.create_task(self._beat_on(), name="locks on the host")

    async def close(self) -> None:
        """Stop, and give everything back; on a host that is away the locks go stale by themselves."""
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task
            self._task = None
        with suppress(TimeoutError):
            async with asyncio.timeout(RELEASE_S):
                for held in self._held.values():
                    with suppress(SpecttuiError):
                        await held.release()
        self._held.clear()

    async def beat(self) -> None:
        """Show that the session lives, at everything it holds."""
        for source in self._sources:
            self._held.update({held.path: held for held in source()})
        for path, held in list(self._held.items()):
            try:
                await held.heartbeat()
            except LockedError as error:
                self._held.pop(path, None)
                self._tell(error)
            except WorkerFileChangedError:  # it is not there any more
                self._held.pop(path, None)
                with suppress(SpecttuiError):
                    await held.release()
            except SpecttuiError:
                continue  # a beat that does not come through says nothing; the next one may

    async def _beat_on(self) -> None:
        while True:
            await asyncio.sleep(HEARTBEAT_S)
            await self.beat()

    def _tell(self, error: LockedError) -> None:
        if self._emitter is not None:
            self._emitter.emit(
                Alert(
                    severity=Severity.WARNING,
                    message=f"Another session has taken {error.path} over",
                    remedy=f"{error.holder.words}. Agree with its user on who restores it.",
                )
            )
