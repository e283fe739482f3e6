"""A host on this machine with a worker file and a draft's configuration, on which sessions come and die."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from pathlib import Path

from specttui.errors import SpecttuiError
from specttui.events import Event
from specttui.host.files import GuardedFile
from specttui.host.managers.overrides import UnitOverrides
from specttui.probe.patch import apply
from specttui.session.api import LeftoverKind
from specttui.session.draft_keeper import DraftKeeper
from specttui.session.emitter import Emitter
from specttui.session.hook_folder import HookFolder
from specttui.session.host_changes import HostChanges
from specttui.session.launches import Launches
from specttui.session.worker_keeper import WorkerKeeper
from specttui.state.session_state import SessionState
from support.fake_sglang import WORKER_V2
from support.faults import Shims
from support.local_remote import LocalRemote

ORIGINAL = WORKER_V2.encode()
CONFIG = b'{"eagle_config": {"eagle_aux_hidden_state_layer_ids": [1, 29, 57]}}\n'
EDITED = CONFIG.replace(b"29", b"28")
MODE = 0o640
MTIME_S = 1_700_000_000
#: Programs that change something, for a host's shell that is killed at one of them.
CHANGING = ("mkdir", "mv", "dd", "cp", "chown", "chmod", "touch", "rm", "sync")


class SeenWorker:
    """What the session's look for the server knows of worker files."""

    def __init__(self, worker_path: str, *, patched: bool = False) -> None:
        self.worker_path = worker_path
        self.patched = patched

    def restored(self, path: str) -> None:
        self.patched = self.patched and path != self.worker_path


class Member:
    """What a session has of one host: all that deals with leftovers, and the events it emits."""

    def __init__(self, host: LeftHost, session_id: str, env: Mapping[str, str], *, patched: bool) -> None:
        self.remote = LocalRemote(host.home, env=env)
        self.state = SessionState()
        self.events: list[Event] = []
        emitter = Emitter(self.state)
        emitter.listen(lambda envelope: self.events.append(envelope.event))
        local = host.folder / f"local {session_id}"
        self.keeper = WorkerKeeper(self.remote, emitter, session_id, local)
        self.draft = DraftKeeper(self.remote, Launches(), session_id, local)
        self.overrides = UnitOverrides(self.remote)
        watch = SeenWorker(str(host.worker), patched=patched)
        self.changes = HostChanges(
            self.remote,
            emitter,
            self.keeper,
            watch,
            self.draft,
            self.overrides,  # type: ignore[arg-type]
        )
        self._path = str(host.worker)

    def worker_path(self) -> str:
        """What a session restores that knows of no change."""
        return self._path

    @property
    def left(self) -> list[tuple[str, str, bool]]:
        """The leftovers, by what they are, whose, and whether that session lives."""
        return [(left.what, left.session_id, left.alive) for left in self.changes.leftovers]

    async def close(self) -> None:
        """As a session that is left."""
        await self.keeper.close()
        await self.draft.close()


