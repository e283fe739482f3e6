"""A compose service with `restart: always`: left alone, or restarted by the profile's commands."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path

import pytest
from support import fake_compose
from support.fake_compose import FakeCompose
from support.fake_sglang import READY, alive, free_port, launch_argv, write_package
from support.ssh_server import SshServer
from support.ssh_sessions import of, session_on, ssh_host
from support.waiting import eventually

from specttui.errors import ServerManagedError, ServerStartError
from specttui.events import Event, LogKind, LogLines, ManagerKind, ServerFailed, ServerReady
from specttui.host.discovery import discover
from specttui.host.managers import ManagerCommands
from specttui.host.managers.way import WayOptions
from specttui.launch.edits import SetEnv, SetFlag

#: A start command as docs/restarting.md asks for: it is told the words and the changed variables.
_START = """\
#!{python} -S
import json, os, subprocess, sys
file = {file!r}
with open(file) as text:
    compose = json.load(text)
service = compose["services"]["sglang"]
service["command"] = json.loads(os.environ["SPECTTUI_ARGV_JSON"])
service["environment"] = {environment!r} | dict(word.split("=", 1) for word in sys.argv[1:])
with open(file, "w") as text:
    json.dump(compose, text)
sys.exit(subprocess.call({up!r}))
"""


class Host:
    """A host whose server is a compose service."""

    def __init__(self, docker: FakeCompose, server: SshServer, folder: Path) -> None:
        self.docker = docker
        self.server = server
        self.folder = folder
        self.port = free_port()
        write_package(folder / "packages")
        self.environment = {"PYTHONPATH": str(folder / "packages"), "HF_TOKEN": "hf_abc"}

    async def serve(self) -> str:
        """Start the service; its container."""
        self.docker.write([*launch_argv(self.port), "--speculative-num-steps", "3"], self.environment)
        self.docker.compose("up", "-d", "sglang")
        [container] = self.docker.containers
        await self.ready(container)
        return container

    async def ready(self, container: str, times: int = 1) -> None:
        await eventually(lambda: self.said_ready(container) >= times, 60)

    def said_ready(self, container: str) -> int:
        kept = self.docker.root / "containers" / f"{container}.log"
        return kept.read_text().count(READY) if kept.exists() else 0

    @property
    def commands(self) -> ManagerCommands:
        """What the host's profile says."""
        start = self.folder / "start-it"
        text = _START.format(
            python=sys.executable,
            file=str(self.docker.file),
            environment=self.environment,
            up=self.docker.compose_words("up", "-d", "sglang"),
        )
        start.write_text(text)
        start.chmod(0o755)
        return ManagerCommands(stop=self.docker.compose_words("stop", "sglang"), start=(str(start), "{env}"))

    async def pids(self, session: object) -> list[int]:
        found = (await discover(session.head.remote, port=self.port)).servers  # type: ignore[attr-defined]
        return [server.pid for server in found]


@pytest.fixture
async def host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Host]:
    docker = fake_compose.install(tmp_path / "docker")
    monkeypatch.setenv("PATH", str(docker.programs), prepend=":")
    monkeypatch.setattr("specttui.host.reading.manager_of", fake_compose.manager_by_mark)
    async with ssh_host(tmp_path) as server:
        try:
            yield Host(docker, server, tmp_path)
        finally:
            docker.stop_all()


def lines_of(events: list[Event]) -> list[str]:
    return [line for event in of(events, LogLines) for line in event.lines]


async def test_without_commands_the_service_is_refused_with_its_own_words_and_left_alone(host: Host) -> None:
    container = await host.serve()
    pid = host.docker.containers[container]["main"]
    async with session_on(host.server, host.folder, host.port) as (session, _):
        assert session.state.server.manager.kind is ManagerKind.DOCKER
        with pytest.raises(ServerManagedError) as refused:
            await session.restart([SetFlag("--speculative-num-steps", "2")])
        assert refused.value.title == "The server runs in the container llm-sglang-1"
        assert "its restart policy (always) brings back" in refused.value.cause
        assert f"`docker compose -f {host.docker.file} -p llm up -d sglang`" in refused.value.remedy
        assert await host.pids(session) == [pid]
    os.kill(pid, signal.SIGKILL)  # what a restart by signals would meet: the old arguments come back
    await host.ready(container, times=2)
    assert host.docker.containers[container]["main"] != pid
    assert "3" in host.docker.containers[container]["command"]


async def test_with_the_profiles_commands_it_is_restarted_whole_and_its_log_is_followed(host: Host) -> None:
    first = await host.serve()
    async with session_on(host.server, host.folder, host.port, commands=host.commands) as (session, events):
        log = session.state.server.log
        assert (log.kind, log.path, log.detail) == (LogKind.DOCKER, first, "docker")
        await eventually(lambda: lines_of(events) == host.docker.log(first))
        before = host.docker.log(first)

        await session.restart([SetFlag("--speculative-num-steps", "2"), SetEnv("NCCL_PROTO", "LL")])
        [second] = host.docker.containers
        facts = host.docker.containers[second]
        assert second != first
        assert facts["command"][-2:] == ["--speculative-num-steps", "2"]
        assert facts["environment"] == host.environment | {"NCCL_PROTO": "LL"}
        assert await host.pids(session) == [facts["main"]] == [of(events, ServerReady)[-1].pid]
        assert session.state.server.log.path == second
        await eventually(lambda: lines_of(events) == before + host.docker.log(second))
        assert host.said_ready(second) == 1

        await session.restart([SetFlag("--speculative-num-steps", "4")])
        [third] = host.docker.containers
        assert await host.pids(session) == [host.docker.containers[third]["main"]]
        assert not alive(facts["main"])
    done = [words[-2:] for words in host.docker.calls("compose") if "stop" in words or "up" in words]
    assert done == [["-d", "sglang"], *[["stop", "sglang"], ["-d", "sglang"]] * 2]


@pytest.mark.long
async def test_a_start_that_fails_does_not_go_on_looping_and_the_last_good_one_comes_back(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    # On a busy machine its short life may fall between two looks: then none appears.
    monkeypatch.setattr("specttui.host.server.WayOptions", partial(WayOptions, appear_s=30.0))
    await host.serve()
    async with session_on(host.server, host.folder, host.port, commands=host.commands, roll_back=True) as (
        session,
        events,
    ):
        with pytest.raises(ServerStartError) as failed:
            await session.restart([SetEnv("FAKE_LOAD_S", "6"), SetEnv("FAKE_IMPORT", "no_such_worker")])
        assert len(of(events, ServerFailed)) == 1
        assert "serves again" in failed.value.remedy
        [container] = host.docker.containers
        assert host.docker.containers[container]["environment"] == host.environment
        assert await host.pids(session) == [host.docker.containers[container]["main"]]
