# ruff: noqa: ASYNC240 - the files of a test are small and local
"""A server of another account, through the real sudo: seen, stopped, and started as that account."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from support.accounts import PASSWORD, Account
from support.fake_sglang import alive
from support.foreign_desk import ASKING, ASKING_ROOT, FREE, FREE_OWNER, FREE_ROOT, Desk, all_of
from support.foreign_server import HOSTILE, argv_of, env_of, numbers_of, server_of

from specttui.events import LogKind
from specttui.host.start import Started

pytestmark = pytest.mark.openssh


async def same_again(desk: Desk, engineer: Account, owner: Account | None, *, ask: bool = False) -> Started:
    """Restart a server of the owner's; all of it and nothing else ends, and it comes back as it was."""
    with (
        server_of(owner, engineer.folder / "server") as server,
        server_of(owner, engineer.folder / "neighbour") as neighbour,
    ):
        before = env_of(server.pid)
        found = await desk.find(server, ask=ask)
        assert found.obstacles == ()
        started = await desk.restart(found)
        assert [alive(pid) for pid in all_of(server)] == [False] * 4
        assert [alive(pid) for pid in all_of(neighbour)] == [True] * 4
        uid, gid = (owner.uid, owner.gid) if owner else (0, 0)
        assert numbers_of(started.pid)["Uid"] == [str(uid)] * 4
        assert numbers_of(started.pid)["Gid"] == [str(gid)] * 4
        assert argv_of(started.pid) == server.argv
        assert HOSTILE in server.argv
        assert env_of(started.pid) == before
        assert before["LD_PRELOAD"] == "libm.so.6"
        assert os.getsid(started.pid) == started.session not in {0, server.pid}
        assert (started.log_path, started.note) == (str(server.log), "")
        assert (server.log.stat().st_uid, server.log.stat().st_gid) == (uid, gid)
        folder = Path(started.script_path).parent
        assert folder.stat().st_uid == uid
        assert owner is None or folder.stat().st_mode & 0o777 == 0o700  # root's may have been there before
        modes = {
            path.suffix: path.stat().st_mode & 0o777
            for path in folder.glob(f"{Path(started.script_path).stem}.*")
        }
        assert modes[".env"] == 0o600
        assert modes[".sh"] == 0o700
        assert {path.stat().st_uid for path in folder.glob(f"{Path(started.script_path).stem}.*")} == {uid}
        await desk.end(found, started)
    assert not Path("/tmp/specttui-owned").exists()
    assert desk.secrets_told() == []
    return started


async def test_sudo_that_asks_for_nothing(engineer: Account, owner: Account):
    engineer.may(FREE)
    desk = Desk(engineer)
    started = await same_again(desk, engineer, owner)
    assert Path(started.script_path).parent == owner.home / ".cache" / "specttui"
    assert desk.prompter.questions == []
    assert desk.steps[0].step == "terminate"
    assert desk.steps[0].detail.endswith(f" and the 3 below it: through sudo as {owner.name}")
    assert desk.sudo.proven == {owner.name: owner.name}


async def test_looking_takes_one_command_more(engineer: Account, owner: Account):
    engineer.may(FREE)
    desk = Desk(engineer)
    with server_of(owner, engineer.folder / "server") as server:
        found = await desk.find(server)
        assert len(desk.remote.commands) == 2
        assert found.launch.env == env_of(server.pid)
    assert (found.info.log.kind, found.info.log.path) == (LogKind.FILE, str(server.log))
    assert [one.writable for one in found.info.other_workers] == [False]
    assert found.info.sglang_version == "0.5.12"


async def test_a_password_is_asked_for_only_when_somebody_looks_on_purpose(engineer: Account, owner: Account):
    engineer.may(ASKING)
    desk = Desk(engineer, None, "not this one", PASSWORD)
    with server_of(owner, engineer.folder / "server") as server:
        found = await desk.find(server)
        assert desk.prompter.questions == []
        text = (
            f"The server (process {server.pid}) belongs to {owner.name}; {engineer.name} may not read "
            "its environment. sudo asks for a password."
        )
        remedy = f"Look again (f5) and give your password for sudo, or log in as {owner.name} or root."
        assert [(one.text, one.remedy) for one in found.obstacles] == [(text, remedy)]
        assert not (await desk.find(server, ask=True)).restartable
        assert len(desk.prompter.questions) == 1
        assert (await desk.find(server, ask=True)).launch.env == env_of(server.pid)
        assert len(desk.prompter.questions) == 3
        assert (await desk.find(server)).restartable
    assert len(desk.prompter.questions) == 3


