# ruff: noqa: ASYNC240 - the files and programs of a test are small and local
"""Guarded files on this machine: reading, backing up, replacing, restoring, and refusing."""

import hashlib
import os
import shutil
import stat
import subprocess
from pathlib import Path

import pytest
from support.journals import find_journals
from support.local_remote import LocalRemote

from specttui.errors import WorkerFileChangedError, WorkerFileError
from specttui.host.files import GuardedFile

ORIGINAL = b"class EAGLEWorker:\n    pass\n" * 500
PATCHED = ORIGINAL + b"# >>> specttui\n" * 50
MTIME_S = 1_700_000_000


def _sha(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


@pytest.fixture
def remote(tmp_path: Path) -> LocalRemote:
    (tmp_path / "home").mkdir()
    return LocalRemote(tmp_path / "home")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A worker file with an awkward name, a mode and a time of its own."""
    file = tmp_path / "site packages" / "it's $(a) wörker.py"
    file.parent.mkdir()
    file.write_bytes(ORIGINAL)
    file.chmod(0o640)
    os.utime(file, (MTIME_S, MTIME_S))
    return file


@pytest.fixture
def guarded(remote: LocalRemote, path: Path, tmp_path: Path) -> GuardedFile:
    return GuardedFile(remote, str(path), "s1", tmp_path / "local")


async def _patch(guarded: GuardedFile) -> None:
    contents = await guarded.read()
    await guarded.back_up(contents)
    await guarded.replace(PATCHED, contents.sha256)


def _beside(path: Path) -> list[str]:
    return sorted(found.name for found in path.parent.iterdir() if found != path)


async def test_reading(guarded: GuardedFile, path: Path):
    contents = await guarded.read()
    assert (contents.path, contents.resolved_path, contents.data) == (str(path), str(path), ORIGINAL)
    assert (contents.sha256, contents.mode, contents.mtime_s) == (_sha(ORIGINAL), 0o640, MTIME_S)
    assert (contents.uid, contents.gid, contents.links) == (os.getuid(), os.getgid(), 1)
    assert (contents.owner, contents.writable, contents.folder_writable) == (path.owner(), True, True)
    assert _beside(path) == []


async def test_backing_up_keeps_the_original_in_two_places(guarded: GuardedFile, path: Path, tmp_path: Path):
    backup = await guarded.back_up()
    remote_copy, local_copy = Path(backup.remote_path), Path(backup.local_path)
    assert remote_copy.name == f"{path.name}.specttui-s1.{_sha(ORIGINAL)[:12]}.orig"
    assert (remote_copy.read_bytes(), local_copy.read_bytes()) == (ORIGINAL, ORIGINAL)
    assert stat.S_IMODE(remote_copy.stat().st_mode) == 0o640
    assert int(remote_copy.stat().st_mtime) == MTIME_S
    assert stat.S_IMODE(local_copy.stat().st_mode) == 0o600
    assert stat.S_IMODE((tmp_path / "local").stat().st_mode) == 0o700
    assert await guarded.back_up() == backup
    assert _beside(path) == [remote_copy.name]


async def test_replacing_and_restoring_gives_the_original_with_nothing_left(
    guarded: GuardedFile, path: Path, remote: LocalRemote, tmp_path: Path
):
    await _patch(guarded)
    assert path.read_bytes() == PATCHED
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert path.stat().st_mtime > MTIME_S
    restored = await guarded.restore()
    assert (restored.sha256, restored.bytecode_left) == (_sha(ORIGINAL), 0)
    assert path.read_bytes() == ORIGINAL
    assert (stat.S_IMODE(path.stat().st_mode), int(path.stat().st_mtime)) == (0o640, MTIME_S)
    assert _beside(path) == []
    left = [found for found in (tmp_path / "home").rglob("*") if found.is_file()]
    assert left == []
    assert await find_journals(remote) == []


async def test_patching_again_with_other_contents_keeps_the_first_backup(guarded: GuardedFile, path: Path):
    await _patch(guarded)
    first = guarded.backup
    contents = await guarded.read()
    assert await guarded.back_up(contents) == first
    await guarded.replace(PATCHED + b"more", contents.sha256)
    assert path.read_bytes() == PATCHED + b"more"
    await guarded.restore()
    assert path.read_bytes() == ORIGINAL


async def test_an_original_that_was_upgraded_gets_a_backup_of_its_own(guarded: GuardedFile, path: Path):
    await guarded.back_up()
    path.write_bytes(b"version 2\n")
    contents = await guarded.read()
    backup = await guarded.back_up(contents)
    await guarded.replace(b"version 2\npatched\n", contents.sha256)
    assert Path(backup.remote_path).read_bytes() == b"version 2\n"
    await guarded.restore()
    assert path.read_bytes() == b"version 2\n"
    assert _beside(path) == [f"{path.name}.specttui-s1.{_sha(ORIGINAL)[:12]}.orig"]


async def test_replacing_can_be_repeated_after_a_lost_answer(guarded: GuardedFile, path: Path):
    await _patch(guarded)
    again = await guarded.replace(PATCHED, _sha(ORIGINAL))
    assert again.sha256 == _sha(PATCHED)
    assert path.read_bytes() == PATCHED


async def test_a_link_stays_a_link_and_its_target_is_replaced(
    remote: LocalRemote, path: Path, tmp_path: Path
):
    link = tmp_path / "link.py"
    link.symlink_to(path)
    guarded = GuardedFile(remote, str(link), "s1", tmp_path / "local")
    contents = await guarded.read()
    assert (contents.path, contents.resolved_path) == (str(link), str(path))
    await _patch(guarded)
    assert link.is_symlink()
    assert path.read_bytes() == PATCHED
    await guarded.restore()
    assert (link.is_symlink(), path.read_bytes(), link.read_bytes()) == (True, ORIGINAL, ORIGINAL)


async def test_a_hard_link_in_a_package_cache_is_never_written_to(
    guarded: GuardedFile, path: Path, tmp_path: Path
):
    cached = tmp_path / "cache.py"
    cached.hardlink_to(path)
    assert (await guarded.read()).links == 2
    await _patch(guarded)
    assert cached.read_bytes() == ORIGINAL
    await guarded.restore()
    assert (cached.read_bytes(), path.read_bytes()) == (ORIGINAL, ORIGINAL)


async def test_f03_only_the_modules_own_bytecode_is_removed(guarded: GuardedFile, path: Path):
    cache = path.parent / "__pycache__"
    cache.mkdir()
    stem = path.name.removesuffix(".py")
    own = [f"{stem}.cpython-312.pyc", f"{stem}.cpython-311.opt-1.pyc"]
    for name in (*own, "other.cpython-312.pyc", f"{stem}_v2.cpython-312.pyc"):
        (cache / name).write_bytes(b"compiled")
    assert await guarded.remove_pycache() == 0
    assert sorted(found.name for found in cache.iterdir()) == sorted(
        ["other.cpython-312.pyc", f"{stem}_v2.cpython-312.pyc"]
    )
    for step in (_patch(guarded), guarded.restore()):
        (cache / own[0]).write_bytes(b"compiled")
        await step
        assert not (cache / own[0]).exists()


async def test_f03_a_new_process_runs_what_the_file_holds(remote: LocalRemote, tmp_path: Path):
    module = tmp_path / "worker_module.py"
    module.write_bytes(b"print('A')\n")
    guarded = GuardedFile(remote, str(module), "s1", tmp_path / "local")

    def run() -> str:
        command = ["python3", "-c", "import worker_module"]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True).stdout

    assert run() == "A\n"
    contents = await guarded.read()
    await guarded.back_up(contents)
    await guarded.replace(b"print('B')\n", contents.sha256)
    assert run() == "B\n"
    await guarded.restore()
    assert run() == "A\n"


async def test_a_file_that_somebody_changed_is_not_written(guarded: GuardedFile, path: Path):
    contents = await guarded.read()
    await guarded.back_up(contents)
    path.write_bytes(b"upgraded\n")
    with pytest.raises(WorkerFileChangedError) as refused:
        await guarded.replace(PATCHED, contents.sha256)
    assert _sha(b"upgraded\n") in refused.value.cause
    assert "Nothing was written" in refused.value.cause
    assert path.read_bytes() == b"upgraded\n"
    assert not [name for name in _beside(path) if name.endswith(".tmp")]


async def test_a_file_that_somebody_changed_is_not_backed_up_as_the_original(
    guarded: GuardedFile, path: Path
):
    contents = await guarded.read()
    path.write_bytes(b"upgraded\n")
    with pytest.raises(WorkerFileChangedError):
        await guarded.back_up(contents)
    assert _beside(path) == []
    assert guarded.backup is None


async def test_a_patched_file_that_somebody_changed_is_not_restored_over(guarded: GuardedFile, path: Path):
    await _patch(guarded)
    path.write_bytes(b"upgraded\n")
    with pytest.raises(WorkerFileChangedError) as refused:
        await guarded.restore()
    assert refused.value.title.endswith("is not what a session put there")
    with pytest.raises(WorkerFileChangedError):
        await guarded.restore(ORIGINAL, expected_sha256=_sha(PATCHED))
    assert path.read_bytes() == b"upgraded\n"


async def test_a_file_that_vanished(guarded: GuardedFile, path: Path):
    await _patch(guarded)
    path.unlink()
    with pytest.raises(WorkerFileChangedError) as gone:
        await guarded.replace(ORIGINAL, _sha(PATCHED))
    assert "does not exist" in gone.value.title
    with pytest.raises(WorkerFileChangedError):
        await guarded.restore()
    assert not path.exists()


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (lambda path: path.unlink(), WorkerFileChangedError, "does not exist"),
        (lambda path: (path.unlink(), path.mkdir()), WorkerFileError, "It is not a regular file."),
        (lambda path: os.truncate(path, 17 << 20), WorkerFileError, "more than 16 MiB are not edited"),
    ],
)
async def test_what_cannot_be_read(guarded: GuardedFile, path: Path, make, error, words: str):
    make(path)
    with pytest.raises(error) as refused:
        await guarded.read()
    assert words in str(refused.value)
    assert refused.value.remedy


async def test_nothing_is_written_without_a_backup(guarded: GuardedFile, path: Path):
    with pytest.raises(WorkerFileError) as refused:
        await guarded.replace(PATCHED, _sha(ORIGINAL))
    assert refused.value.title.endswith("was not backed up")
    backup = await guarded.back_up()
    Path(backup.remote_path).write_bytes(b"damaged")
    with pytest.raises(WorkerFileError) as damaged:
        await guarded.replace(PATCHED, _sha(ORIGINAL))
    assert "is missing or damaged" in damaged.value.cause
    assert path.read_bytes() == ORIGINAL


async def test_the_original_comes_from_the_local_copy_when_the_hosts_is_gone(
    guarded: GuardedFile, path: Path
):
    await _patch(guarded)
    assert guarded.backup
    Path(guarded.backup.remote_path).unlink()
    await guarded.restore()
    assert path.read_bytes() == ORIGINAL


async def test_an_original_nobody_has_any_more(guarded: GuardedFile, path: Path, tmp_path: Path):
    await _patch(guarded)
    assert guarded.backup
    Path(guarded.backup.remote_path).unlink()
    shutil.rmtree(tmp_path / "local")
    with pytest.raises(WorkerFileError) as refused:
        await guarded.restore()
    assert refused.value.title == f"The original of {path} is not known"
    await guarded.restore(ORIGINAL, expected_sha256=_sha(PATCHED))
    assert path.read_bytes() == ORIGINAL
