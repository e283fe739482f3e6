"""Every moment at which patching or restoring can break: the file is whole, and can be restored.

Two kinds of faults, enumerated and not sampled: the connection breaks before or after every remote command;
and the host's shell is killed before every program that changes something (which is after the one before),
in the middle of every write, and after the last.
"""

import contextlib
from collections.abc import Callable
from pathlib import Path

import pytest
from support import fake_docker, fake_sudo
from support.faults import BreakingRemote, Shims
from support.journals import find_journals
from support.local_remote import LocalRemote
from support.prompters import ScriptedPrompter

from specttui.errors import SpecttuiError
from specttui.host.files import GuardedFile
from specttui.host.remote import Remote
from specttui.host.sudo import Sudo
from specttui.host.transport import reached

ORIGINAL = b"class EAGLEWorker:\n    pass\n" * 2000
PATCHED = ORIGINAL + b"# >>> specttui\n" * 500
# Whatever a step changes on the disk, one of these does it, or the shell's own redirection just before one.
CHANGING = ("mkdir", "mv", "dd", "cp", "chown", "chmod", "touch", "rm", "sync")


class Stage:
    """A host with a worker file, and one piece of work to do: patch it, or restore it when it is patched.

    `way` is how the account gets to the file: by itself, through sudo, or through a container's program.
    """

    def __init__(self, folder: Path, work: str, way: str) -> None:
        self.folder = folder
        self.work = work
        self.home = folder / "home"
        self.home.mkdir(parents=True)
        self.path = folder / "lib" / "worker.py"
        self.path.parent.mkdir()
        self.path.write_bytes(ORIGINAL)
        self.path.chmod(0o644)
        self.via = fake_docker.install(folder / "docker", "box").via("box") if way == "via" else ()
        self.sudo = fake_sudo.install(folder / "sudo", self.path.parent) if way == "sudo" else None

    @classmethod
    async def set(cls, folder: Path, work: str, way: str = "account") -> "Stage":
        stage = cls(folder, work, way)
        if work == "restore":
            first = stage.file(stage.host(), "first")
            await _patch(first)
            await first.release()
        return stage

    def host(self) -> LocalRemote:
        """The host, as the account that logs in."""
        return LocalRemote(self.home, env=self.sudo.env if self.sudo else None)

    def file(self, remote: Remote, session_id: str) -> GuardedFile:
        """The file, as seen by a session on a machine of its own."""
        inside = reached(remote, self.via)
        sudo = Sudo(inside, ScriptedPrompter()) if self.sudo else None
        return GuardedFile(inside, str(self.path), session_id, self.folder / f"local {session_id}", sudo)

    async def do(self, remote: Remote) -> None:
        """The work, over this remote."""
        session = self.file(remote, "second")
        await (_patch(session) if self.work == "patch" else session.restore())

    async def check(self) -> None:
        """The file is whole; another machine finds what is left and brings the original back."""
        assert self.path.read_bytes() in {ORIGINAL, PATCHED}
        assert self.path.stat().st_mode & 0o777 == 0o644
        remote = reached(self.host(), self.via)
        rescuer = self.file(self.host(), "rescuer")
        await self._rescue(rescuer)
        assert self.path.read_bytes() == ORIGINAL
        assert self.path.stat().st_mode & 0o777 == 0o644
        assert list(self.path.parent.iterdir()) == [self.path]
        assert (await rescuer.leftovers(), await find_journals(remote)) == ([], [])

    async def _rescue(self, rescuer: GuardedFile) -> None:
        around = await rescuer.surroundings()
        if self.path.read_bytes() == PATCHED:
            assert {"backup", "journal"} <= {left.what for left in around.leftovers}
        if around.journals or around.backups(around.sha256):
            await rescuer.restore(take_over=True)
        elif around.leftovers:  # it broke before anything was written down: the file was not touched yet
            assert self.path.read_bytes() == ORIGINAL
            await rescuer.restore(ORIGINAL, expected_sha256=around.sha256, take_over=True)


async def _patch(guarded: GuardedFile) -> None:
    contents = await guarded.read()
    await guarded.back_up(contents)
    await guarded.replace(PATCHED, contents.sha256)


#: Commands of each work, by the way to the file: through sudo every step that the account may not do is tried
#: first without, and sudo itself once.
COMMANDS = {
    "account": {"patch": 3, "restore": 4},
    "via": {"patch": 3, "restore": 4},
    "sudo": {"patch": 5, "restore": 6},
}


@pytest.mark.long
@pytest.mark.parametrize("work", ["patch", "restore"])
@pytest.mark.parametrize("way", ["account", "via", "sudo"])
async def test_the_connection_breaks_before_or_after_every_command(
    tmp_path: Path, way: str, work: str, record_property: Callable[[str, object], None]
):
    whole = await Stage.set(tmp_path / "whole", work, way)
    counting = BreakingRemote(whole.host())
    await whole.do(counting)
    assert counting.count == COMMANDS[way][work]
    faults = [(at, after) for at in range(1, counting.count + 1) for after in (False, True)]
    for at, after in faults:
        stage = await Stage.set(tmp_path / f"{at}-{after}", work, way)
        with pytest.raises(SpecttuiError):
            await stage.do(BreakingRemote(stage.host(), at, after=after))
        await stage.check()
    record_property(
        "faults", f"connection cut, {way}, {work}: {counting.count} operations, {len(faults)} faults"
    )


@pytest.mark.long
@pytest.mark.parametrize("work", ["patch", "restore"])
async def test_the_hosts_shell_is_killed_at_every_change_it_makes(
    tmp_path: Path, work: str, record_property: Callable[[str, object], None]
):
    whole = await Stage.set(tmp_path / "whole", work)
    shims = Shims(tmp_path / "whole shims", CHANGING)
    await whole.do(LocalRemote(whole.home, env=shims.environment))
    await whole.check()
    changes = shims.calls
    assert len(changes) >= 20
    faults = [(at, "before") for at in range(1, len(changes) + 1)] + [(len(changes), "after")]
    faults += [(at, "during") for at, program in enumerate(changes, 1) if program == "dd"]
    for at, when in faults:
        stage = await Stage.set(tmp_path / f"{at} {when}", work)
        killing = Shims(tmp_path / f"{at} {when} shims", CHANGING, at, when)
        # Killed after its last change, the command has still answered.
        with pytest.raises(SpecttuiError) if when != "after" else contextlib.suppress(SpecttuiError):
            await stage.do(LocalRemote(stage.home, env=killing.environment))
        assert len(killing.calls) == at
        await stage.check()
    record_property("faults", f"host's shell killed, {work}: {len(changes)} changes, {len(faults)} faults")
