"""The client's process is killed around every remote operation, whatever the way to the file.

Enumerated, not sampled: before an operation is sent, after it was answered, and at every change that the host
makes for it. Then the file is whole, and `specttui restore` brings the original back.
"""

from __future__ import annotations

import contextlib
import shutil
import signal
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from pathlib import Path

import pytest
from support import fake_docker, fake_sudo
from support.client_process import Clients, Job, clients
from support.fake_sglang import WORKER_V2
from support.faults import Shims
from support.journals import find_journals
from support.local_remote import LocalRemote
from support.logins import options_for, target_of
from support.prompters import ScriptedPrompter
from support.ssh_server import SshServer
from support.sshd import make_key
from support.waiting import eventually

from specttui.config import SudoMode
from specttui.events import Clock
from specttui.host.files import GuardedFile
from specttui.host.found import Discovery
from specttui.host.transport import reached
from specttui.probe.patch import apply
from specttui.session.options import SessionOptions
from specttui.session.restoring import restore

ORIGINAL = WORKER_V2.encode()
PATCHED = apply(
    ORIGINAL, session_id="second", utc="2026-11-29T12:00:00", clock=Clock.EVENTS, control_path="/c"
)
CONFIG = b'{"eagle_config": {"eagle_aux_hidden_state_layer_ids": [1, 29, 57]}}\n'
EDITED = CONFIG.replace(b"29", b"28")
# Whatever a step changes on the disk, one of these does it, or the shell's own redirection just before one.
CHANGING = ("mkdir", "mv", "dd", "cp", "chown", "chmod", "touch", "rm", "sync")
#: Operations of patching and of restoring by another session, by way.
OPERATIONS = {
    ("account", "patch"): 3, ("account", "restore"): 5,
    ("sudo", "patch"): 5, ("sudo", "restore"): 7,
    ("via", "patch"): 3, ("via", "restore"): 5,
    ("draft", "patch"): 3, ("draft", "restore"): 5,
}  # fmt: skip


@pytest.fixture(autouse=True)
def no_server_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """What sessions noted on the host must be enough; looking for servers each time would take minutes."""

    async def discover(*_: object, **__: object) -> Discovery:
        return Discovery()

    monkeypatch.setattr("specttui.session.restoring.discover", discover)


class Host:
    """An SSH host with one guarded file, and a way to it."""

    def __init__(self, folder: Path, server: SshServer, way: str, work: str) -> None:
        self.folder = folder
        self.server = server
        self.work = work
        self.original, self.patched = (CONFIG, EDITED) if way == "draft" else (ORIGINAL, PATCHED)
        self.path = folder / "lib" / ("config.json" if way == "draft" else "eagle_worker_v2.py")
        self.path.parent.mkdir()
        self.new = folder / "new"
        self.new.write_bytes(self.patched)
        self.via: tuple[str, ...] = ()
        self.sudo: SudoMode = "no"
        self.home = server.home
        if way == "via":
            docker = fake_docker.install(folder / "docker", "box")
            self.via, self.home = docker.via("box"), docker.root("box")
        if way == "sudo":
            self.sudo = "auto"
            server.environment |= fake_sudo.install(folder / "sudo", self.path.parent).env
        self._jobs = 0

    def job(self, work: str) -> Job:
        """A client of its own, with a folder of its own."""
        self._jobs += 1
        return Job(
            port=self.server.port,
            key=str(self.folder / "id_ed25519"),
            known_hosts=str(self.folder / "known_hosts"),
            path=str(self.path),
            local=str(self.folder / f"local {self._jobs}"),
            session_id=f"session{self._jobs}",
            work=work,
            patched=str(self.new),
            via=self.via,
            sudo=self.sudo,
            pid_file=str(self.folder / "client"),
        )

    async def set(self, killed: Clients) -> Job:
        """Lay the original there, patched already where restoring is the work; gives the client's job."""
        if self.work == "restore":
            await self._lay_patched(killed)
        else:
            self.path.write_bytes(self.original)
            self.path.chmod(0o644)
        return self.job(self.work)

    async def _lay_patched(self, killed: Clients) -> None:
        """A client patches the file, once; from then on what it left is laid there again."""
        places = (self.path.parent, self.home / ".cache/specttui")
        kept = [self.folder / f"kept {number}" for number, _ in enumerate(places)]
        if not kept[0].exists():
            self.path.write_bytes(self.original)
            self.path.chmod(0o644)
            assert (await killed.run(self.job("patch"))).signal == 0
            for place, copy in zip(places, kept, strict=True):
                shutil.copytree(place, copy)
        for place, copy in zip(places, kept, strict=True):
            shutil.rmtree(place)
            shutil.copytree(copy, place)
        assert self.path.read_bytes() == self.patched

    async def check(self) -> None:
        """The file is whole, and `specttui restore` leaves the original and nothing else."""
        await eventually(lambda: not self.server._serving)  # what the dead client began has come to its end
        assert self.path.read_bytes() in {self.original, self.patched}
        assert self.path.stat().st_mode & 0o777 == 0o644
        await restore(self.options, prompter=ScriptedPrompter())
        assert self.path.read_bytes() == self.original
        assert self.path.stat().st_mode & 0o777 == 0o644
        assert list(self.path.parent.iterdir()) == [self.path]
        remote = reached(LocalRemote(self.server.home), self.via)
        guarded = GuardedFile(remote, str(self.path), "rescuer", self.folder / "rescued")
        # A lock alone, taken by a client that died before it had written anything, keeps nobody out.
        left = [each.what for each in await guarded.leftovers()]
        assert (left, await find_journals(remote)) in (([], []), (["lock"], []))

    @property
    def options(self) -> SessionOptions:
        """How `specttui restore` gets there."""
        return SessionOptions(
            target=target_of(self.server),
            connect=options_for(self.server, self.folder, self.folder / "id_ed25519"),
            via=self.via,
            sudo=self.sudo,
        )


