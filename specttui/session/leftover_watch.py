"""Looks for what other sessions left on a host, tells of it once, and keeps what was decided about it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import PurePosixPath

from specttui.errors import SpecttuiError
from specttui.events import Alert, Severity
from specttui.host.leftovers import Traces, find_traces
from specttui.host.managers.overrides import DropIn, Unit, UnitOverrides, in_words
from specttui.host.remote import Remote
from specttui.session import leftovers
from specttui.session.api import Leftover
from specttui.session.draft_keeper import DraftKeeper
from specttui.session.emitter import Emitter
from specttui.session.leftovers import Found, edit_of, find_leftovers, holder_words
from specttui.session.server_watch import ServerWatch
from specttui.session.worker_keeper import WorkerKeeper

_LEFT = "An earlier session, or another one, left this: {}"
_LEFT_REMEDY = "Go on with it, or undo it with x."
_ALIVE_REMEDY = "Agree with its user; nothing of it is touched unless you take it over."


class LeftoverWatch:
    """What other sessions left on one host.

    Args:
        remote: The host.
        emitter: Is told of what was left.
        keeper: The worker files of this session.
        watch: Knows which worker file was found patched.
        draft: Is told which configurations were found edited.
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
        self._traces = Traces()
        self._read: tuple[dict[Unit, DropIn], tuple[Found, ...]] | None = None
        self._settled: set[tuple[str, str]] = set()
        self._told: set[str] = set()

    def pending(self) -> tuple[Found, ...]:
        """What nothing was decided about yet."""
        return tuple(each for each in self.all() if each.key not in self._settled)

    def dead(self) -> tuple[Found, ...]:
        """The same, without what living sessions still use."""
        return tuple(each for each in self.pending() if not each.left.alive)

    def all(self) -> tuple[Found, ...]:
        """Whatever is there, also what was ignored."""
        found = self._noted()
        return (*self._patched_unnoted(found), *found)

    def _noted(self) -> tuple[Found, ...]:
        """What the last look saw; read off once, since the screen asks at every tick."""
        overrides = {unit: self._overrides.drop_in(unit) for unit in self._overrides.active}
        if self._read is None or self._read[0] != overrides:
            self._read = overrides, find_leftovers(self._traces, overrides, own=self._keeper.session_id)
        return self._read[1]

    def settle(self, found: Iterable[Found]) -> None:
        """Something was decided about these; they are not asked about again."""
        self._settled |= {each.key for each in found}

    def name_of(self, file: str) -> str:
        """A guarded file by the path under which the session knows it; links may lead there."""
        path = self._watch.worker_path
        current = self._emitter.state.worker_file
        if current is None or PurePosixPath(path).name != PurePosixPath(file).name:
            return file
        same = (
            around.sha256 == current.sha256 for around in self._traces.files if around.resolved_path == file
        )
        return path if any(same) else file

    def edited(self) -> tuple[str, ...]:
        """Configurations that hold a dead session's edit and were not ignored."""
        return tuple(each.left.path for each in self.dead() if each.left.what == "edited config")

    def units(self) -> tuple[Unit, ...]:
        """Units with a dead session's override that was not ignored."""
        return tuple(sorted(each.unit for each in self.dead() if each.unit is not None))

    async def look(self) -> None:
        """Look, with two commands at once, and tell of what is new; tell nothing when that fails."""
        with suppress(SpecttuiError):  # what is left waits for the next look
            self._traces, _ = await asyncio.gather(find_traces(self._remote), self._overrides.find())
            self._read = None
            self._draft.left_behind(dict(self._originals()))
            self._tell()

    def _patched_unnoted(self, found: Iterable[Found]) -> Iterator[Found]:
        """A worker file that holds a block although no record says so: its host's cache was emptied."""
        path = self._watch.worker_path
        noted = {self.name_of(each.file) for each in found if each.left.what == "patched file"}
        if self._watch.patched and path not in noted | self._keeper.patched_paths:
            yield Found(Leftover(path, "patched file"), file=path)

    def _originals(self) -> Iterator[tuple[str, str]]:
        """The configurations that others edited, with their originals' sha256."""
        edited = {each.left.path for each in self.all() if each.left.what == "edited config"}
        for around in self._traces.files:
            record = edit_of(around)
            if record is not None and around.resolved_path in edited:
                yield around.resolved_path, record.original_sha256

    def _tell(self) -> None:
        for news, words, remedy in self._news():
            if news not in self._told:
                self._told.add(news)
                self._emitter.emit(Alert(severity=Severity.WARNING, message=words, remedy=remedy))

    def _news(self) -> Iterator[tuple[str, str, str]]:
        """What there is to tell: something that stays the same at every look, the words, the remedy."""
        alive = {each.left.session_id: each.left for each in reversed(self.pending()) if each.left.alive}
        for left in alive.values():
            yield f"{left.session_id} {left.path}", holder_words(left), _ALIVE_REMEDY
        edited = self.edited()
        for words in (*edited_words(edited), *in_words(self.units())):
            yield words, _LEFT.format(words), _LEFT_REMEDY
        rest = [each.left for each in self.dead() if each.unit is None and each.file not in edited]
        if any(left.matters for left in rest):
            words = leftovers.in_words(left for left in rest if left.matters)
            yield words, _LEFT.format(words), _LEFT_REMEDY


def edited_words(paths: Iterable[str]) -> tuple[str, ...]:
    """What a user is told about edited configurations."""
    return tuple(f"The draft's {path} is edited." for path in paths)
