"""Runs one step on a guarded file on the host and reads its answer, or says what kept it from being done."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib import resources
from itertools import pairwise

from specttui.errors import RemoteCommandError, WorkerFileChangedError, WorkerFileError
from specttui.host.locks import Holder, LockedError, has_ended, this_machine
from specttui.host.runner import Runner

_BEGINNING, _OF_A_FILE, _OF_LEFTOVERS = (
    resources.files("specttui.host").joinpath(name).read_text("utf-8")
    for name in ("session_step.sh", "guarded_file.sh", "leftovers.sh")
)
_FAILED = 10
_TIMEOUT_S = 60.0

_OS_REASONS = (
    ("No space left", "The disk is full.", "Free some space on the host, then try again."),
    ("quota", "The disk quota is used up.", "Free some space on the host, then try again."),
    ("File too large", "The account's limit on file sizes is reached.", "Raise it (ulimit -f)."),
    (
        "Read-only file system",
        "The file is on a read-only file system.",
        "Use an installation that can be written to; for a container, one in a writable layer or volume.",
    ),
    (
        "Operation not permitted",
        "The host forbids it: the file may be immutable.",
        "Look at it with lsattr; an administrator can lift it with chattr -i.",
    ),
    (
        "denied",
        "This account may not write there.",
        "Connect as the owner of the installation, or ask for write permission on the folder.",
    ),
)
#: Those that another account would not meet.
_PERMISSION = ("Operation not permitted", "denied")
_UNTOUCHED = "It was left as it was."


class NotPermittedError(WorkerFileError):
    """The account may not do a step that another account may."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A step's records in order, and the raw bytes after them."""

    records: list[tuple[str, str]] = field(default_factory=list)
    data: bytes = b""

    def __getitem__(self, name: str) -> str:
        """The first record of a name; empty if there is none."""
        return next((value for key, value in self.records if key == name), "")

    def all(self, name: str) -> Iterator[str]:
        """Every record of a name."""
        return (value for key, value in self.records if key == name)

    def parts(self, first: str) -> Iterator[Answer]:
        """The records from each one of this name on, up to the next."""
        starts = [at for at, (name, _) in enumerate(self.records) if name == first]
        for start, end in pairwise([*starts, len(self.records)]):
            yield Answer(self.records[start:end])

    @classmethod
    def parse(cls, output: bytes) -> Answer:
        """Read `name=value` records ended by NUL; after `data=` come raw bytes."""
        answer: list[tuple[str, str]] = []
        rest = output
        while rest:
            record, _, rest = rest.partition(b"\0")
            name, _, value = record.decode("utf-8", "surrogateescape").partition("=")
            if name == "data":
                return cls(answer, rest)
            answer.append((name, value))
        return cls(answer)


async def take(
    remote: Runner,
    step: str,
    path: str,
    session_id: str,
    *arguments: str,
    stdin: bytes = b"",
    take_over: bool = False,
) -> Answer:
    """Take one step; see guarded_file.sh and leftovers.sh for what each does.

    Raises:
        WorkerFileChangedError: The file is not what it was read as.
        LockedError: Another session holds its lock, and `take_over` is False.
        NotPermittedError: This account may not do it; the file was left as it was.
        WorkerFileError: The step could not be done; the file was left as it was.
        ConnectionLostError: The connection broke; the file is whole, in its old or its new state.
    """
    who = f"{this_machine()} {os.getpid()}"
    common = (step, path, session_id, secrets.token_hex(6), who, "yes" if take_over else "no")
    result = await remote.run(
        ["sh", "-c", _script(step), "sh", *common, *arguments], stdin=stdin, timeout_s=_TIMEOUT_S
    )
    answer = Answer.parse(result.stdout)
    complaint = result.stderr.decode("utf-8", "replace").strip()
    if result.exit_status == _FAILED and answer["error"]:
        if answer["error"] == "locked" and not take_over and has_ended(answer["who"]):
            return await take(remote, step, path, session_id, *arguments, stdin=stdin, take_over=True)
        raise _error(answer, path, complaint)
    if not result.ok:
        raise RemoteCommandError(
            f"A step on {path} failed on {remote.name}",
            cause=complaint or f"{step}: exit status {result.exit_status}",
            remedy="Check that the host has sh, stat, dd, mv and sha256sum.",
        )
    return answer


def _script(step: str) -> str:
    return _BEGINNING + (_OF_LEFTOVERS if step in {"list", "clear"} else _OF_A_FILE)


def _error(answer: Answer, path: str, complaint: str) -> WorkerFileError:
    code, detail = answer["error"], answer["detail"]
    if code == "changed":
        return WorkerFileChangedError(
            f"{path} was changed by somebody else",
            cause=f"It now hashes to {detail}, which is not what was read. Nothing was written.",
            remedy="Read it again and look at the difference before patching.",
        )
    if code == "gone":
        return WorkerFileChangedError(
            f"{path} does not exist any more" if detail != path else f"{path} does not exist",
            cause="It may have been moved, or its package upgraded or removed. Nothing was written.",
            remedy="Find the server's files again; a copy of the original is in the session folder.",
        )
    if code == "locked":
        return _locked(answer, path)
    if code in {"write", "owner"}:
        return _not_written(code, path, detail, complaint)
    cause, remedy = _plain(code, detail)
    kind = NotPermittedError if code == "unreadable" else WorkerFileError
    return kind(f"{path} cannot be used", cause=f"{cause} {_UNTOUCHED}", remedy=remedy)


def _locked(answer: Answer, path: str) -> LockedError:
    told = (answer[name] for name in ("owner", "who", "held_s", "age_s"))
    return LockedError(path, Holder.parse(*told))


def _not_written(code: str, path: str, detail: str, complaint: str) -> WorkerFileError:
    title = f"{path} cannot be written"
    if code == "owner":
        return NotPermittedError(
            title,
            cause=f"A new file could not be given its owner and mode ({detail}). {_UNTOUCHED}",
            remedy="Connect as the owner of the installation.",
        )
    for words, cause, remedy in _OS_REASONS:
        if words in complaint:
            kind = NotPermittedError if words in _PERMISSION else WorkerFileError
            return kind(title, cause=f"{cause} {_UNTOUCHED}", remedy=remedy)
    return WorkerFileError(
        title, cause=f"{complaint} {_UNTOUCHED}".strip(), remedy="Try to write beside it by hand on the host."
    )


def _plain(code: str, detail: str) -> tuple[str, str]:
    return {
        "not_a_file": ("It is not a regular file.", "Name a file."),
        "unreadable": ("This account may not read it.", "Connect as an account that may."),
        "too_big": (f"It has {detail} bytes; more than 16 MiB are not edited.", "Name the right file."),
        "no_sha": ("The host has no tool for SHA-256.", "Install coreutils, perl or openssl on the host."),
        "backup_differs": (
            f"The backup {detail} of this session holds something else.",
            "Look at the backup, move it away, then back up again.",
        ),
        "no_backup": (f"The backup {detail} is missing or damaged.", "Back up again before patching."),
        "cut_short": ("The new contents did not arrive whole.", "Try again."),
        "read_back": (
            f"After writing it hashes to {detail}: somebody else wrote at the same time.",
            "Read it again and look at the difference.",
        ),
    }.get(code, (f"{code}: {detail}", "Report this as a bug."))
