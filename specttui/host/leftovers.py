"""What sessions left on the host: backups, temporary files, records, locks, folders of hooks, launches."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from specttui.host import file_steps
from specttui.host.file_steps import Answer
from specttui.host.locks import Holder, has_ended
from specttui.host.runner import Runner

_LEFT_BESIDE = re.compile(r"\.specttui-(?P<session>[A-Za-z0-9_-]+)\.(?:[0-9a-f]{12}\.)?(?P<kind>orig|tmp)\Z")
_KINDS = {"orig": "backup", "tmp": "temporary"}

#: What lies in our cache folder on the host besides notes on files.
ThingKind = Literal["hook folder", "control file", "launch script"]
_THINGS: tuple[tuple[ThingKind, re.Pattern[str]], ...] = (
    ("hook folder", re.compile(r"/hook-([^/]+)\Z")),
    ("control file", re.compile(r"/probe-([^/]+)\.json\Z")),
    ("launch script", re.compile(r"/launch-([^/]+)-\d{8}T\d{12}\.sh\Z")),
)


@dataclass(frozen=True, slots=True)
class JournalRecord:
    """What a session noted on the host about a file: while it replaces, the hash is `before` or `new`."""

    session_id: str
    state: str
    before_sha256: str
    new_sha256: str
    original_sha256: str
    backup_path: str
    time_s: int
    path: str

    @classmethod
    def parse(cls, text: str) -> JournalRecord | None:
        """Read a record; None for one that is cut or not ours."""
        fields: dict[str, str] = {}
        rest = text
        while rest and "path" not in fields:
            line, _, after = rest.partition("\n")
            name, _, value = line.partition("=")
            fields[name] = rest.removeprefix("path=") if name == "path" else value
            rest = after
        try:
            return cls(
                session_id=fields["session"],
                state=fields["state"],
                before_sha256=fields["before"],
                new_sha256=fields["new"],
                original_sha256=fields["original"],
                backup_path=fields["backup"],
                time_s=int(fields["time_s"]),
                path=fields["path"],
            )
        except (KeyError, ValueError):
            return None


@dataclass(frozen=True, slots=True)
class FileLeftover:
    """One thing a session left on the host.

    `what` is `backup`, `temporary`, `journal` or `lock`; `age_s` is seconds since it was made, by the host's
    clock; `mtime_s` is a backup's own time, which is the original's; `by` says who, where a lock does.
    """

    path: str
    what: str
    session_id: str
    age_s: int
    sha256: str = ""
    mtime_s: int = 0
    by: str = ""


@dataclass(frozen=True, slots=True)
class Lock:
    """The advisory lock on a file, or on something else that a session changed.

    `folder` is the lock itself, in the host's cache folder. `lives` is True while its session shows signs of
    life: by the host's clock, and, where the session ran here, by its process.
    """

    holder: Holder
    folder: str
    lives: bool


@dataclass(frozen=True, slots=True)
class Surroundings:
    """A file's present hash (empty if it is gone or no file) and all that sessions left for it.

    `resolved_path` is empty for a lock that does not say what it is for.
    """

    resolved_path: str
    sha256: str
    leftovers: tuple[FileLeftover, ...]
    journals: tuple[JournalRecord, ...]
    now_s: int
    lock: Lock | None = None

    def original_of(self, sha256: str) -> str:
        """The hash of the original behind contents that a session put in place; empty if no record says.

        A session may have begun with what another one had put there, and have taken it for the original: it
        is seen through, down to contents that no session wrote.
        """
        behind: dict[str, str] = {}
        known: set[str] = set()
        for record in sorted(self.journals, key=lambda record: record.time_s):  # the newest has the last word
            held = {record.before_sha256, record.new_sha256}
            known |= held | {record.original_sha256}
            behind |= dict.fromkeys(held - {record.original_sha256}, record.original_sha256)
        seen = [sha256]
        while (deeper := behind.get(seen[-1], "")) and deeper not in seen:
            seen.append(deeper)
        return seen[-1] if sha256 in known else ""

    def mistaken_for(self, original_sha256: str) -> list[str]:
        """The hashes of what sessions took for the original, and what is this one with another's change."""
        taken = {record.original_sha256 for record in self.journals} - {original_sha256}
        return sorted(sha256 for sha256 in taken if self.original_of(sha256) == original_sha256)

    def backups(self, sha256: str) -> list[FileLeftover]:
        """The backups on the host with this hash."""
        return [left for left in self.leftovers if left.what == "backup" and left.sha256 == sha256]

    @classmethod
    def parse(cls, answer: Answer, now_s: int | None = None) -> Surroundings:
        """Read the answer of the step `inspect`, or one file's part of a longer one."""
        now_s = int(answer["now_s"]) if now_s is None else now_s
        journals = _journals(answer)
        left = (*_files(answer, now_s), *_records(journals, now_s), *_locks(answer))
        return cls(answer["resolved"], answer["sha256"], left, journals, now_s, _lock(answer))


