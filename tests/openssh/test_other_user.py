# ruff: noqa: ASYNC240 - the files of a test are small and local
"""A server of another account, through the real sudo: seen, stopped, started as that account, or refused."""

from __future__ import annotations

import asyncio
import os
import shutil
import time
from collections.abc import Iterator
from contextlib import aclosing
from pathlib import Path

import pytest
from support.accounts import PASSWORD, Account, account_made
from support.fake_sglang import READY, FakeServer, alive
from support.foreign_server import HOSTILE, argv_of, env_of, numbers_of, server_of
from support.prompters import ScriptedPrompter

from specttui.config import SudoMode
from specttui.errors import LaunchError, ServerStartError
from specttui.events import LogKind, LogSource, ServerStopping
from specttui.host.discovery import discover
from specttui.host.found import FoundServer
from specttui.host.hidden_log import HiddenLog
from specttui.host.managers import NO_COMMANDS, ManagerCommands
from specttui.host.managers.choose import Ways
from specttui.host.managers.way import WayOptions
from specttui.host.other_user import OtherUser
from specttui.host.readiness import Readiness, ReadyLimits, StartFailedError
from specttui.host.ready import endpoint_of
from specttui.host.server import ServerControl
from specttui.host.start import Started
from specttui.host.stop import StopLimits
from specttui.host.sudo import Sudo
from specttui.host.tail import Chunk, FromOffset, Notice
from specttui.session.launches import Launches
from specttui.session.restart_advice import RestartAdvice

pytestmark = pytest.mark.openssh

QUICK = StopLimits(10.0, 20.0, 20.0, 1.0)
SECRETS = (PASSWORD, "battery", "hf_secret_of_the_owner", "sk-secret")
#: What sudo lets the engineer do; OWNER stands for the server's account.
FREE = "USER ALL=(ALL) NOPASSWD: ALL"
FREE_ROOT = "USER ALL=(root) NOPASSWD: ALL"
FREE_OWNER = "USER ALL=(OWNER) NOPASSWD: ALL"
ASKING = "USER ALL=(ALL) ALL"
ASKING_ROOT = "USER ALL=(root) ALL"


class Desk:
    """One session's hands on the host, as the engineer's account."""

    def __init__(
        self,
        engineer: Account,
        *answers: str | None,
        mode: SudoMode = "auto",
        commands: ManagerCommands = NO_COMMANDS,
    ) -> None:
        self.prompter = ScriptedPrompter(answers=list(answers))
        self.remote = engineer.remote
        self.sudo = Sudo(self.remote, self.prompter, mode)
        self.steps: list[ServerStopping] = []
        self.control = ServerControl(
            self.remote,
            "s1",
            stop_limits=QUICK,
            ready_limits=ReadyLimits(poll_s=0.2),
            commands=commands,
            sudo=self.sudo,
        )

    async def find(self, server: FakeServer, *, ask: bool = False) -> FoundServer:
        found = await discover(self.remote, port=server.port, sudo=self.sudo, ask=ask)
        assert [one.pid for one in found.servers] == [server.pid]
        return found.servers[0]

    async def restart(self, found: FoundServer, **changes: object) -> Started:
        """Stop it, start it again with these changes to its launch, and wait until it serves."""
        launch = found.launch.model_copy(update=changes)
        restart = self.control.restart(
            found.manager, launch, port=found.port, label="again", base=found.launch
        )
        await restart.prepare()
        await restart.stop(found, self.steps.append)
        started = await restart.start(found.info.log, lambda _: None)
        wait_for(Path(started.log_path), READY, started.log_offset)
        readiness = Readiness()
        readiness.saw_ready_line()
        waiting = self.control.wait_ready(started, endpoint_of(launch), readiness, lambda _: None)
        assert (await asyncio.wait_for(waiting, 60)).pid == started.pid
        return started

    async def end(self, found: FoundServer, started: Started) -> None:
        """Stop what was started, see that its script noted how it ended, and take its files away."""
        restart = self.control.restart(started.manager, found.launch, port=0, label="", base=None)
        await restart.stop(started, lambda _: None)
        assert not alive(started.pid)
        wait_for(Path(started.exit_path), "0\n")
        script = Path(started.script_path)
        for path in script.parent.glob(f"{script.stem}.*"):
            path.unlink()

    def words(self) -> str:
        """All that was ever on a command line."""
        return "\0".join(word for command in self.remote.commands for word in command)


def wait_for(path: Path, text: str, offset: int = 0) -> None:
    """Wait until a text stands in a file."""
    deadline = time.monotonic() + 60
    while not path.exists() or text.encode() not in path.read_bytes()[offset:]:
        assert time.monotonic() < deadline, path.read_bytes() if path.exists() else f"no {path}"
        time.sleep(0.02)


