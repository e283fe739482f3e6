"""Each manager's way: the profile's commands, refusals with the exact commands, marks in logs."""

from __future__ import annotations

import json
import stat
import sys
from collections.abc import Iterator
from contextlib import aclosing
from pathlib import Path

import pytest
from support.fake_sglang import FakeServer, alive, free_port, start_fake
from support.local_remote import LocalRemote

from specttui.errors import RemoteCommandError, ServerManagedError, ServerStartError
from specttui.events import Launch, LogKind, LogSource, Manager, ManagerKind, ServerStarting, ServerStopping
from specttui.host.discovery import discover
from specttui.host.managers import ManagerCommands
from specttui.host.managers.choose import Ways
from specttui.host.managers.log_mark import mark
from specttui.host.managers.own_log import OwnLog
from specttui.host.managers.way import Errand, WayOptions
from specttui.host.processes import ProcessId
from specttui.host.start import Started
from specttui.host.stop import ServerStopError, StopLimits
from specttui.host.tail import Chunk, FromEnd, FromOffset, Notice, Position, WholeFile

ID = "0f1e2d3c4b5a69788796a5b4c3d2e1f00f1e2d3c4b5a69788796a5b4c3d2e1f0"
DOCKER = Manager(kind=ManagerKind.DOCKER, name=ID, detail="docker")
QUICK = WayOptions(stop_limits=StopLimits(10, 20, 20, 1), appear_s=60.0, poll_s=0.2)
UNKNOWN = LogSource(kind=LogKind.UNKNOWN)
NOTHING = Errand(Launch(argv=("python", "-m", "sglang.launch_server")), "s1")


