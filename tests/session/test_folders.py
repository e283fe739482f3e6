"""Where sessions live and how they are found again."""

from __future__ import annotations

import stat
from datetime import UTC, datetime, timedelta, timezone

import pytest

from specttui.errors import RecordingError
from specttui.session import folders

STARTED = datetime(2026, 11, 29, 14, 22, 33, tzinfo=UTC)


def add_session(root, name):
    folder = root / "sessions" / name
    folder.mkdir(parents=True)
    (folder / "events.jsonl").touch()
    return folder


def test_home_is_overridden_by_the_variable(tmp_path):
    assert folders.home({"SPECTTUI_HOME": str(tmp_path / "x")}) == tmp_path / "x"
    assert folders.home({}).name == "specttui"


@pytest.mark.parametrize(
    ("target", "name"),
    [
        ("gpu-host", "20261129-142233-gpu-host"),
        ("root@10.1.230.174:2222", "20261129-142233-10.1.230.174-2222"),
        ("a@b@fe80::1%eth0", "20261129-142233-fe80-1-eth0"),
        ("../../etc", "20261129-142233-etc"),
        ("@", "20261129-142233-host"),
        ("h" * 100, "20261129-142233-" + "h" * 60),
    ],
)
def test_a_session_is_named_for_its_utc_time_and_host(target, name):
    assert folders.session_name(target, STARTED) == name


def test_the_name_uses_utc_whatever_the_zone():
    local = STARTED.astimezone(timezone(timedelta(hours=-8)))
    assert folders.session_name("h", local) == "20261129-142233-h"


def test_create_makes_private_folders_and_never_shares_one(tmp_path):
    first = folders.create("gpu-host", STARTED, tmp_path)
    second = folders.create("gpu-host", STARTED, tmp_path)
    assert first.path == tmp_path / "sessions" / "20261129-142233-gpu-host"
    assert second.session_id == "20261129-142233-gpu-host-2"
    assert [stat.S_IMODE(path.stat().st_mode) for path in (first.path, first.path.parent)] == [0o700, 0o700]
    assert first.events_path == first.path / "events.jsonl"
    assert first.backups_path == first.path / "backups"
    assert first.report_path == first.path / "report.md"


def test_create_says_what_to_do_when_it_cannot(tmp_path):
    (tmp_path / "sessions").write_text("a file in the way")
    with pytest.raises(RecordingError) as caught:
        folders.create("h", STARTED, tmp_path)
    assert caught.value.title == f"No session folder can be made in {tmp_path / 'sessions'}"
    assert "SPECTTUI_HOME" in caught.value.remedy


def test_list_sessions_is_newest_first_and_leaves_out_folders_without_a_recording(tmp_path):
    assert folders.list_sessions(tmp_path) == []
    old = add_session(tmp_path, "20261128-000000-a")
    new = add_session(tmp_path, "20261129-000000-a")
    (tmp_path / "sessions" / "20261130-000000-empty").mkdir()
    assert [folder.path for folder in folders.list_sessions(tmp_path)] == [new, old]


def test_resolve_finds_latest_ids_beginnings_and_paths(tmp_path):
    old = add_session(tmp_path, "20261128-000000-a")
    new = add_session(tmp_path, "20261129-000000-a")
    longer = add_session(tmp_path, "20261129-000000-a-2")
    elsewhere = tmp_path / "copy.jsonl"
    elsewhere.touch()
    found = {
        reference: folders.resolve(reference, tmp_path)
        for reference in ("latest", "20261128", new.name, str(old), str(elsewhere), str(old / "events.jsonl"))
    }
    assert found == {
        "latest": longer / "events.jsonl",
        "20261128": old / "events.jsonl",
        new.name: new / "events.jsonl",
        str(old): old / "events.jsonl",
        str(elsewhere): elsewhere,
        str(old / "events.jsonl"): old / "events.jsonl",
    }


@pytest.mark.parametrize(
    ("reference", "title"),
    [
        ("2026112", "2 sessions begin with '2026112'"),
        ("nothing", "No session or recording is called 'nothing'"),
        ("", "No session or recording is called ''"),
    ],
)
def test_resolve_refuses_what_is_unclear(tmp_path, monkeypatch, reference, title):
    monkeypatch.chdir(tmp_path)
    add_session(tmp_path, "20261128-000000-a")
    add_session(tmp_path, "20261129-000000-a")
    with pytest.raises(RecordingError) as caught:
        folders.resolve(reference, tmp_path)
    assert caught.value.title == title
    assert "20261129-000000-a" in caught.value.cause


def test_latest_without_any_session_says_so(tmp_path):
    with pytest.raises(RecordingError, match="No session or recording is called 'latest'") as caught:
        folders.resolve("latest", tmp_path)
    assert caught.value.cause == f"{tmp_path / 'sessions'} holds no sessions."