def all_of(server: FakeServer) -> list[int]:
    return [server.pid, *server.children]


@pytest.fixture
def engineer() -> Iterator[Account]:
    with account_made() as made:
        yield made


@pytest.fixture
def owner() -> Iterator[Account]:
    with account_made() as made:
        yield made


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
        assert (folder.stat().st_uid, folder.stat().st_mode & 0o777) == (uid, 0o700)
        modes = {
            path.suffix: path.stat().st_mode & 0o777
            for path in folder.glob(f"{Path(started.script_path).stem}.*")
        }
        assert modes[".env"] == 0o600
        assert modes[".sh"] == 0o700
        assert {path.stat().st_uid for path in folder.glob(f"{Path(started.script_path).stem}.*")} == {uid}
        await desk.end(found, started)
    assert not Path("/tmp/specttui-owned").exists()
    assert [word for word in SECRETS if word in desk.words()] == []
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
    started = await same_again(desk, engineer, None, ask=True)
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


# Refused


async def refused(desk: Desk, server: FakeServer, *, ask: bool = False) -> tuple[FoundServer, LaunchError]:
    """What a restart is refused with, before anything of the server is stopped."""
    found = await desk.find(server, ask=ask)
    restart = desk.control.restart(found.manager, found.launch, port=0, label="", base=None)
    with pytest.raises(LaunchError) as error:
        await restart.prepare()
    with pytest.raises(LaunchError):
        await restart.stop(found, desk.steps.append)
    assert [alive(pid) for pid in all_of(server)] == [True] * 4
    assert desk.steps == []
    return found, error.value


async def test_an_account_that_may_not_use_sudo(engineer: Account, owner: Account):
    desk = Desk(engineer, PASSWORD)
    with server_of(owner, engineer.folder / "server") as server:
        found, error = await refused(desk, server, ask=True)
    assert "This account may not use sudo" in found.obstacles[0].text
    assert error.title == f"The server runs as {owner.name}, and this account is {engineer.name}"
    assert error.cause.startswith("sudo could not be used: This account may not use sudo for this.")
    assert error.remedy == (
        f"Log in as {owner.name} or root, or give the host's profile its own stop and start commands "
        "(docs/restarting.md)."
    )
    assert PASSWORD not in f"{error}{found.obstacles}"
    assert [word for word in SECRETS if word in desk.words()] == []


async def test_a_password_that_is_not_given(engineer: Account, owner: Account):
    engineer.may(ASKING)
    desk = Desk(engineer)
    with server_of(owner, engineer.folder / "server") as server:
        _, error = await refused(desk, server)
    assert error.cause == "No password was given."
    assert error.remedy.startswith("Give your password when you are asked, log in as ")


async def test_a_profile_without_sudo(engineer: Account, owner: Account):
    engineer.may(FREE)
    desk = Desk(engineer, mode="no")
    with server_of(owner, engineer.folder / "server") as server:
        found, error = await refused(desk, server)
    assert found.obstacles[0].remedy.startswith("Set `sudo` in the host's profile, or log in as ")
    assert error.cause == "sudo is not used on this host."
    assert not [command for command in desk.remote.commands if "sudo" in command]


async def test_a_folder_that_the_owner_cannot_enter_any_more(engineer: Account, owner: Account):
    engineer.may(FREE)
    desk = Desk(engineer)
    with server_of(owner, engineer.folder / "server") as server:
        found = await desk.find(server)
        launch = found.launch.model_copy(update={"cwd": str(engineer.home)})
        restart = desk.control.restart(found.manager, launch, port=0, label="", base=None)
        with pytest.raises(LaunchError) as error:
            await restart.prepare()
        assert [alive(pid) for pid in all_of(server)] == [True] * 4
    assert error.value.title == f"The server cannot be started as {owner.name}"
    assert error.value.cause == f"{engineer.home} cannot be entered"


async def test_the_confirm_screen_says_it_and_a_start_command_of_the_profile_overrides_it(
    engineer: Account, owner: Account
):
    desk = Desk(engineer)
    with server_of(owner, engineer.folder / "server") as server:
        found = await desk.find(server)
    launches = Launches()
    launches.found(found.launch, None, "0.5.12")
    diff = launches.edited(())

    def advice(commands: ManagerCommands) -> RestartAdvice:
        ways = Ways(desk.remote, commands, WayOptions(), desk.sudo)
        return RestartAdvice(desk.remote, launches, ways, lambda: found.obstacles)

    ours, own = advice(NO_COMMANDS), advice(ManagerCommands(start=("/opt/start",)))
    assert ours.of(diff, found.manager).errors == (str(found.obstacles[0]),)
    with pytest.raises(LaunchError) as error:
        await ours.check(diff, retry_hung=False)
    assert error.value.cause == found.obstacles[0].text
    assert error.value.remedy.startswith("Look again (f5) and give your password for sudo")
    assert own.of(diff, found.manager).errors == ()
    await own.check(diff, retry_hung=False)