@pytest.fixture
def remote(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> LocalRemote:
    monkeypatch.setenv("PATH", str(tmp_path / "bin"), prepend=":")
    (tmp_path / "bin").mkdir()
    return LocalRemote(tmp_path)


def write_tool(folder: Path, name: str, text: str) -> Path:
    """A program on PATH that notes its arguments in `calls` and then does what the text says."""
    path = folder / "bin" / name
    head = f"#!{sys.executable} -S\nimport json, os, sys\n"
    note = f"open({str(folder / 'calls')!r}, 'a').write(json.dumps([{name!r}, *sys.argv[1:]]) + '\\n')\n"
    path.write_text(head + note + text)
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def calls(folder: Path) -> list[list[str]]:
    return [json.loads(line) for line in (folder / "calls").read_text().splitlines()]


# Containers


async def refused(remote: LocalRemote, manager: Manager) -> ServerManagedError:
    with pytest.raises(ServerManagedError) as caught:
        await Ways(remote, ManagerCommands(), QUICK).way(manager).prepare(NOTHING)
    return caught.value


async def test_f09_a_container_is_asked_about_and_its_restart_policy_named(
    remote: LocalRemote, tmp_path: Path
) -> None:
    facts = [{"Name": "/kimi", "Config": {"Labels": {}},
              "HostConfig": {"RestartPolicy": {"Name": "unless-stopped"}}}]  # fmt: skip
    write_tool(tmp_path, "docker", f"print({json.dumps(facts)!r})\n")
    error = await refused(remote, DOCKER)
    assert error.title == "The server runs in the container kimi"
    assert error.cause == (
        "It is the container's own program, which its restart policy (unless-stopped) brings back, so its "
        "arguments are the container's."
    )
    assert error.remedy == (
        "Run `docker update --restart=no kimi` and `docker stop kimi`, run the image again with the new "
        "arguments, and look again (f5). Or give the host's profile a start and a stop "
        '([hosts.NAME.commands]): stop = ["docker", "stop", "kimi"].'
    )
    assert calls(tmp_path) == [["docker", "inspect", "--type", "container", ID]]


async def test_a_compose_service_gets_its_own_commands(remote: LocalRemote, tmp_path: Path) -> None:
    labels = {"com.docker.compose.project": "llm", "com.docker.compose.service": "sglang",
              "com.docker.compose.project.working_dir": "/srv/llm",
              "com.docker.compose.project.config_files": "/srv/llm/compose.yaml"}  # fmt: skip
    facts = [{"Name": "/llm-sglang-1", "Config": {"Labels": labels},
              "HostConfig": {"RestartPolicy": {"Name": "always"}}}]  # fmt: skip
    write_tool(tmp_path, "docker", f"print({json.dumps(facts)!r})\n")
    error = await refused(remote, DOCKER)
    assert error.remedy == (
        "Change the command of the service sglang in /srv/llm/compose.yaml, then run `docker compose -f "
        "/srv/llm/compose.yaml -p llm up -d sglang` and look again (f5). Or give the host's profile a start "
        'and a stop ([hosts.NAME.commands]): stop = ["docker", "compose", "-f", "/srv/llm/compose.yaml", '
        '"-p", "llm", "stop", "sglang"].'
    )


@pytest.mark.parametrize("answer", ["sys.exit('Error: No such container')\n", "print('[{}]')\n"])
async def test_a_container_that_docker_does_not_know_is_refused_all_the_same(
    remote: LocalRemote, tmp_path: Path, answer: str
) -> None:
    write_tool(tmp_path, "docker", answer)
    error = await refused(remote, DOCKER)
    assert "`docker stop 0f1e2d3c4b5a`" in error.remedy


@pytest.mark.parametrize(
    "manager",
    [
        Manager(kind=ManagerKind.KUBERNETES, name="pod"),
        Manager(kind=ManagerKind.SLURM, name="4711"),
        Manager(kind=ManagerKind.SUPERVISOR, name="sglang", detail="runit"),
        Manager(kind=ManagerKind.DOCKER, name="0f1e", detail="we are inside it"),
    ],
)
async def test_others_are_refused_without_a_word_to_the_host(remote: LocalRemote, manager: Manager) -> None:
    error = await refused(remote, manager)
    assert error.title.startswith(f"The server is run by {manager.kind.value}")
    assert "[hosts.NAME.commands]" in error.remedy
    assert remote.commands == []
    assert Ways(remote, ManagerCommands(), QUICK).refusal(manager).endswith(error.remedy)


def test_what_is_said_beforehand(remote: LocalRemote) -> None:
    ways = Ways(remote, ManagerCommands(), QUICK)
    pane = Manager(kind=ManagerKind.TMUX, name="%3")
    assert ways.words(pane) == (
        "The server in tmux pane %3 ends, and with it perhaps the pane; the new one runs detached",
    )
    assert ways.refusal(pane) == ""
    assert ways.words(Manager()) == ()
    own = Ways(remote, ManagerCommands(stop=("stop-it",)), QUICK)
    assert own.words(DOCKER) == ("By the profile's own stop command",)
    assert own.refusal(DOCKER) == ""


# The profile's own commands


@pytest.fixture
def server(tmp_path: Path) -> Iterator[FakeServer]:
    made = start_fake(tmp_path)
    yield made
    made.kill()


def own_commands(tmp_path: Path, server: FakeServer, stop: str = "", start: str = "") -> ManagerCommands:
    """Programs that stop and start, as a profile may name them."""
    ending = stop or f"os.kill({server.pid}, 15)\n"
    beginning = start or (
        "import subprocess\n"
        "env = dict(os.environ, SOURCED=open(os.environ['SPECTTUI_ENV_FILE']).read())\n"
        "subprocess.Popen(json.loads(os.environ['SPECTTUI_ARGV_JSON']), env=env, stdin=subprocess.DEVNULL,\n"
        f"    stdout=subprocess.DEVNULL, stderr=open({str(tmp_path / 'new.log')!r}, 'ab'),\n"
        f"    cwd={str(tmp_path)!r}, start_new_session=True)\n"
    )
    return ManagerCommands(
        stop=(str(write_tool(tmp_path, "stop-it", ending)),),
        start=(str(write_tool(tmp_path, "start-it", beginning)), "{env}", "--", "{command}"),
    )


async def test_own_commands_stop_and_start_and_the_new_server_is_found(
    remote: LocalRemote, server: FakeServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "packages"))
    [found] = (await discover(remote, port=server.port)).servers
    managed = Stopped(found.tree, found.ports)
    argv = (*found.launch.argv, "--speculative-num-steps", "2")
    env = {**found.launch.env, "NCCL_PROTO": "LL", "ODD": "it's $HOME"}
    launch = found.launch.model_copy(update={"argv": argv, "env": env})
    errand = Errand(launch, "s1", port=server.port, label="steps 2", base=found.launch, log=found.info.log)
    way = Ways(remote, own_commands(tmp_path, server), QUICK).way(DOCKER)
    await way.prepare(errand)
    steps: list[ServerStopping] = []
    await way.stop(managed, steps.append)
    assert not alive(server.pid)
    assert steps[0].detail.endswith(f": {tmp_path / 'bin/stop-it'}")
    begun: list[ServerStarting] = []
    started = await way.start(errand, begun.append)
    try:
        assert [event.pid for event in begun] == [started.pid]
        assert started.pid != server.pid
        [seen] = (await discover(remote, port=server.port)).servers
        assert (seen.pid, seen.launch.argv) == (started.pid, argv)
        assert seen.launch.env["SOURCED"] == "export NCCL_PROTO=LL\nexport ODD='it'\"'\"'s $HOME'\n"
        source, start = started.log
        assert (source.path, start) == (str(tmp_path / "new.log"), WholeFile())
        assert calls(tmp_path)[-1] == ["start-it", "NCCL_PROTO=LL", "ODD=it's $HOME", "--", *argv]
    finally:
        await (
            Ways(remote, ManagerCommands(), QUICK).way(Manager()).stop(started_bare(started), lambda _: None)
        )
    assert not alive(started.pid)


def started_bare(started: Started) -> Started:
    return Started(started.pid, started.start_ticks, session=started.session, port=started.port)


class Stopped:
    """A server as a container's: nobody but its manager may end it."""

    manager = DOCKER
    sessions = ()
    user = ""

    def __init__(self, tree: tuple[ProcessId, ...], ports: tuple[int, ...]) -> None:
        self.tree = tree
        self.ports = ports


