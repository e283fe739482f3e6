# ruff: noqa: ASYNC240 - the files of a test are small and local
"""The start of a server of another account, followed: whose port it is, how it ended, what its log says."""

from __future__ import annotations

import asyncio
import shutil
from contextlib import aclosing
from pathlib import Path

import pytest
from support.accounts import PASSWORD, Account
from support.fake_sglang import alive
from support.foreign_desk import ASKING, FREE, Desk, all_of
from support.foreign_server import PYTHON, argv_of, server_of

from specttui.events import LogKind, LogSource
from specttui.host.hidden_log import HiddenLog
from specttui.host.managers import ManagerCommands
from specttui.host.other_user import OtherUser
from specttui.host.readiness import Readiness, StartFailedError
from specttui.host.ready import Endpoint, endpoint_of
from specttui.host.tail import Chunk, FromOffset, Notice

pytestmark = pytest.mark.openssh


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


COMMAND = """\
#!/bin/sh
exec </dev/null >>{log} 2>&1
cd {cwd}
export PYTHONPATH={packages}
setpriv --reuid={owner} --regid={owner} --clear-groups setsid \
  {python} -m sglang.launch_server --model-path /m/new --port {port} &
"""


async def test_the_profiles_own_commands_need_no_rights_of_ours(engineer: Account, owner: Account):
    programs = engineer.folder / "programs"
    programs.mkdir(mode=0o755)
    with server_of(owner, engineer.folder / "server") as server:
        folder = engineer.folder / "server"
        start = COMMAND.format(
            log=server.log, cwd=folder, packages=folder / "packages", owner=owner.name, python=PYTHON,
            port=server.port,
        )  # fmt: skip
        for name, text in {"start": start, "stop": f"#!/bin/sh\nkill {server.pid}\n"}.items():
            (programs / name).write_text(text)
            (programs / name).chmod(0o755)
        engineer.may(f"USER ALL=(root) NOPASSWD: {programs}/start, {programs}/stop")
        commands = ManagerCommands(
            stop=("sudo", "-n", f"{programs}/stop"), start=("sudo", "-n", f"{programs}/start")
        )
        desk = Desk(engineer, mode="no", commands=commands)
        found = await desk.find(server)
        assert not found.restartable
        launch = found.launch
        restart = desk.control.restart(found.manager, launch, port=server.port, label="", base=launch)
        await restart.prepare()
        await restart.stop(found, desk.steps.append)
        assert [alive(pid) for pid in all_of(server)] == [False] * 4
        started = await restart.start(found.info.log, lambda _: None)
        assert started.user == owner.name
        readiness = Readiness()
        readiness.saw_ready_line()
        waiting = desk.control.wait_ready(started, Endpoint(port=server.port), readiness, lambda _: None)
        assert (await asyncio.wait_for(waiting, 60)).pid == started.pid
        assert argv_of(started.pid)[-4:-1] == ["--model-path", "/m/new", "--port"]
    assert [step.step for step in desk.steps] == ["terminate", "port", "stopped"]


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
    assert desk.secrets_told() == []
    assert len(desk.prompter.questions) == len(answers)


async def test_where_sudo_was_not_used_the_log_stays_hidden(engineer: Account, owner: Account):
    engineer.may(FREE)
    desk = Desk(engineer)
    log = hidden_log(owner)
    source = LogSource(kind=LogKind.FILE, path=str(log))
    async with aclosing(HiddenLog(desk.sudo)(desk.remote, source, start=FromOffset(0))) as items:
        assert await anext(items) == Notice("missing", f"{log}: Permission denied")
