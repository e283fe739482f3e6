# ruff: noqa: ASYNC240 - the files of a test are small and local
"""One look at all that sessions left on a host, and clearing away what lies in the cache folder."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.local_remote import LocalRemote

from specttui.errors import WorkerFileError
from specttui.host.files import GuardedFile
from specttui.host.leftovers import clear_away, find_traces
from specttui.host.locks import Holder, LockedError, has_ended, span, this_machine
from specttui.host.path_lock import PathLock

NAMES = ["worker.py", "it's $(a) wörker.py", "with\na line end", "trailing line end\n", " x=y\npath=z.py"]
SCRIPT = "launch-s1-20261129T120000000000.sh"


@pytest.fixture
def remote(tmp_path: Path) -> LocalRemote:
    (tmp_path / "home").mkdir()
    return LocalRemote(tmp_path / "home")


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    folder = tmp_path / "home/.cache/specttui"
    folder.mkdir(parents=True)
    return folder


@pytest.fixture
def running() -> Iterator[int]:
    process = subprocess.Popen(["sleep", "1000"])
    yield process.pid
    process.kill()
    process.wait()


async def test_nothing_is_found_where_nothing_is(remote: LocalRemote, tmp_path: Path) -> None:
    traces = await find_traces(remote)
    assert (traces.files, traces.things, traces.living) == ((), (), {})
    assert len(remote.commands) == 1
    assert list((tmp_path / "home").iterdir()) == []


@pytest.mark.parametrize("name", NAMES)
async def test_a_file_is_found_by_its_lock_alone_whatever_its_name(
    remote: LocalRemote, tmp_path: Path, name: str
) -> None:
    path = tmp_path / name
    path.write_bytes(b"x = 1\n")
    guarded = GuardedFile(remote, str(path), "s1", tmp_path / "local")
    await guarded.heartbeat()
    Path(f"{path}.specttui-s1.0123456789ab.tmp").write_bytes(b"x")
    [around] = (await find_traces(remote)).files
    assert around.resolved_path == str(path)
    assert [(left.what, left.path) for left in around.leftovers] == [
        ("temporary", f"{path}.specttui-s1.0123456789ab.tmp"),
        ("lock", str(path)),
    ]
    assert around.lock is not None
    assert around.lock.lives
    assert around.lock.holder.session_id == "s1"
    assert around.lock.holder.who == this_machine()


@pytest.mark.parametrize("name", NAMES[:4])
async def test_a_file_is_found_by_its_record_after_the_lock_was_given_back(
    remote: LocalRemote, tmp_path: Path, name: str
) -> None:
    path = tmp_path / name
    path.write_bytes(b"x = 1\n")
    guarded = GuardedFile(remote, str(path), "s1", tmp_path / "local")
    await guarded.back_up()
    await guarded.release()
    [around] = (await find_traces(remote)).files
    assert (around.resolved_path, around.lock) == (str(path), None)
    assert [left.what for left in around.leftovers] == ["backup", "journal"]


async def test_since_when_a_lock_is_held_and_when_its_session_was_seen(
    remote: LocalRemote, tmp_path: Path, cache: Path
) -> None:
    path = tmp_path / "worker.py"
    path.write_bytes(b"")
    guarded = GuardedFile(remote, str(path), "s1", tmp_path / "local")
    await guarded.heartbeat()
    [lock] = (cache / "locks").iterdir()
    taken = int((lock / "taken").read_text().split("\n")[0])
    (lock / "taken").write_text(f"{taken - 4000}\n{path}")
    await guarded.heartbeat()
    holder = (await find_traces(remote)).living["s1"]
    assert 4000 <= holder.held_s < 4300
    assert 0 <= holder.seen_s < 300
    (lock / "owner").write_text(f"s1 {taken - 121} ada@laptop 7\n")
    traces = await find_traces(remote)
    assert traces.living == {}
    assert traces.files[0].lock is not None
    assert not traces.files[0].lock.lives


async def test_a_lock_that_was_not_finished_is_found_by_its_folder(remote: LocalRemote, cache: Path) -> None:
    lock = cache / "locks" / ("a" * 64)
    lock.mkdir(parents=True)
    [around] = (await find_traces(remote)).files
    assert (around.resolved_path, around.sha256) == ("", "")
    assert around.lock is not None
    assert (around.lock.folder, around.lock.lives) == (str(lock), True)
    with pytest.raises(LockedError):
        await clear_away(remote, str(lock), "me", of_session="")
    os.utime(lock, (1000, 1000))
    await clear_away(remote, str(lock), "me", of_session="")
    assert list(lock.parent.iterdir()) == []


async def test_what_lies_in_the_cache_folder(remote: LocalRemote, cache: Path, running: int) -> None:
    (cache / "hook-s1").mkdir()
    (cache / "probe-s1.json").write_text("{}")
    for name in (SCRIPT, "launch-10.1.230.174-1-20261129T120000000001.sh", "by-hand.sh", "launch-odd.sh"):
        (cache / name).write_text("")
    os.utime(cache / "probe-s1.json", (1000, 1000))
    found = (await find_traces(remote)).things
    assert [(thing.what, thing.session_id, Path(thing.path).name) for thing in found] == [
        ("hook folder", "s1", "hook-s1"),
        ("control file", "s1", "probe-s1.json"),
        ("launch script", "10-1-230-174-1", "launch-10.1.230.174-1-20261129T120000000001.sh"),
        ("launch script", "s1", SCRIPT),
    ]
    assert found[0].age_s < 300
    assert found[1].age_s > 1_000_000_000
    (cache / SCRIPT).with_suffix(".pid").write_text(str(running))
    names = [Path(thing.path).name for thing in (await find_traces(remote)).things]
    assert SCRIPT not in names


async def test_clearing_a_launch_keeps_its_log_and_one_that_runs(
    remote: LocalRemote, cache: Path, running: int
) -> None:
    script = cache / SCRIPT
    for ending in (".sh", ".env", ".pid", ".exit", ".log"):
        script.with_suffix(ending).write_text(str(running))
    await clear_away(remote, str(script), "me", of_session="s1")
    assert len(list(cache.glob("launch-*"))) == 5
    script.with_suffix(".pid").write_text("")
    await clear_away(remote, str(script), "me", of_session="s1")
    assert [path.name for path in cache.glob("launch-*")] == [script.with_suffix(".log").name]
    assert list((cache / "locks").iterdir()) == []


@pytest.mark.parametrize(
    "name", ["other.json", "files/x", "locks/a/b", "../hook-x", "hook-s1/inner", "launch-s1.env", "."]
)
async def test_nothing_else_is_ever_cleared_away(remote: LocalRemote, cache: Path, name: str) -> None:
    path = cache / name
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists():
        path.write_text("kept")
    with pytest.raises(WorkerFileError):
        await clear_away(remote, str(path), "me", of_session="s1")
    assert path.exists()


async def test_a_link_out_of_the_cache_folder_is_not_followed(
    remote: LocalRemote, cache: Path, tmp_path: Path
):
    kept = tmp_path / "kept"
    kept.mkdir()
    (cache / "hook-s1").symlink_to(kept)
    with pytest.raises(WorkerFileError):
        await clear_away(remote, str(cache / "hook-s1"), "me", of_session="s1")
    assert kept.is_dir()


@pytest.mark.parametrize("of_session", ["s1", "s1-0"])
async def test_what_a_session_uses_that_lives_is_not_cleared_away(
    remote: LocalRemote, cache: Path, tmp_path: Path, of_session: str
) -> None:
    script = cache / SCRIPT
    script.write_text("")
    (tmp_path / "worker.py").write_bytes(b"")
    lock = PathLock(remote, str(tmp_path / "worker.py"), "s1")
    await lock.heartbeat()
    with pytest.raises(LockedError) as refused:
        await clear_away(remote, str(script), "me", of_session=of_session)
    assert (refused.value.holder.session_id, refused.value.holder.who) == ("s1", this_machine())
    assert script.exists()
    await clear_away(remote, str(script), "me", of_session="s10")
    assert not script.exists()
    script.write_text("")
    await clear_away(remote, str(script), "me", of_session=of_session, take_over=True)
    assert not script.exists()
    await lock.release()
    assert (await find_traces(remote)).files == ()


async def test_a_lock_is_given_back_also_when_what_it_was_for_is_gone(
    remote: LocalRemote, tmp_path: Path
) -> None:
    path = tmp_path / "unit.d" / "drop-in.conf"
    path.parent.mkdir()
    path.write_text("")
    lock = PathLock(remote, str(path), "s1")
    await lock.heartbeat()
    path.unlink()
    path.parent.rmdir()
    await lock.release()
    assert (await find_traces(remote)).files == ()


def test_who_holds_a_lock_in_words() -> None:
    holder = Holder.parse("s1", "ada@lap top 77", "7300", "12")
    assert holder == Holder("s1", "ada@lap top", 7300, 12)
    assert holder.words == "Session s1 of ada@lap top took it 2 h ago and gave a sign of life 12 s ago"
    assert Holder.parse("", "", "", "") == Holder("", "", 0, 0)
    assert Holder("", "", 0, 0).words.startswith("Session unknown of somebody took it 0 s ago")


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (-5, "0 s"),
        (0, "0 s"),
        (119, "119 s"),
        (120, "2 min"),
        (7199, "119 min"),
        (7200, "2 h"),
        (172_800, "2 d"),
    ],
)
def test_spans(seconds: int, words: str) -> None:
    assert span(seconds) == words


def test_only_a_process_of_ours_that_is_gone_has_ended() -> None:
    ended = subprocess.Popen(["true"])
    ended.wait()
    assert has_ended(f"{this_machine()} {ended.pid}")
    assert not has_ended(f"{this_machine()} {os.getpid()}")
    assert not has_ended(f"somebody@elsewhere {ended.pid}")
    assert not has_ended(f"{this_machine()} x")