async def test_a_stop_command_that_fails_stops_the_restart(
    remote: LocalRemote, server: FakeServer, tmp_path: Path
) -> None:
    [found] = (await discover(remote, port=server.port)).servers
    commands = own_commands(tmp_path, server, stop="print('not today'); sys.exit(4)\n")
    with pytest.raises(ServerStopError, match="stop command failed") as failed:
        await Ways(remote, commands, QUICK).way(DOCKER).stop(Stopped(found.tree, found.ports), lambda _: None)
    assert (failed.value.title, failed.value.cause) == (
        "The profile's stop command failed (exit status 4)", "not today",
    )  # fmt: skip
    assert alive(server.pid)


@pytest.mark.parametrize(
    ("start", "title", "cause"),
    [
        ("sys.exit('no image')\n", "The profile's start command failed (exit status 1)", "no image"),
        ("pass\n", "No server appeared", "The start command succeeded, but no SGLang server for port"),
    ],
)
async def test_a_start_command_that_brings_nothing_says_so(
    remote: LocalRemote, server: FakeServer, tmp_path: Path, start: str, title: str, cause: str
) -> None:
    options = WayOptions(appear_s=0.5, poll_s=0.1)
    way = Ways(remote, own_commands(tmp_path, server, start=start), options).way(DOCKER)
    with pytest.raises(ServerStartError) as failed:
        await way.start(Errand(NOTHING.launch, "s1", port=free_port()), lambda _: None)
    assert failed.value.title == title
    assert failed.value.cause.startswith(cause)


async def test_without_a_stop_command_a_managed_server_is_not_killed(
    remote: LocalRemote, server: FakeServer, tmp_path: Path
) -> None:
    [found] = (await discover(remote, port=server.port)).servers
    way = Ways(remote, ManagerCommands(start=("start-it",)), QUICK).way(DOCKER)
    with pytest.raises(ServerManagedError):
        await way.stop(Stopped(found.tree, found.ports), lambda _: None)
    assert alive(server.pid)


# Where a log is now


async def test_marks(remote: LocalRemote, tmp_path: Path) -> None:
    log = tmp_path / "server.log"
    log.write_bytes(b"x" * 4711)
    file = LogSource(kind=LogKind.FILE, path=str(log))
    assert (await mark(remote, file)).start == FromOffset(4711)
    missing = LogSource(kind=LogKind.FILE, path=str(tmp_path / "none"))
    assert (await mark(remote, missing)).start == WholeFile()
    write_tool(tmp_path, "journalctl", "print(json.dumps({'MESSAGE': 'm', '__CURSOR': 's=1;i=2'}))\n")
    unit = LogSource(kind=LogKind.JOURNAL, path="sglang.service", detail="system")
    assert (await mark(remote, unit)).start == Position(cursor="s=1;i=2")
    assert calls(tmp_path)[-1][-2:] == ["--unit", "sglang.service"]
    write_tool(tmp_path, "journalctl", "pass\n")
    assert (await mark(remote, unit)).start == Position()
    assert (await mark(remote, None)).start == FromEnd()


async def test_another_log_than_the_one_marked(remote: LocalRemote, tmp_path: Path) -> None:
    log = tmp_path / "server.log"
    log.write_bytes(b"old\n")
    file = LogSource(kind=LogKind.FILE, path=str(log))
    before = await mark(remote, file)
    assert before.start_in(file) == FromOffset(4)
    assert before.start_in(LogSource(kind=LogKind.FILE, path="/other.log")) == WholeFile()
    container = LogSource(kind=LogKind.DOCKER, path=ID, detail="docker")
    assert before.start_in(container) == Position(cursor=f"{before.stamp} 0")
    assert before.start_in(LogSource(kind=LogKind.JOURNAL, path="a.service")) == FromEnd()


# The profile's own log command


async def test_an_own_log_command_is_followed_and_run_anew(remote: LocalRemote, tmp_path: Path) -> None:
    program = write_tool(tmp_path, "show-log", "print('a line', flush=True)\n")
    data, notices = b"", []
    async with aclosing(OwnLog((str(program), "-f"))(remote, UNKNOWN, start=WholeFile())) as tail:
        async for item in tail:
            if isinstance(item, Chunk):
                assert item.offset == len(data)
                data += item.data
            else:
                notices.append(item)
            if data.count(b"\n") == 2:
                break
    assert data == b"a line\na line\n"
    assert notices == [Notice("reopened", "the log command ended")]
    assert calls(tmp_path) == [["show-log", "-f"], ["show-log", "-f"]]


async def test_an_own_log_command_that_says_nothing_is_given_up(remote: LocalRemote, tmp_path: Path) -> None:
    program = write_tool(tmp_path, "show-log", "sys.exit(1)\n")
    tail = OwnLog((str(program),))(remote, UNKNOWN, start=WholeFile())
    reopened = Notice("reopened", "the log command ended")
    assert [await anext(tail), await anext(tail)] == [reopened, reopened]
    with pytest.raises(RemoteCommandError, match="ends again and again"):
        await anext(tail)
    assert len(calls(tmp_path)) == 3
