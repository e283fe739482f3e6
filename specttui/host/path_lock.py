"""The advisory lock on something other than a guarded file: a hook's folder, the override of a unit."""

from __future__ import annotations

from typing import Protocol

from specttui.host import file_steps
from specttui.host.runner import Runner


class Held(Protocol):
    """What a session holds, and shows that it lives for: a `PathLock`, a `GuardedFile`."""

    @property
    def path(self) -> str:
        """What is locked."""
        ...

    async def heartbeat(self, *, take_over: bool = False) -> None:
        """Take or renew the lock; see `PathLock.heartbeat`."""
        ...

    async def release(self) -> None:
        """Give the lock back, if it is ours."""
        ...


class PathLock:
    """A lock by a path on the host, kept in our cache folder there.

    Args:
        remote: The host.
        path: What is locked; it must exist when the lock is taken.
        session_id: Whose lock it is.
    """

    def __init__(self, remote: Runner, path: str, session_id: str) -> None:
        self._remote = remote
        self._session_id = session_id
        self.path = path

    async def heartbeat(self, *, take_over: bool = False) -> None:
        """Take the lock, or renew it: it counts as a dead session's after two minutes.

        Args:
            take_over: Take it from another session even though that seems alive.

        Raises:
            LockedError: Another session holds it.
            ConnectionLostError: The connection broke.
        """
        await file_steps.take(self._remote, "beat", self.path, self._session_id, take_over=take_over)

    async def release(self) -> None:
        """Give the lock back, if it is ours."""
        await file_steps.take(self._remote, "release", self.path, self._session_id)
