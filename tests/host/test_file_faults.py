"""Every moment at which patching or restoring can break: the file is whole, and can be restored.

Two kinds of faults, enumerated and not sampled: the connection breaks before or after every remote command;
and the host's shell is killed before every program that changes something (which is after the one before),
in the middle of every write, and after the last.
"""

import contextlib
from pathlib import Path

import pytest
from support.faults import BreakingRemote, Shims
from support.local_remote import LocalRemote

from specttui.errors import SpecttuiError
from specttui.host.files import GuardedFile
from specttui.host.leftovers import find_journals
from specttui.host.remote import Remote

ORIGINAL = b"class EAGLEWorker:\n    pass\n" * 2000
PATCHED = ORIGINAL + b"# >>> specttui\n" * 500
# Whatever a step changes on the disk, one of these does it, or the shell's own redirection just before one.
CHANGING = ("mkdir", "mv", "dd", "cp", "chown", "chmod", "touch", "rm", "sync")


class Stage:
    """A host with a worker file, and one piece of work to do: patch it, or restore it when it is patched."""

    def __init__(self, folder: Path, work: str) -> None:
        self.folder = folder
        self.work = work
        self.home = folder / "home"
        self.home.mkdir(parents=True)
        self.path = folder / "lib" / "worker.py"
        self.path.parent.mkdir()
        self.path.write_bytes(ORIGINAL)
        self.path.chmod(0o644)

    @classmethod
    async def set(cls, folder: Path, work: str) -> "Stage":
        stage = cls(folder, work)
        if work == "restore":
            first = stage.file(LocalRemote(stage.home), "first")
            await _patch(first)
            await first.release()
        return stage

    def file(self, remote: Remote, session_id: str) -> GuardedFile:
        """The file, as seen by a session on a machine of its own."""
        return GuardedFile(remote, str(self.path), session_id, self.folder / f"local {session_id}")

    async def do(self, remote: Remote) -> None:
        """The work, over this remote."""
        session = self.file(remote, "second")
        await (_patch(session) if self.work == "patch" else session.restore())

    async def check(self) -> None:
        """The file is whole; another machine finds what is left and brings the original back."""
        assert self.path.read_bytes() in {ORIGINAL, PATCHED}
        assert self.path.stat().st_mode & 0o777 == 0o644
        remote = LocalRemote(self.home)
        rescuer = self.file(remote, "rescuer")
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


@pytest.mark.parametrize("work", ["patch", "restore"])
async def test_the_connection_breaks_before_or_after_every_command(tmp_path: Path, work: str):
    whole = await Stage.set(tmp_path / "whole", work)
    counting = BreakingRemote(LocalRemote(whole.home))
    await whole.do(counting)
    assert counting.count == {"patch": 3, "restore": 4}[work]
    faults = [(at, after) for at in range(1, counting.count + 1) for after in (False, True)]
    for at, after in faults:
        stage = await Stage.set(tmp_path / f"{at} {after}", work)
        with pytest.raises(SpecttuiError):
            await stage.do(BreakingRemote(LocalRemote(stage.home), at, after=after))
        await stage.check()
    print(f"{work}: {counting.count} commands, {len(faults)} faults, all recovered")


@pytest.mark.parametrize("work", ["patch", "restore"])
async def test_the_hosts_shell_is_killed_at_every_change_it_makes(tmp_path: Path, work: str):
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
    print(f"{work}: {len(changes)} changes, {len(faults)} faults, all recovered")