@dataclass(frozen=True, slots=True)
class Thing:
    """Something of a session's in our cache folder on the host; `age_s` is seconds since it was written."""

    path: str
    what: ThingKind
    session_id: str
    age_s: int


@dataclass(frozen=True, slots=True)
class Traces:
    """All that sessions, this one included, left on a host, as far as our cache folder there knows."""

    files: tuple[Surroundings, ...] = ()
    things: tuple[Thing, ...] = ()

    @property
    def living(self) -> dict[str, Holder]:
        """The sessions that show signs of life, by their ids."""
        locks = (around.lock for around in self.files if around.lock is not None and around.lock.lives)
        return {lock.holder.session_id: lock.holder for lock in locks}


async def find_traces(remote: Runner) -> Traces:
    """Look, with one command, for what sessions left on a host; changes nothing.

    Raises:
        RemoteCommandError: The host cannot be looked at.
        ConnectionLostError: The connection broke.
    """
    answer = await file_steps.take(remote, "list", "", "")
    now_s = int(answer["now_s"])
    files = tuple(Surroundings.parse(part, now_s) for part in answer.parts("resolved"))
    return Traces(files, tuple(_things(answer, now_s)))


async def clear_away(
    remote: Runner, path: str, session_id: str, *, of_session: str, take_over: bool = False
) -> None:
    """Take away what a session left in our cache folder: a thing of `Traces`, or a lock's folder.

    The files of a launch that runs stay, and so does the log of any.

    Args:
        remote: The host.
        path: Of the thing.
        session_id: This session.
        of_session: The session whose thing it is.
        take_over: Even though that session shows signs of life.

    Raises:
        LockedError: That session shows signs of life.
        WorkerFileError: It cannot be taken away.
        ConnectionLostError: The connection broke.
    """
    await file_steps.take(remote, "clear", path, session_id, of_session, take_over=take_over)


def _journals(answer: Answer) -> tuple[JournalRecord, ...]:
    parsed = (JournalRecord.parse(text) for text in answer.all("journal"))
    return tuple(record for record in parsed if record)


def _files(answer: Answer, now_s: int) -> Iterator[FileLeftover]:
    columns = (answer.all(name) for name in ("file", "file_sha256", "file_mtime_s", "file_ctime_s"))
    for path, sha256, mtime_s, ctime_s in zip(*columns, strict=True):
        found = _LEFT_BESIDE.search(path)
        if found:
            age_s = now_s - int(ctime_s)
            yield FileLeftover(path, _KINDS[found["kind"]], found["session"], age_s, sha256, int(mtime_s))


def _records(journals: tuple[JournalRecord, ...], now_s: int) -> Iterator[FileLeftover]:
    for record in journals:
        age_s = now_s - record.time_s
        yield FileLeftover(record.path, "journal", record.session_id, age_s, record.original_sha256)


def _locks(answer: Answer) -> Iterator[FileLeftover]:
    if answer["lock_age_s"]:
        age_s = int(answer["lock_age_s"])
        yield FileLeftover(answer["resolved"], "lock", answer["lock_owner"], age_s, by=answer["lock_who"])


def _lock(answer: Answer) -> Lock | None:
    if not answer["lock_age_s"]:
        return None
    told = (answer[name] for name in ("lock_owner", "lock_who", "lock_held_s", "lock_age_s"))
    lives = answer["lock_lives"] == "yes" and not has_ended(answer["lock_who"])
    return Lock(Holder.parse(*told), answer["lock_folder"], lives)


def _things(answer: Answer, now_s: int) -> Iterator[Thing]:
    for path, mtime_s in zip(answer.all("thing"), answer.all("thing_mtime_s"), strict=True):
        for what, pattern in _THINGS:
            if found := pattern.search(path):
                # Launches are named by the session's own id, everything else by what a file name may hold.
                yield Thing(path, what, found[1].replace(".", "-"), now_s - int(mtime_s or now_s))