class LeftHost:
    """The host.

    Args:
        folder: Where all of it lies.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.home = folder / "home"
        self.cache = self.home / ".cache" / "specttui"
        self.worker = folder / "site packages" / "eagle_worker_v2.py"
        self.config = folder / "it's a draft" / "config.json"
        self.home.mkdir()
        for path, data in ((self.worker, ORIGINAL), (self.config, CONFIG)):
            path.parent.mkdir()
            path.write_bytes(data)
            path.chmod(MODE)
            os.utime(path, (MTIME_S, MTIME_S))

    @property
    def patched(self) -> bytes:
        """The worker file as the dead session patches it."""
        control = str(self.cache / "probe-dead.json")
        return apply(ORIGINAL, session_id="dead", utc="2026-11-29T12:00:00Z", control_path=control)

    async def member(
        self, session_id: str = "me", env: Mapping[str, str] | None = None, *, patched: bool = False
    ) -> Member:
        """A session that has connected and looked."""
        member = Member(self, session_id, env or {}, patched=patched)
        await member.changes.look()
        return member

    def guarded(self, path: Path, env: Mapping[str, str] | None = None) -> GuardedFile:
        """A file as the other session has it."""
        return GuardedFile(LocalRemote(self.home, env=env), str(path), "dead", self.folder / "local dead")

    # What another session does here before it dies; its locks stay as fresh as they were

    async def leave_backup(self) -> None:
        """It backed the worker file up."""
        await self.guarded(self.worker).back_up()

    async def leave_patch(self) -> None:
        """It patched the worker file."""
        await self._replace(self.guarded(self.worker), self.patched)
        (self.cache / "probe-dead.json").write_text('{"clock": "events"}\n')

    async def leave_edit(self) -> None:
        """It edited the draft's configuration."""
        await self._replace(self.guarded(self.config), EDITED)

    async def leave_temporary(self) -> None:
        """It was killed with the patch written beside the worker file, before the rename."""
        rehearsal = Shims(self.folder / "rehearsal", CHANGING)
        scratch = self.worker.with_name("scratch.py")
        scratch.write_bytes(ORIGINAL)
        rehearsed = self.guarded(scratch, rehearsal.environment)
        await self._replace(rehearsed, self.patched)
        await rehearsed.restore()
        scratch.unlink()
        # The backup's folder is synced first, then the one of the patched file, right after the rename.
        rename = [at for at, name in enumerate(rehearsal.calls, 1) if name == "sync"][1] - 1
        assert rehearsal.calls[rename - 1] == "mv"
        killing = Shims(self.folder / "killing", CHANGING, rename)
        with suppress(SpecttuiError):
            await self._replace(self.guarded(self.worker, killing.environment), self.patched)
        assert len(killing.calls) == rename

    async def leave_hook(self) -> None:
        """It put a hook's folder and a control file into the cache folder."""
        await HookFolder(LocalRemote(self.home), "dead").write({"sitecustomize.py": "import sys\n"})
        (self.cache / "probe-dead.json").write_text('{"clock": "events"}\n')

    async def leave_lock(self) -> None:
        """It took the worker file's lock and got no further."""
        await self.guarded(self.worker).heartbeat()

    async def _replace(self, guarded: GuardedFile, new: bytes) -> None:
        contents = await guarded.read()
        await guarded.back_up(contents)
        await guarded.replace(new, contents.sha256)

    # What can be seen and done from outside

    def die(self, *, session_id: str = "dead", ago_s: int = 0) -> None:
        """The locks of a session are as old as they are long after its end."""
        for owner in (self.cache / "locks").glob("*/owner"):
            if owner.read_text().startswith(f"{session_id} "):
                owner.write_text(f"{session_id} {1000 - ago_s} ada@laptop 7\n")

    def live_elsewhere(self) -> None:
        """The locks are those of a session on another machine."""
        for owner in (self.cache / "locks").glob("*/owner"):
            session_id, since, _ = owner.read_text().split(" ", 2)
            owner.write_text(f"{session_id} {since} ada@laptop 7\n")

    def owners(self) -> list[str]:
        """Who holds the locks."""
        return sorted(path.read_text().split()[0] for path in (self.cache / "locks").glob("*/owner"))

    def tree(self) -> dict[str, bytes]:
        """Every file of the host."""
        folders = (self.home, self.worker.parent, self.config.parent)
        files = (path for folder in folders for path in folder.rglob("*") if path.is_file())
        return {str(path.relative_to(self.folder)): path.read_bytes() for path in sorted(files)}

    def is_as_it_was(self) -> bool:
        """Whether both files hold their originals, with mode and time, and nothing of ours is left."""
        facts = [
            (path.stat().st_mode & 0o777, int(path.stat().st_mtime)) for path in (self.worker, self.config)
        ]
        expected = {"site packages/eagle_worker_v2.py": ORIGINAL, "it's a draft/config.json": CONFIG}
        return self.tree() == expected and facts == [(MODE, MTIME_S)] * 2


#: What a session may leave: how it comes to be, and what is seen of it.
CASES: dict[str, tuple[Callable[[LeftHost], Awaitable[None]], list[LeftoverKind]]] = {
    "temporary": (LeftHost.leave_temporary, ["backup", "temporary file"]),
    "backup": (LeftHost.leave_backup, ["backup"]),
    "patch": (LeftHost.leave_patch, ["patched file", "backup", "control file"]),
    "edit": (LeftHost.leave_edit, ["edited config", "backup"]),
    "hook": (LeftHost.leave_hook, ["hook folder", "control file"]),
    "lock": (LeftHost.leave_lock, []),
}


async def dead(host: LeftHost, case: str) -> list[tuple[str, str, bool]]:
    """Let a session die there; what is to be seen of it afterwards."""
    leave, kinds = CASES[case]
    await leave(host)
    host.die()
    return [(kind, "dead", False) for kind in kinds or ["lock"]]


async def living(host: LeftHost, case: str) -> list[tuple[str, str, bool]]:
    """Let a session on another machine work there; what is to be seen of it."""
    leave, kinds = CASES[case]
    await leave(host)
    host.live_elsewhere()
    rows = kinds if case == "hook" else ["lock", *kinds]
    return [(kind, "dead", True) for kind in rows]
