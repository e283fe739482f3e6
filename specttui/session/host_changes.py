"""What of ours is on the host (patched files, an edited configuration, overrides of units); undoing it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import PurePosixPath

from specttui.errors import SpecttuiError
from specttui.host.leftovers import clear_away
from specttui.host.locks import LockedError
from specttui.host.managers.overrides import Unit, UnitOverrides, in_words
from specttui.host.path_lock import PathLock
from specttui.host.remote import Remote
from specttui.session.api import Leftover
from specttui.session.draft_keeper import DraftKeeper
from specttui.session.emitter import Emitter
from specttui.session.leftover_watch import LeftoverWatch, edited_words
from specttui.session.leftovers import Found, belongs
from specttui.session.server_watch import ServerWatch
from specttui.session.worker_keeper import WorkerKeeper

#: One thing to be done, by what it is done to; several are done whatever becomes of the others.
Steps = dict[str, Callable[[], Awaitable[None]]]


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
        self._keeper = keeper
        self._watch = watch
        self._draft = draft
        self._overrides = overrides
        self._left = LeftoverWatch(remote, emitter, keeper, watch, draft, overrides)
        self._adopted: set[Unit] = set()
        keeper.beats.also(self._own_drop_ins)

    @property
    def patched(self) -> bool:
        """True while a worker file on the host holds our block, or the import hook waits there."""
        return bool(self._keeper.patched_paths) or self._watch.patched or self._keeper.hook.active

    @property
    def words(self) -> tuple[str, ...]:
        """What would stay on the host and was not ignored, one sentence each."""
        found = any(each.left.what == "patched file" for each in self._left.dead())
        patched = found or self._keeper.patched_paths or self._keeper.hook.active
        worker = ("The worker file on the host is patched.",) if patched else ()
        edited = sorted({*self._draft.changed_paths, *self._left.edited()})
        units = sorted({*self._own_units(), *self._left.units()})
        return (*worker, *edited_words(edited), *in_words(units))

    @property
    def leftovers(self) -> tuple[Leftover, ...]:
        """What other sessions left, or still use, and nothing was decided about yet."""
        return tuple(each.left for each in self._left.pending())

    async def look(self) -> None:
        """Look for what other sessions left, besides what discovery sees, and tell of what is new."""
        self._keeper.beats.begin()
        await self._left.look()

    def ignore(self) -> None:
        """Touch nothing of what was left, and ask no more about it."""
        self._left.settle(self._left.pending())

    def plan(self, worker_path: Callable[[], str]) -> tuple[str, ...]:
        """What restoring would bring back or take away: paths, and names of units.

        Args:
            worker_path: The worker file, for a session that knows of no change; raises where none is known.
        """
        return tuple(self._restoring(self._selected(), take_over=False)) or (worker_path(),)

    async def restore(self, worker_path: Callable[[], str], *, take_over: bool = False) -> None:
        """Bring everything back; what cannot be brought back keeps the rest from nothing.

        That is all of this session's, and what dead ones left and the user did not ignore. Where there is
        none of that, it is what was ignored, and what living sessions work on.

        Args:
            worker_path: As for `plan`.
            take_over: Also what living sessions work on.

        Raises:
            LockedError: A living session works on something; all else was brought back.
            SpecttuiError: The first of what could not be brought back; all else was.
        """
        steps = self._restoring(self._selected(), take_over=take_over)
        if not steps:
            path = worker_path()
            steps = {path: partial(self._restore_file, path, take_over=take_over)}
        await self._carry_out(steps)

    async def restore_leftovers(self, *, take_over: bool = False) -> None:
        """Bring back and clear away what others left, and nothing of this session's.

        Args:
            take_over: Also what living sessions work on.

        Raises:
            LockedError: A living session works on something; all else was done.
            SpecttuiError: The first of what could not be done; all else was.
        """
        await self._carry_out(self._restoring_of(self._left.pending(), take_over=take_over))

    async def adopt(self, *, take_over: bool = False) -> None:
        """Go on with what others left as this session's own.

        Args:
            take_over: Also what living sessions work on.

        Raises:
            LockedError: A living session works on something; all else was taken over.
            SpecttuiError: The first of what could not be taken over; all else was.
        """
        pending = self._left.pending()
        await self._carry_out(self._adopting(pending, take_over=take_over))
        self._left.settle(each for each in pending if not each.left.matters)

    async def unpatch(self, paths: Sequence[str] = ()) -> None:
        """Bring the original worker files back and remove the hook.

        Args:
            paths: Files that are not known to be patched, to be looked at all the same.

        Raises:
            WorkerFileError: One cannot be restored; the others were.
        """
        found = {self._watch.worker_path} if self._watch.patched else set()
        steps: Steps = {self._keeper.hook.path: self._keeper.hook.remove}
        for path in paths or sorted(self._keeper.patched_paths | found):
            steps[path] = partial(self._restore_file, path)
        await _all_of(steps)

    def _selected(self) -> tuple[Found, ...]:
        dead = self._left.dead()
        return dead or (() if self._own(take_over=False) else self._left.all())

    def _restoring(self, found: Iterable[Found], *, take_over: bool) -> Steps:
        return {**self._own(take_over=take_over), **self._restoring_of(found, take_over=take_over)}

    def _own(self, *, take_over: bool) -> Steps:
        """How each change of this session's is undone."""
        hook = self._keeper.hook
        steps: Steps = {hook.path: hook.remove} if hook.active else {}
        for path in (*sorted(self._keeper.patched_paths), *self._draft.changed_paths):
            steps[path] = partial(self._restore_file, path, take_over=take_over)
        for unit in self._own_units():
            steps[unit.name] = partial(self._undo, unit, take_over=take_over)
        return steps

    def _restoring_of(self, found: Iterable[Found], *, take_over: bool) -> Steps:
        """How each leftover is undone; one step for all that lies around a file."""
        steps: Steps = {}
        for each in found:
            if each.unit is not None:
                steps[each.unit.name] = partial(self._undo, each.unit, take_over=take_over)
            elif each.clear:
                steps[each.left.path] = partial(self._clear, each, take_over=take_over)
            else:
                path = self._left.name_of(each.file)
                steps[path] = partial(self._restore_file, path, take_over=take_over)
        return steps

    def _adopting(self, found: Sequence[Found], *, take_over: bool) -> Steps:
        """How each leftover becomes ours; of several hooks the newest, since a server loads one."""
        hooks = [each.left for each in found if each.left.what == "hook folder"]
        steps: Steps = {}
        for left in sorted(hooks, key=lambda left: left.age_s or 0.0)[:1]:
            steps[left.path] = partial(self._adopt_hook, left, take_over=take_over)
        for each in found:
            if each.unit is not None:
                steps[each.unit.name] = partial(self._adopt_override, each, each.unit, take_over=take_over)
            elif each.file:
                path = self._left.name_of(each.file)
                around = [other for other in found if other.file == each.file]
                steps[path] = partial(self._adopt_file, path, around, take_over=take_over)
            elif each.left.matters:
                steps.setdefault(each.left.path, partial(self._clear, each, take_over=take_over))
        return steps

    async def _carry_out(self, steps: Steps) -> None:
        try:
            await _all_of(steps)
        finally:
            await self._left.look()

    async def _restore_file(self, path: str, *, take_over: bool = False) -> None:
        if not path.endswith(".py"):  # no worker file: what it was is known from its backup alone
            await self._draft.restore_file(path, take_over=take_over)
            return
        current = path in {self._watch.worker_path, *self._keeper.patched_paths}
        await self._keeper.restore(path, take_over=take_over, tell=current or not self._watch.worker_path)
        self._watch.restored(path)

    async def _undo(self, unit: Unit, *, take_over: bool) -> None:
        lock = self._lock_of(unit)
        await lock.heartbeat(take_over=take_over)
        await lock.release()
        self._keeper.beats.let_go(lock.path)
        await self._overrides.undo(unit)
        self._adopted.discard(unit)

    async def _clear(self, found: Found, *, take_over: bool) -> None:
        own, of_session = self._keeper.session_id, found.left.session_id
        await clear_away(self._remote, found.clear, own, of_session=of_session, take_over=take_over)

    async def _adopt_file(self, path: str, found: Sequence[Found], *, take_over: bool) -> None:
        keeper = self._keeper if path.endswith(".py") else self._draft
        await keeper.adopt(path, take_over=take_over)
        self._left.settle(found)

    async def _adopt_hook(self, left: Leftover, *, take_over: bool) -> None:
        control = str(PurePosixPath(left.path).with_name(f"probe-{left.session_id}.json"))
        await self._keeper.adopt_hook(left.path, control, take_over=take_over)

    async def _adopt_override(self, found: Found, unit: Unit, *, take_over: bool) -> None:
        lock = self._lock_of(unit)
        await lock.heartbeat(take_over=take_over)
        self._keeper.beats.hold(lock)
        self._adopted.add(unit)
        self._left.settle([found])

    def _own_units(self) -> tuple[Unit, ...]:
        """The units whose override is this session's, or was adopted."""
        return tuple(unit for unit in self._overrides.active if unit in self._adopted or self._wrote(unit))

    def _wrote(self, unit: Unit) -> bool:
        writer = self._overrides.drop_in(unit).session_id.replace(".", "-")
        return belongs(writer, self._keeper.session_id)

    def _own_drop_ins(self) -> Iterator[PathLock]:
        return map(self._lock_of, self._own_units())

    def _lock_of(self, unit: Unit) -> PathLock:
        return PathLock(self._remote, self._overrides.drop_in(unit).path, self._keeper.session_id)


async def _all_of(steps: Steps) -> None:
    """Take every step, then tell of the first that failed; of what living sessions work on, all at once."""
    failures: list[SpecttuiError] = []
    for step in steps.values():
        try:
            await step()
        except SpecttuiError as error:
            failures.append(error)
    locked = [error for error in failures if isinstance(error, LockedError)]
    if locked:
        raise LockedError(locked[0].path, locked[0].holder, locked[1:])
    if failures:
        raise failures[0]
