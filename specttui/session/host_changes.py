"""What of ours is on the host (patched files, an edited configuration, overrides of units); undoing it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress

from specttui.errors import SpecttuiError, WorkerFileError
from specttui.events import Alert, Severity
from specttui.host.leftovers import find_journals
from specttui.host.managers.overrides import Unit, UnitOverrides, in_words
from specttui.host.remote import Remote
from specttui.session.draft_keeper import DraftKeeper
from specttui.session.emitter import Emitter
from specttui.session.server_watch import ServerWatch
from specttui.session.worker_keeper import WorkerKeeper

_LEFT = "An earlier session, or another one, left this: {}"
_LEFT_REMEDY = "Go on with it, or undo it with x."


class HostChanges:
    """Everything that a session, or one before it, changed on the host.

    Args:
        remote: The host.
        emitter: Is told of what was left.
        keeper: The worker files.
        watch: Knows which worker file was found patched.
        draft: The draft's configuration.
        overrides: The units' overrides.
    """

    def __init__(
        self,
        remote: Remote,
        emitter: Emitter,
        keeper: WorkerKeeper,
        watch: ServerWatch,
        draft: DraftKeeper,
        overrides: UnitOverrides,
    ) -> None:
        self._remote = remote
        self._emitter = emitter
        self._keeper = keeper
        self._watch = watch
        self._draft = draft
        self._overrides = overrides
        self._looked = False

    @property
    def patched(self) -> bool:
        """True while a worker file on the host holds our block, or the import hook waits there."""
        return bool(self._keeper.patched_paths) or self._watch.patched or self._keeper.hook.active

    @property
    def words(self) -> tuple[str, ...]:
        """What would stay on the host, one sentence each."""
        worker = ("The worker file on the host is patched.",) if self.patched else ()
        return (*worker, *self._others())

    def _others(self) -> tuple[str, ...]:
        edited = (f"The draft's {path} is edited." for path in self._draft.changed_paths)
        return (*edited, *in_words(self._overrides.active))

    async def look(self) -> None:
        """Look once for what earlier sessions left besides a patched worker file, which discovery sees."""
        if self._looked:
            return
        with suppress(SpecttuiError):  # what is left waits for the next look
            records, _ = await asyncio.gather(find_journals(self._remote), self._overrides.find())
            edited = {each.path: each.original_sha256 for each in records if each.path.endswith(".json")}
            self._draft.left_behind(edited)
            self._looked = True
        for words in self._others():
            self._emitter.emit(
                Alert(severity=Severity.WARNING, message=_LEFT.format(words), remedy=_LEFT_REMEDY)
            )

    def plan(self, worker_path: Callable[[], str]) -> tuple[str, ...]:
        """What restoring would bring back: paths of files and names of units.

        Args:
            worker_path: The worker file, for a session that knows of no change; raises where none is known.
        """
        workers = self._worker_paths() or (() if self._others() else (worker_path(),))
        units = (unit.name for unit in self._overrides.active)
        return (*workers, *self._draft.changed_paths, *units)

    def _worker_paths(self) -> tuple[str, ...]:
        found = {self._watch.worker_path} if self._watch.patched else set()
        return tuple(sorted(self._keeper.patched_paths | found))

    async def restore(self, worker_path: Callable[[], str]) -> None:
        """Bring everything back; what cannot be brought back keeps the rest from nothing.

        Args:
            worker_path: As for `plan`.

        Raises:
            SpecttuiError: The first of what could not be brought back; all else was.
        """
        failures: list[SpecttuiError] = []
        nothing_known = not self.words
        try:
            await self.unpatch([worker_path()] if nothing_known else ())
        except SpecttuiError as error:
            failures.append(error)
        for undo in (self._draft.restore, *(self._undo(unit) for unit in self._overrides.active)):
            try:
                await undo()
            except SpecttuiError as error:
                failures.append(error)
        if failures:
            raise failures[0]

    def _undo(self, unit: Unit) -> Callable[[], Awaitable[None]]:
        async def undo() -> None:
            await self._overrides.undo(unit)

        return undo

    async def unpatch(self, paths: Sequence[str] = ()) -> None:
        """Bring the original worker files back and remove the hook.

        Args:
            paths: Files that are not known to be patched, to be looked at all the same.

        Raises:
            WorkerFileError: One cannot be restored; the others were.
        """
        failures: list[WorkerFileError] = []
        await self._keeper.hook.remove()
        for path in paths or self._worker_paths():
            try:
                await self._keeper.restore(path)
                self._watch.restored(path)
            except WorkerFileError as error:
                failures.append(error)
        if failures:
            raise failures[0]