async def test_a_sudo_that_fails_after_the_stop_is_a_failed_start(engineer: Account, owner: Account):
    engineer.may(FREE)
    desk = Desk(engineer)
    with server_of(owner, engineer.folder / "server") as server:
        found = await desk.find(server)
        restart = desk.control.restart(found.manager, found.launch, port=0, label="", base=None)
        await restart.prepare()
        engineer.may("")
        with pytest.raises(ServerStartError) as error:
            await restart.start(None, lambda _: None)
    assert error.value.title == f"The server could not be started as {owner.name}"
    assert error.value.remedy.startswith("No server runs.")


# Waiting for it


async def test_another_server_on_its_port_is_not_taken_for_it(engineer: Account, owner: Account):
    engineer.may(FREE)
    desk = Desk(engineer)
    with server_of(owner, engineer.folder / "server") as server:
        found = await desk.find(server)
        launch = found.launch.model_copy(update={"env": found.launch.env | {"FAKE_LINGER_S": "600"}})
        restart = desk.control.restart(found.manager, launch, port=0, label="", base=None)
        await restart.prepare()
        started = await restart.start(None, lambda _: None)
        readiness = Readiness()
        readiness.saw_ready_line()
        with pytest.raises(StartFailedError) as failed:
            await desk.control.wait_ready(started, endpoint_of(launch), readiness, lambda _: None)
        assert failed.value.category == "port_in_use"
        await restart.stop(started, lambda _: None)
        assert [alive(pid) for pid in all_of(server)] == [True] * 4


async def test_how_a_start_ended_is_read_through_sudo(engineer: Account, owner: Account):
    engineer.may(FREE)
    desk = Desk(engineer)
    with server_of(owner, engineer.folder / "server") as server:
        found = await desk.find(server)
    changes = {"env": found.launch.env | {"FAKE_DIE": "9"}, "log_path": ""}
    launch = found.launch.model_copy(update=changes)
    restart = desk.control.restart(found.manager, launch, port=0, label="", base=None)
    await restart.prepare()
    started = await restart.start(None, lambda _: None)
    assert Path(started.log_path).stat().st_mode & 0o777 == 0o600
    with pytest.raises(StartFailedError) as failed:
        await desk.control.wait_ready(started, endpoint_of(launch), Readiness(), lambda _: None)
    assert failed.value.exit_status == 9
    assert failed.value.last_lines[-1].endswith("torch.OutOfMemoryError: CUDA out of memory.")


# Its log


def hidden_log(owner: Account) -> Path:
    log = owner.home / "server.log"
    log.write_text("first\nsecond\n")
    shutil.chown(log, owner.name, owner.name)
    log.chmod(0o600)
    return log


async def read_log(desk: Desk, log: Path) -> bytes:
    """Read a log from its second line on, with what is written meanwhile, and leave."""
    source = LogSource(kind=LogKind.FILE, path=str(log))
    data = b""
    async with aclosing(HiddenLog(desk.sudo)(desk.remote, source, start=FromOffset(6))) as items:
        async for item in items:
            assert isinstance(item, Chunk)
            data += item.data
            if data.endswith(b"third\n"):
                break
            with log.open("ab") as writer:
                writer.write(b"third\n")
    return data


@pytest.mark.parametrize(("rule", "answers"), [(FREE, ()), (ASKING, (PASSWORD,))])
async def test_a_log_that_only_the_owner_may_read(
    engineer: Account, owner: Account, rule: str, answers: tuple[str, ...]
):
    engineer.may(rule)
    desk = Desk(engineer, *answers)
    assert (await OtherUser(desk.remote, desk.sudo, owner.name).run(["id", "-un"])).text == owner.name
    assert await asyncio.wait_for(read_log(desk, hidden_log(owner)), 60) == b"second\nthird\n"
    assert [path.name for path in (engineer.home / ".cache" / "specttui").glob("*")] == []
    assert [word for word in SECRETS if word in desk.words()] == []
    assert len(desk.prompter.questions) == len(answers)


async def test_where_sudo_was_not_used_the_log_stays_hidden(engineer: Account, owner: Account):
    engineer.may(FREE)
    desk = Desk(engineer)
    log = hidden_log(owner)
    source = LogSource(kind=LogKind.FILE, path=str(log))
    async with aclosing(HiddenLog(desk.sudo)(desk.remote, source, start=FromOffset(0))) as items:
        assert await anext(items) == Notice("missing", f"{log}: Permission denied")