async def test_sudo_with_a_password_and_a_server_of_roots(engineer: Account):
    engineer.may(ASKING_ROOT)
    desk = Desk(engineer, PASSWORD)
    try:
        started = await same_again(desk, engineer, None, ask=True)
    finally:
        desk.clear_away()
    assert Path(started.script_path).parent == Path("/root/.cache/specttui")
    assert len(desk.prompter.questions) == 1


async def test_root_becomes_the_owner_where_sudo_makes_only_root(engineer: Account, owner: Account):
    engineer.may(FREE_ROOT)
    desk = Desk(engineer)
    await same_again(desk, engineer, owner)
    assert desk.sudo.proven == {owner.name: "root"}
    assert desk.prompter.questions == []


async def test_with_a_password_too(engineer: Account, owner: Account):
    engineer.may(ASKING_ROOT)
    desk = Desk(engineer, PASSWORD)
    await same_again(desk, engineer, owner, ask=True)
    assert desk.sudo.proven == {owner.name: "root"}
    assert len(desk.prompter.questions) == 1


async def test_the_owners_own_rights_are_enough(engineer: Account, owner: Account):
    engineer.may(FREE_OWNER.replace("OWNER", owner.name))
    desk = Desk(engineer)
    await same_again(desk, engineer, owner)
    assert desk.sudo.proven == {owner.name: owner.name}


async def test_an_owner_without_a_home_keeps_its_files_elsewhere(engineer: Account, owner: Account):
    engineer.may(FREE)
    shutil.rmtree(owner.home)
    started = await same_again(Desk(engineer), engineer, owner)
    assert started.script_path.startswith(f"/var/tmp/specttui-{owner.uid}/specttui/launch-s1-")
    shutil.rmtree(f"/var/tmp/specttui-{owner.uid}")


async def test_root_opens_the_engineers_own_log_for_the_owner(engineer: Account, owner: Account):
    engineer.may(FREE)
    desk = Desk(engineer)
    log = engineer.home / "server.log"
    log.write_text("from before\n")
    shutil.chown(log, engineer.name, engineer.name)
    log.chmod(0o600)
    with server_of(owner, engineer.folder / "server") as server:
        found = await desk.find(server)
        started = await desk.restart(found, log_path=str(log))
        assert (started.log_path, started.log_offset, started.note) == (str(log), 12, "")
        assert numbers_of(started.pid)["Uid"] == [str(owner.uid)] * 4
        assert log.read_text().startswith("from before\n")
        assert (log.owner(), log.stat().st_mode & 0o777) == (engineer.name, 0o600)
        await desk.end(found, started)


async def test_no_link_in_the_way_of_a_log_is_followed_as_root(engineer: Account, owner: Account):
    engineer.may(FREE_ROOT)
    desk = Desk(engineer)
    target = engineer.folder / "of root"
    target.write_text("untouched")
    link = owner.home / "server.log"
    link.symlink_to(target)
    with server_of(owner, engineer.folder / "server") as server:
        found = await desk.find(server)
        started = await desk.restart(found, log_path=str(link))
        assert started.note == f"{link}: Too many levels of symbolic links"
        assert Path(started.log_path).parent == owner.home / ".cache" / "specttui"
        assert target.read_text() == "untouched"
        await desk.end(found, started)


async def test_workers_that_do_not_end_are_killed_through_sudo_too(engineer: Account, owner: Account):
    engineer.may(FREE)
    desk = Desk(engineer)
    with server_of(owner, engineer.folder / "server", STUBBORN="1", ORPHANS="1") as server:
        found = await desk.find(server)
        restart = desk.control.restart(found.manager, found.launch, port=server.port, label="", base=None)
        report = await restart.stop(found, desk.steps.append)
        assert sorted(process.pid for process in report.killed) == server.children
        assert [alive(pid) for pid in all_of(server)] == [False] * 4
    assert [step.step for step in desk.steps] == ["terminate", "kill", "port", "stopped"]
