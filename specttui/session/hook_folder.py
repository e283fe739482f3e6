"""The probe's second way in, on the host: a folder of ours on the server's PYTHONPATH; no file is changed."""

from __future__ import annotations

from collections.abc import Mapping

from specttui.events import Launch
from specttui.host.leftovers import clear_away
from specttui.host.path_lock import PathLock
from specttui.host.remote import Remote
from specttui.launch.edits import Edit, SetEnv, UnsetEnv
from specttui.session.heartbeats import Heartbeats

_VARIABLE = "PYTHONPATH"
_CACHE_FOLDER = 'printf %s "${XDG_CACHE_HOME:-$HOME/.cache}/specttui"'
_WRITE = 'mkdir -p "$1" && cat >"$1/$2.new" && chmod 644 "$1/$2.new" && mv -f "$1/$2.new" "$1/$2"'
_MARK = "specttui/hook-"


async def cache_folder(remote: Remote) -> str:
    """Our folder in the cache of the account on the host, as a path; it need not exist yet.

    Raises:
        RemoteCommandError: The host could not be asked.
    """
    return (await remote.run(["sh", "-c", _CACHE_FOLDER], check=True)).text


class HookFolder:
    """One session's folder for the import hook, locked as long as the session lives.

    Args:
        remote: The host.
        session_id: Names the folder.
        beats: Keeps its lock.
    """

    def __init__(self, remote: Remote, session_id: str, beats: Heartbeats | None = None) -> None:
        self._remote = remote
        self._session_id = session_id
        self._beats = beats or Heartbeats()
        self.path = ""

    @property
    def active(self) -> bool:
        """True while the folder is to be on the next server's PYTHONPATH."""
        return bool(self.path)

    async def write(self, files: Mapping[str, str]) -> str:
        """Put the files into the folder on the host; returns its path.

        Args:
            files: Name to ASCII text, as `probe.import_hook` renders them.

        Raises:
            RemoteCommandError: The host's cache folder cannot be written.
        """
        path = f"{await cache_folder(self._remote)}/hook-{self._session_id}"
        for name, text in files.items():
            await self._remote.run(
                ["sh", "-c", _WRITE, "sh", path, name], stdin=text.encode("ascii"), check=True
            )
        await self.adopt(path)
        return path

    async def adopt(self, path: str, *, take_over: bool = False) -> None:
        """Go on with a folder that is there: its lock is ours, the next server runs with it.

        Raises:
            LockedError: The session whose folder it is shows signs of life, and `take_over` is False.
        """
        lock = PathLock(self._remote, path, self._session_id)
        await lock.heartbeat(take_over=take_over)
        self._beats.hold(lock)
        self.path = path

    async def remove(self) -> None:
        """Take the folder away; a server that runs with it has loaded it long since.

        Raises:
            LockedError: Another session has taken it over.
        """
        if self.path:
            await clear_away(self._remote, self.path, self._session_id, of_session=self._session_id)
            self._beats.let_go(self.path)
            self.path = ""

    def edits(self, launch: Launch) -> tuple[Edit, ...]:
        """What a launch's environment needs: our folder first while it is active, none of ours otherwise."""
        present = launch.env.get(_VARIABLE, "")
        entries = [entry for entry in present.split(":") if _MARK not in entry]
        wanted = ":".join([self.path, *entries]) if self.path else ":".join(entries)
        if wanted.strip(":") == present.strip(":"):
            return ()
        return (SetEnv(_VARIABLE, wanted.rstrip(":")),) if wanted.strip(":") else (UnsetEnv(_VARIABLE),)
