"""The control file on the host, by which a running probe is switched; one per session that patched."""

from __future__ import annotations

from specttui.events import Clock
from specttui.host.path_lock import PathLock
from specttui.host.remote import Remote
from specttui.probe.control import control_content
from specttui.session.hook_folder import cache_folder

_WRITE_WHOLE = 'mkdir -p "$(dirname "$1")" && cat >"$1.new" && chmod 644 "$1.new" && mv -f "$1.new" "$1"'


class ControlFile:
    """The control file of one session.

    Args:
        remote: The host.
        session_id: Names the file.
    """

    def __init__(self, remote: Remote, session_id: str) -> None:
        self._remote = remote
        self._session_id = session_id
        self._path = ""
        self._used = False

    async def path(self) -> str:
        """Its path on the host; it need not exist yet.

        Raises:
            RemoteCommandError: The host could not be asked.
        """
        if not self._path:
            self._path = f"{await cache_folder(self._remote)}/probe-{self._session_id}.json"
        return self._path

    async def adopt(self, path: str, *, take_over: bool = False) -> PathLock:
        """Go on with another session's, since the probe that runs looks there; gives its lock, which is ours.

        Raises:
            LockedError: A session that shows signs of life goes on with it, and `take_over` is False.
            WorkerFileChangedError: Its folder is gone.
        """
        lock = PathLock(self._remote, path, self._session_id)
        await lock.heartbeat(take_over=take_over)
        self._path = path
        self._used = True
        return lock

    async def write(self, clock: Clock) -> None:
        """Tell the running probe to take a clock, or to stop measuring.

        Raises:
            RemoteCommandError: The host's cache folder cannot be written.
        """
        self._used = True
        content = control_content(clock).encode()
        await self._remote.run(["sh", "-c", _WRITE_WHOLE, "sh", await self.path()], stdin=content, check=True)

    async def remove(self) -> None:
        """Take it away, if it was written: a probe that still runs keeps the clock that it has.

        Raises:
            RemoteCommandError: It cannot be removed.
        """
        if self._used:
            await self._remote.run(["rm", "-f", "--", await self.path()], check=True)
            self._used = False
