"""Who holds the advisory lock on something that sessions change, and whether that session can still live."""

from __future__ import annotations

import getpass
import os
import platform
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from specttui.errors import WorkerFileError


@dataclass(frozen=True, slots=True)
class Holder:
    """Who holds a lock.

    Attributes:
        session_id: The session, "" where the lock was not finished.
        who: Its user and machine, as `user@machine`.
        held_s: Seconds since it took the lock.
        seen_s: Seconds since its last sign of life.
    """

    session_id: str
    who: str
    held_s: int
    seen_s: int

    @classmethod
    def parse(cls, session_id: str, who: str, held_s: str, seen_s: str) -> Holder:
        """Read what a lock says; `who` ends with the number of the session's process."""
        return cls(session_id, who.rpartition(" ")[0], int(held_s or 0), int(seen_s or 0))

    @property
    def words(self) -> str:
        """Who, since when, and when last seen."""
        return (
            f"Session {self.session_id or 'unknown'} of {self.who or 'somebody'} took it "
            f"{span(self.held_s)} ago and gave a sign of life {span(self.seen_s)} ago"
        )


class LockedError(WorkerFileError):
    """Another session that shows signs of life works on it; nothing was touched.

    Args:
        path: What it works on.
        holder: The session and its user, as far as the lock says.
        others: The same of other things that were to be dealt with at once.
    """

    def __init__(self, path: str, holder: Holder, others: Sequence[LockedError] = ()) -> None:
        super().__init__(
            f"Another session is working on {path}",
            cause=f"{holder.words}. It was left as it was.",
            remedy="Close that session, or wait two minutes if it died.",
        )
        self.path = path
        self.holder = holder
        self.others = tuple(others)


def span(seconds: int) -> str:
    """A time span in its largest unit, "12 min"."""
    for unit, size in (("d", 86400), ("h", 3600), ("min", 60)):
        if seconds >= 2 * size:
            return f"{seconds // size} {unit}"
    return f"{max(seconds, 0)} s"


def this_machine() -> str:
    """This user on this machine, as a lock names them."""
    try:
        user = getpass.getuser()
    except (KeyError, OSError):  # an account without a name, as in some containers
        user = str(os.getuid())
    return f"{user}@{platform.node()}"


def has_ended(who: str) -> bool:
    """Whether a lock's owner was a process of this user on this machine, and is no more."""
    machine, _, pid = who.rpartition(" ")
    if machine != this_machine() or not pid.isdigit() or sys.platform == "win32":
        return False
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return True
    except OSError:
        return False
    return False
