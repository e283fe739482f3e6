# ruff: noqa: ASYNC220, ASYNC240 - the files and programs of a test are small and local
"""Guarded files and several sessions: what dead ones left, and locks."""

import hashlib
import os
import re
import subprocess
from pathlib import Path

import pytest
from support.journals import find_journals
from support.local_remote import LocalRemote

from specttui.errors import WorkerFileError
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


def _another(remote: LocalRemote, path: Path, tmp_path: Path, session_id: str = "s2") -> GuardedFile:
    """The same file, seen by another session on another machine."""
    return GuardedFile(remote, str(path), session_id, tmp_path / f"local of {session_id}")


async def _patch(guarded: GuardedFile) -> None:
    contents = await guarded.read()
    await guarded.back_up(contents)
    await guarded.replace(PATCHED, contents.sha256)


def _beside(path: Path) -> list[str]:
    return sorted(found.name for found in path.parent.iterdir() if found != path)


async def test_f04_another_machine_restores_with_what_the_host_has(
    guarded: GuardedFile, remote: LocalRemote, path: Path, tmp_path: Path
):
    await _patch(guarded)
    await guarded.release()
    journals = await find_journals(remote)
    assert [(record.path, record.session_id, record.state) for record in journals] == [
        (str(path), "s1", "replaced")
    ]
    other = _another(remote, path, tmp_path)
    left = await other.leftovers()
    assert [(item.what, item.session_id, item.sha256) for item in left] == [
        ("backup", "s1", _sha(ORIGINAL)),
        ("journal", "s1", _sha(ORIGINAL)),
    ]
    assert all(0 <= item.age_s < 600 for item in left)
    await other.restore()
    assert path.read_bytes() == ORIGINAL
    assert (_beside(path), await other.leftovers(), await find_journals(remote)) == ([], [], [])


async def test_another_session_goes_on_with_a_dead_ones_backup(
    guarded: GuardedFile, remote: LocalRemote, path: Path, tmp_path: Path
):
    await _patch(guarded)
    await guarded.release()
    other = _another(remote, path, tmp_path)
    await other.adopt()
    assert other.backup is not None
    assert Path(other.backup.local_path).read_bytes() == ORIGINAL
    await other.replace(PATCHED + b"mine", _sha(PATCHED))
    await other.restore()
    assert (path.read_bytes(), _beside(path)) == (ORIGINAL, [])


@pytest.mark.parametrize("older", ["s1", "s2"], ids=["first-noted-first", "second-noted-first"])
async def test_what_a_session_took_for_the_original_is_seen_through(
    guarded: GuardedFile, remote: LocalRemote, path: Path, tmp_path: Path, older: str
):
    """It began with what a dead one had put there; both notes may be of one second, in either order."""
    await _patch(guarded)
    await guarded.release()
    other = _another(remote, path, tmp_path)
    await other.back_up()
    await other.replace(PATCHED + b"mine", _sha(PATCHED))
    await other.release()
    for record in (tmp_path / "home/.cache/specttui/files").iterdir():
        time_s = 1 if record.name.endswith(older) else 2
        record.write_text(re.sub(r"time_s=\d+", f"time_s={time_s}", record.read_text()))
    around = await guarded.surroundings()
    for contents in (PATCHED + b"mine", PATCHED, ORIGINAL):
        assert around.original_of(_sha(contents)) == _sha(ORIGINAL)
    assert around.original_of(_sha(b"other")) == ""
    await _another(remote, path, tmp_path, "s3").restore()
    assert (path.read_bytes(), _beside(path)) == (ORIGINAL, [])


async def test_two_sessions_cannot_both_write(
    guarded: GuardedFile, remote: LocalRemote, path: Path, tmp_path: Path
):
    await guarded.back_up()
    other = _another(remote, path, tmp_path)
    with pytest.raises(WorkerFileError) as refused:
        await other.back_up()
    assert refused.value.title == f"Another session is working on {path}"
    assert "Session s1 of " in refused.value.cause
    await guarded.heartbeat()
    lock = next(item for item in await other.leftovers() if item.what == "lock")
    assert (lock.session_id, lock.age_s < 60, "@" in lock.by) == ("s1", True, True)
    await guarded.release()
    await other.back_up()
    with pytest.raises(WorkerFileError):
        await guarded.heartbeat()
    await guarded.release()
    assert [item.session_id for item in await guarded.leftovers() if item.what == "lock"] == ["s2"]


def _rewrite_lock(home: Path, **changes: str) -> None:
    owner = next(home.rglob("owner"))
    session, since, who, pid = owner.read_text().split()
    fields = {"session": session, "since": since, "who": who, "pid": pid} | changes
    owner.write_text("{session} {since} {who} {pid}\n".format(**fields))


async def test_a_lock_without_signs_of_life_is_taken_over(
    guarded: GuardedFile, remote: LocalRemote, path: Path, tmp_path: Path
):
    await guarded.back_up()
    _rewrite_lock(tmp_path / "home", since="1000")
    other = _another(remote, path, tmp_path)
    await other.back_up()
    assert [item.session_id for item in await guarded.leftovers() if item.what == "lock"] == ["s2"]


async def test_a_lock_of_a_process_of_ours_that_ended_is_taken_over_at_once(
    guarded: GuardedFile, remote: LocalRemote, path: Path, tmp_path: Path
):
    await guarded.back_up()
    ended = subprocess.Popen(["true"])
    ended.wait()
    _rewrite_lock(tmp_path / "home", pid=str(ended.pid))
    await _another(remote, path, tmp_path).back_up()
    _rewrite_lock(tmp_path / "home", pid=str(ended.pid), who="somebody@elsewhere", session="s3")
    with pytest.raises(WorkerFileError):
        await guarded.heartbeat()


async def test_a_fresh_lock_is_taken_over_when_asked_to(
    guarded: GuardedFile, remote: LocalRemote, path: Path, tmp_path: Path
):
    await _patch(guarded)
    other = _another(remote, path, tmp_path)
    with pytest.raises(WorkerFileError):
        await other.restore()
    assert path.read_bytes() == PATCHED
    await other.restore(take_over=True)
    assert (path.read_bytes(), _beside(path)) == (ORIGINAL, [])


async def test_without_a_cache_folder_the_file_is_guarded_all_the_same(path: Path, tmp_path: Path):
    blocked = tmp_path / "blocked"
    blocked.write_text("a file where the cache folder should be")
    guarded = GuardedFile(
        LocalRemote(tmp_path, env={"XDG_CACHE_HOME": str(blocked)}), str(path), "s1", tmp_path / "l"
    )
    await _patch(guarded)
    assert path.read_bytes() == PATCHED
    await guarded.restore()
    assert (path.read_bytes(), _beside(path)) == (ORIGINAL, [])


@pytest.mark.parametrize("session_id", ["", "a/b", "../x", "a b", "-x", "x" * 81])
def test_a_session_id_that_cannot_be_in_a_file_name(remote: LocalRemote, tmp_path: Path, session_id: str):
    with pytest.raises(WorkerFileError):
        GuardedFile(remote, "/f", session_id, tmp_path)


async def test_round_trips(guarded: GuardedFile, remote: LocalRemote):
    await _patch(guarded)
    assert len(remote.commands) == 3
    await guarded.restore()
    assert len(remote.commands) == 6
