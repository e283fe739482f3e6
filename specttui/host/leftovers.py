"""What sessions left on the host around a guarded file: backups, temporary files, records, locks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from specttui.host import file_steps
from specttui.host.file_steps import Answer
from specttui.host.remote import Remote

_LEFT_BESIDE = re.compile(r"\.specttui-(?P<session>[A-Za-z0-9_-]+)\.(?:[0-9a-f]{12}\.)?(?P<kind>orig|tmp)\Z")
_KINDS = {"orig": "backup", "tmp": "temporary"}


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
class Surroundings:
    """A file's present hash (empty if it is gone) and all that sessions left for it."""

    resolved_path: str
    sha256: str
    leftovers: tuple[FileLeftover, ...]
    journals: tuple[JournalRecord, ...]
    now_s: int

    def original_of(self, sha256: str) -> str:
        """The hash of the original behind contents that a session put in place; empty if no record says."""
        for record in sorted(self.journals, key=lambda record: -record.time_s):
            if sha256 in {record.before_sha256, record.new_sha256, record.original_sha256}:
                return record.original_sha256
        return ""

    def backups(self, sha256: str) -> list[FileLeftover]:
        """The backups on the host with this hash."""
        return [left for left in self.leftovers if left.what == "backup" and left.sha256 == sha256]

    @classmethod
    def parse(cls, answer: Answer) -> Surroundings:
        """Read the answer of the step `inspect`."""
        journals = _journals(answer)
        left = (*_files(answer), *_records(answer, journals), *_locks(answer))
        return cls(answer["resolved"], answer["sha256"], left, journals, int(answer["now_s"]))


async def find_journals(remote: Remote) -> list[JournalRecord]:
    """Every file on a host that a session has changed and not restored, newest first; changes nothing."""
    answer = await file_steps.take(remote, "list", "", "")
    return sorted(_journals(answer), key=lambda record: -record.time_s)


def _journals(answer: Answer) -> tuple[JournalRecord, ...]:
    parsed = (JournalRecord.parse(text) for text in answer.all("journal"))
    return tuple(record for record in parsed if record)


def _files(answer: Answer) -> Iterator[FileLeftover]:
    columns = (answer.all(name) for name in ("file", "file_sha256", "file_mtime_s", "file_ctime_s"))
    for path, sha256, mtime_s, ctime_s in zip(*columns, strict=True):
        found = _LEFT_BESIDE.search(path)
        if found:
            age_s = int(answer["now_s"]) - int(ctime_s)
            yield FileLeftover(path, _KINDS[found["kind"]], found["session"], age_s, sha256, int(mtime_s))


def _records(answer: Answer, journals: tuple[JournalRecord, ...]) -> Iterator[FileLeftover]:
    for record in journals:
        age_s = int(answer["now_s"]) - record.time_s
        yield FileLeftover(record.path, "journal", record.session_id, age_s, record.original_sha256)


def _locks(answer: Answer) -> Iterator[FileLeftover]:
    if answer["lock_age_s"]:
        age_s = int(answer["lock_age_s"])
        yield FileLeftover(answer["resolved"], "lock", answer["lock_owner"], age_s, by=answer["lock_who"])
