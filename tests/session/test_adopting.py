"""What follows from adopting, and overrides of units."""

from __future__ import annotations

import hashlib
import os
import shlex
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from support import fake_systemd
from support.left_host import CONFIG, ORIGINAL, LeftHost, dead
from support.local_remote import LocalRemote

from specttui.events import Clock, FileState, Launch, WorkerFileChecked
from specttui.host.locks import LockedError
from specttui.host.managers.overrides import Unit, UnitOverrides


@pytest.fixture
def host(tmp_path: Path) -> LeftHost:
    return LeftHost(tmp_path)


# What follows from adopting


async def test_an_adopted_patch_is_switched_through_its_own_control_file(host: LeftHost) -> None:
    await dead(host, "patch")
    member = await host.member(patched=True)
    await member.changes.adopt()
    [checked] = [event for event in member.events if isinstance(event, WorkerFileChecked)]
    assert (checked.path, checked.state) == (str(host.worker), FileState.PATCHED)
    assert _bytes(checked.local_backup_path) == ORIGINAL
    await member.keeper.set_clock(Clock.WALL)
    assert (host.cache / "probe-dead.json").read_text() == '{"clock": "wall"}\n'
    assert not (host.cache / "probe-me.json").exists()
    await member.changes.restore(member.worker_path)
    await member.close()
    assert host.is_as_it_was()


async def test_an_edit_of_what_another_session_edited_keeps_the_first_original(host: LeftHost) -> None:
    await dead(host, "edit")
    member = await host.member()
    member.draft._path = _always(str(host.config))  # type: ignore[method-assign]
    await member.draft.edit('{"another": "edit"}\n')
    assert (await member.draft.view()).changed
    await member.draft.restore()
    assert host.config.read_bytes() == CONFIG
    await member.close()
    assert host.is_as_it_was()


async def test_a_patched_file_of_which_nothing_is_noted_is_adopted_all_the_same(host: LeftHost) -> None:
    host.worker.write_bytes(host.patched)
    member = await host.member(patched=True)
    assert [(left.what, left.path) for left in member.changes.leftovers] == [
        ("patched file", str(host.worker))
    ]
    await member.changes.adopt()
    assert member.left == []
    await member.changes.restore(member.worker_path)
    await member.close()
    assert host.tree()["site packages/eagle_worker_v2.py"] == ORIGINAL


async def test_a_link_to_the_file_is_the_same_file(host: LeftHost) -> None:
    await dead(host, "patch")
    link = host.folder / "lib64"
    link.symlink_to(host.worker.parent)
    real, host.worker = host.worker, link / host.worker.name
    member = await host.member(patched=True)
    member.state.worker_file = WorkerFileChecked(
        path=str(host.worker), state=FileState.PATCHED, sha256=_sha256(real.read_bytes())
    )
    assert [what for what, _, _ in member.left] == ["patched file", "backup", "control file"]
    await member.changes.adopt()
    assert member.keeper.patched_paths == {str(host.worker)}
    await member.changes.restore(member.worker_path)
    assert real.read_bytes() == ORIGINAL
    await member.close()


# Overrides of units


@pytest.fixture
def systemd(tmp_path: Path) -> fake_systemd.FakeSystemd:
    made = fake_systemd.install(tmp_path / "systemd")
    made.write_unit("sglang.service", "/bin/sleep 1000", tmp_path / "log")
    return made


async def _override(host: LeftHost, systemd: fake_systemd.FakeSystemd, session_id: str) -> dict[str, str]:
    """Let a session write an override; gives the environment in which systemd is found."""
    env = {"PATH": f"{systemd.programs}:{os.environ['PATH']}"}
    overrides = UnitOverrides(LocalRemote(host.home, env=env))
    launch = Launch(argv=tuple(shlex.split("/bin/sleep 2000")), cwd="/")
    await overrides.write(Unit("sglang.service"), launch, session_id)
    return env


@pytest.mark.parametrize("action", ["restore", "adopt", "ignore"])
async def test_an_override_of_a_dead_session(
    host: LeftHost, systemd: fake_systemd.FakeSystemd, action: str
) -> None:
    env = await _override(host, systemd, "dead.and.gone")
    member = await host.member(env=env)
    assert member.left == [("override", "dead-and-gone", False)]
    [left] = member.changes.leftovers
    assert left.age_s is not None
    assert -5 < left.age_s < 600
    words = ("The unit sglang.service runs with an override of ours.",)
    assert member.changes.words == words
    if action == "ignore":
        member.changes.ignore()
        assert (member.left, member.changes.words, len(systemd.drop_ins)) == ([], (), 1)
    elif action == "adopt":
        await member.changes.adopt()
        assert (member.left, member.changes.words, host.owners()) == ([], words, ["me"])
        await member.changes.restore(member.worker_path)
        assert (systemd.drop_ins, member.changes.words, host.owners()) == ([], (), [])
    else:
        await member.changes.restore_leftovers()
        assert (systemd.drop_ins, member.left) == ([], [])
    await member.close()


async def test_an_override_of_a_living_session_is_shown_to_live_and_kept(
    host: LeftHost, systemd: fake_systemd.FakeSystemd
) -> None:
    env = await _override(host, systemd, "mine")
    mine = await host.member("mine", env)
    assert mine.left == []
    await mine.keeper.beats.beat()
    other = await host.member("other", env)
    assert other.left == [("override", "mine", True)]
    assert other.changes.words == ()
    for act in (other.changes.restore_leftovers, other.changes.adopt):
        with pytest.raises(LockedError):
            await act()
    assert len(systemd.drop_ins) == 1
    await other.changes.restore_leftovers(take_over=True)
    assert (systemd.drop_ins, other.left) == ([], [])
    await mine.close()
    await other.close()
    assert host.owners() == []


def _bytes(path: str) -> bytes:
    return Path(path).read_bytes()


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _always(path: str) -> Callable[[], Awaitable[str]]:
    async def find() -> str:
        return path

    return find