@contextlib.asynccontextmanager
async def host_by(folder: Path, way: str, work: str) -> AsyncIterator[Host]:
    key = make_key(folder / "id_ed25519")
    async with SshServer(folder / "host", (key.with_suffix(".pub"),)) as server:
        options_for(server, folder, key)
        yield Host(folder, server, way, work)


@pytest.mark.long
@pytest.mark.parametrize("work", ["patch", "restore"])
@pytest.mark.parametrize("way", ["account", "sudo", "via", "draft"])
async def test_before_and_after_every_operation(
    tmp_path: Path, way: str, work: str, record_property: Callable[[str, object], None]
) -> None:
    async with host_by(tmp_path, way, work) as host, clients() as killed:
        whole = await killed.run(await host.set(killed))
        assert (whole.signal, whole.operations) == (0, OPERATIONS[way, work])
        await host.check()
        faults = [(at, after) for at in range(1, whole.operations + 1) for after in (False, True)]
        for at, after in faults:
            ended = await killed.run(replace(await host.set(killed), at=at, after=after))
            assert (ended.signal, ended.operations) == (signal.SIGKILL, at)
            await host.check()
    record_property(
        "faults", f"client killed, {way}, {work}: {whole.operations} operations, {len(faults)} faults"
    )


@pytest.mark.long
@pytest.mark.parametrize("work", ["patch", "restore"])
async def test_at_every_change_that_the_host_makes(
    tmp_path: Path, work: str, record_property: Callable[[str, object], None]
) -> None:
    async with host_by(tmp_path, "account", work) as host, clients() as killed:
        path = host.server.environment
        counting = Shims(tmp_path / "counting", CHANGING)
        job = await host.set(killed)
        path |= counting.environment
        assert (await killed.run(job)).signal == 0
        changes = counting.calls
        assert len(changes) >= 20
        for at in range(1, len(changes) + 1):
            path.clear()
            job = await host.set(killed)
            shims = Shims(tmp_path / f"at {at}", CHANGING, at, "client", tmp_path / "client")
            path |= shims.environment
            ended = await killed.run(job)
            # Killed at the host's last change, the client may have had its answer.
            assert ended.signal == signal.SIGKILL or at == len(changes)
            await eventually(lambda: not host.server._serving)
            assert len(shims.calls) >= at
            path.clear()
            await host.check()
    record_property(
        "faults", f"client killed at the host's changes, {work}: {len(changes)} changes and faults"
    )
