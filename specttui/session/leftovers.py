"""What other sessions left on a host, told apart by whose it is and whether that session lives."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from specttui.host.leftovers import FileLeftover, JournalRecord, Lock, Surroundings, Thing, Traces
from specttui.host.locks import span
from specttui.host.managers.overrides import DropIn, Unit
from specttui.session.api import Leftover, LeftoverKind

_KINDS: dict[str, LeftoverKind] = {"backup": "backup", "temporary": "temporary file"}
#: So many are named in one sentence.
_NAMED = 3


@dataclass(frozen=True, slots=True)
class Found:
    """A leftover, and what is to be dealt with for its sake.

    Attributes:
        left: What the user is told.
        file: The guarded file it belongs to, "" for none.
        unit: The unit whose override it is.
        clear: What is to be taken away in the host's cache folder, "" for nothing.
    """

    left: Leftover
    file: str = ""
    unit: Unit | None = None
    clear: str = ""

    @property
    def key(self) -> tuple[str, str]:
        """What it is, whoever holds it: a later look finds it again by this."""
        return self.left.what, self.left.path


def find_leftovers(
    traces: Traces,
    overrides: Mapping[Unit, DropIn] | None = None,
    *,
    own: str = "",
    now: datetime | None = None,
) -> tuple[Found, ...]:
    """Read off what was found on a host what other sessions left there, or still use.

    Args:
        traces: All that lies there.
        overrides: The overrides of units.
        own: This session's id, whose things are no leftovers.
        now: The time; the clock's by default.
    """
    return tuple(_Reader(traces, overrides or {}, own, now or datetime.now(UTC)).all())


def in_words(left: Iterable[Leftover]) -> str:
    """Several leftovers in one line, the first by their paths."""
    names = [f"{each.what} {each.path}" for each in left]
    more = len(names) - _NAMED
    return ", ".join(names[:_NAMED]) + (f" and {more} more" if more > 0 else "")


def holder_words(left: Leftover) -> str:
    """Who works on something, and since when."""
    who = f"Session {left.session_id or 'unknown'}" + (f" of {left.owner}" if left.owner else "")
    since = "" if left.age_s is None else f", taken {span(int(left.age_s))} ago"
    return f"{who} works on {left.path}{since}"


def belongs(session_id: str, to: str) -> bool:
    """Whether an id is a session's, or that of one of its hosts' launches."""
    return bool(to) and (session_id == to or session_id.startswith(f"{to}-"))


class _Reader:
    def __init__(self, traces: Traces, overrides: Mapping[Unit, DropIn], own: str, now: datetime) -> None:
        self._traces = traces
        self._overrides = overrides
        self._own = own
        self._now = now
        self._locks = {each.resolved_path: each.lock for each in traces.files if each.lock is not None}
        self._elsewhere = {thing.path for thing in traces.things} | {each.path for each in overrides.values()}

    def all(self) -> Iterator[Found]:
        for around in self._traces.files:
            if around.resolved_path not in self._elsewhere and not self._is_own(around):
                yield from self._of_file(around)
        for unit, drop_in in self._overrides.items():
            if not belongs(_file_id(drop_in.session_id), self._own):
                yield self._override(unit, drop_in)
        for thing in self._traces.things:
            if not (belongs(thing.session_id, self._own) or self._holds(thing.path)):
                yield self._thing(thing)

    def _is_own(self, around: Surroundings) -> bool:
        if around.lock is not None and (around.lock.lives or around.lock.holder.session_id == self._own):
            return around.lock.holder.session_id == self._own
        return any(record.session_id == self._own for record in around.journals)

    def _holds(self, path: str) -> bool:
        """Whether something is locked by this session, which has adopted it."""
        lock = self._locks.get(path)
        return lock is not None and lock.holder.session_id == self._own

    def _of_file(self, around: Surroundings) -> Iterator[Found]:
        lock = around.lock
        rows = [*self._edits(around, lock), *self._beside(around, lock)]
        if lock is not None and (lock.lives or not rows):
            yield self._lock(around, lock)
        yield from rows

    def _lock(self, around: Surroundings, lock: Lock) -> Found:
        path = around.resolved_path or lock.folder
        left = self._left(path, "lock", lock.holder.session_id, lock.holder.held_s, lock)
        return Found(left, file=path) if around.sha256 else Found(left, clear=lock.folder)

    def _edits(self, around: Surroundings, lock: Lock | None) -> Iterator[Found]:
        record = edit_of(around)
        if record is not None:
            path = around.resolved_path
            what: LeftoverKind = "patched file" if path.endswith(".py") else "edited config"
            age_s = around.now_s - record.time_s
            yield Found(self._left(path, what, record.session_id, age_s, lock), file=path)

    def _beside(self, around: Surroundings, lock: Lock | None) -> Iterator[Found]:
        for each in sorted(around.leftovers, key=lambda each: (each.what, each.path)):
            if each.what in _KINDS:
                yield Found(self._of_leftover(each, lock), file=around.resolved_path)

    def _of_leftover(self, each: FileLeftover, lock: Lock | None) -> Leftover:
        return self._left(each.path, _KINDS[each.what], each.session_id, each.age_s, lock)

    def _override(self, unit: Unit, drop_in: DropIn) -> Found:
        age_s = None if drop_in.written is None else (self._now - drop_in.written).total_seconds()
        lock = self._locks.get(drop_in.path)
        left = self._left(drop_in.path, "override", _file_id(drop_in.session_id), age_s, lock)
        return Found(left, unit=unit)

    def _thing(self, thing: Thing) -> Found:
        left = self._left(thing.path, thing.what, thing.session_id, thing.age_s, self._locks.get(thing.path))
        return Found(left, clear=thing.path)

    def _left(
        self, path: str, what: LeftoverKind, session_id: str, age_s: float | None, lock: Lock | None
    ) -> Leftover:
        """In living hands is what a living session has locked, and what is its own besides."""
        if lock is not None and lock.lives:
            return Leftover(path, what, session_id, age_s, lock.holder.who, alive=True)
        for living, holder in self._traces.living.items():
            if belongs(session_id, living):
                return Leftover(path, what, session_id, age_s, holder.who, alive=True)
        return Leftover(path, what, session_id, age_s, lock.holder.who if lock is not None else "")


def edit_of(around: Surroundings) -> JournalRecord | None:
    """The record of the change that a file holds now; None for an original, or a file that others changed."""
    original = around.original_of(around.sha256)
    if not around.sha256 or original in {"", around.sha256}:
        return None
    fitting = (record for record in around.journals if around.sha256 == record.new_sha256)
    return max(fitting, key=lambda record: record.time_s, default=None)


def _file_id(session_id: str) -> str:
    """A session's id as the names of its files on the host have it."""
    return session_id.replace(".", "-")
