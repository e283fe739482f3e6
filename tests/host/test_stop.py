# ruff: noqa: ASYNC220 - the files and programs of a test are small and local
"""Stopping: every process of the server and none else, its ports, its memory, its managers."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.fake_nvidia_smi import write_nvidia_smi
from support.fake_sglang import FakeServer, alive, free_port, launch_argv, start_fake
from support.local_remote import LocalRemote

from specttui.errors import ServerManagedError
from specttui.events import Manager, ManagerKind, ServerStopping
from specttui.host.discovery import discover
from specttui.host.found import FoundServer
from specttui.host.processes import ProcessId
from specttui.host.server import ServerControl
from specttui.host.stop import ServerStopError, StopLimits, stop

QUICK = StopLimits(terminate_s=2.0, kill_s=20.0, port_s=20.0, memory_s=20.0)
BRIEF = StopLimits(terminate_s=0.1, kill_s=0.1, port_s=0.2, memory_s=0.1)


class Servers:
    """Fake servers of one test, ended with it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.running: list[FakeServer] = []

    def start(self, **fake: str) -> FakeServer:
        server = start_fake(self.folder, "--tp-size", "2", fake={f"FAKE_{k}": v for k, v in fake.items()})
        self.running.append(server)
        return server


@pytest.fixture
def servers(tmp_path: Path) -> Iterator[Servers]:
    made = Servers(tmp_path)
    yield made
    for server in made.running:
        server.kill()


@pytest.fixture
def remote(tmp_path: Path) -> LocalRemote:
    return LocalRemote(tmp_path)


@pytest.fixture
def bystander() -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(["/bin/sleep", "600"])
    yield process
    process.kill()
    process.wait()


async def find(remote: LocalRemote, server: FakeServer) -> FoundServer:
    found = await discover(remote, port=server.port)
    assert [one.pid for one in found.servers] == [server.pid]
    return found.servers[0]


async def test_ends_the_launcher_and_all_below_it(remote: LocalRemote, servers: Servers) -> None:
    server = servers.start()
    steps: list[ServerStopping] = []
    report = await stop(remote, await find(remote, server), steps.append, limits=QUICK)
    assert [step.step for step in steps] == ["terminate", "port", "stopped"]
    assert steps[0].detail == f"process {server.pid} and the 3 below it"
    assert report.killed == ()
    assert report.memory_released is None
    assert [pid for pid in (server.pid, *server.children) if alive(pid)] == []
    assert len(server.children) == 3


async def test_kills_workers_that_ignore_the_end(remote: LocalRemote, servers: Servers) -> None:
    server = servers.start(STUBBORN="1", ORPHANS="1")
    steps: list[ServerStopping] = []
    report = await stop(remote, await find(remote, server), steps.append, limits=QUICK)
    assert [step.step for step in steps] == ["terminate", "kill", "port", "stopped"]
    assert sorted(process.pid for process in report.killed) == server.children
    assert "sglang::scheduler_TP1" in steps[1].detail
    assert [pid for pid in server.children if alive(pid)] == []


async def test_kills_a_launcher_that_ignores_the_end(remote: LocalRemote, servers: Servers) -> None:
    server = servers.start(DEAF="1")
    report = await stop(remote, await find(remote, server), lambda _: None, limits=QUICK)
    assert server.pid in [process.pid for process in report.killed]
    assert [pid for pid in (server.pid, *server.children) if alive(pid)] == []


async def test_ends_workers_orphaned_before(remote: LocalRemote, servers: Servers) -> None:
    server = servers.start(STUBBORN="1", ORPHANS="1")
    found = await find(remote, server)
    server.process.kill()
    server.process.wait()
    assert [alive(pid) for pid in server.children] == [True, True, True]
    orphans = [
        problem for problem in (await discover(remote)).problems if "without a launcher" in problem.text
    ]
    assert all(str(pid) in orphans[0].text for pid in server.children[:2])
    await stop(remote, found, lambda _: None, limits=QUICK)
    assert [alive(pid) for pid in server.children] == [False, False, False]


async def test_a_recycled_pid_is_left_alone(remote: LocalRemote, bystander: subprocess.Popen[bytes]) -> None:
    await stop(remote, Stale(ProcessId(bystander.pid, 1), free_port()), lambda _: None, limits=QUICK)
    assert alive(bystander.pid)


class Stale:
    """A server whose launcher is gone and whose number belongs to somebody else now."""

    manager = Manager()
    sessions = ()
    user = ""

    def __init__(self, launcher: ProcessId, port: int) -> None:
        self.tree = (launcher,)
        self.ports = (port,)


async def test_a_port_held_by_somebody_else_is_named(remote: LocalRemote) -> None:
    with socket.create_server(("127.0.0.1", 0)) as holder:
        port = holder.getsockname()[1]
        with pytest.raises(ServerStopError) as caught:
            await stop(remote, Stale(ProcessId(os.getpid(), 1), port), lambda _: None, limits=BRIEF)
    assert caught.value.title == f"Port {port} is still taken"
    assert caught.value.cause.startswith(f"Process {os.getpid()} listens on it: ")


async def test_a_server_that_a_loop_brings_back_is_recognised(
    remote: LocalRemote, servers: Servers, tmp_path: Path
) -> None:
    first = servers.start()
    found = await find(remote, first)
    runner = subprocess.Popen(
        ["/bin/sh", "-c", 'while sleep 0.1; do "$@"; done', "loop", *launch_argv(first.port)],
        env={"PYTHONPATH": str(tmp_path / "packages"), "PATH": "/usr/bin:/bin"},
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        with pytest.raises(ServerManagedError, match="started again by something else"):
            await stop(remote, found, lambda _: None, limits=StopLimits(10, 10, 60, 1))
    finally:
        os.killpg(runner.pid, signal.SIGKILL)
        runner.wait()


@pytest.mark.parametrize(
    ("manager", "command"),
    [
        (
            Manager(kind=ManagerKind.SYSTEMD, name="sglang.service", detail="system"),
            "sudo systemctl edit sglang.service",
        ),
        (
            Manager(kind=ManagerKind.SYSTEMD, name="my.service", detail="user"),
            "systemctl --user restart my.service",
        ),
        (Manager(kind=ManagerKind.DOCKER, name="a" * 64, detail="podman"), "podman stop aaaaaaaaaaaa"),
        (Manager(kind=ManagerKind.KUBERNETES, name="pod"), "kubectl edit"),
        (Manager(kind=ManagerKind.SLURM, name="4711"), "scancel 4711"),
        (Manager(kind=ManagerKind.SUPERVISOR, name="sglang"), "supervisorctl stop sglang"),
    ],
)
async def test_refuses_what_a_manager_would_bring_back(
    remote: LocalRemote, manager: Manager, command: str
) -> None:
    server = Stale(ProcessId(1, 1), 30000)
    server.manager = manager
    with pytest.raises(ServerManagedError) as caught:
        await stop(remote, server, lambda _: None)
    assert f"`{command}" in caught.value.remedy
    assert remote.commands == []


async def test_waits_until_the_memory_is_released(
    remote: LocalRemote, servers: Servers, tmp_path: Path
) -> None:
    nvidia_smi = write_nvidia_smi(tmp_path / "bin", used_mib=[90000, 90000, 40000, 4])
    gpu_remote = LocalRemote(tmp_path, env={"PATH": f"{nvidia_smi.parent}:/usr/bin:/bin"})
    found = await find(remote, servers.start())
    steps: list[ServerStopping] = []
    report = await stop(gpu_remote, found, steps.append, limits=QUICK, idle_mib={0: 10})
    assert report.memory_released is True
    assert [gpu.memory_used_mib for gpu in report.gpus_after] == [4]
    assert steps[-2] == ServerStopping(step="memory", detail="GPU 0 90000 -> 4 MiB")


async def test_memory_that_stays_is_reported(remote: LocalRemote, servers: Servers, tmp_path: Path) -> None:
    nvidia_smi = write_nvidia_smi(tmp_path / "bin", used_mib=[90000])
    gpu_remote = LocalRemote(tmp_path, env={"PATH": f"{nvidia_smi.parent}:/usr/bin:/bin"})
    found = await find(remote, servers.start())
    limits = StopLimits(2.0, 20.0, 20.0, 0.2)
    report = await stop(gpu_remote, found, lambda _: None, limits=limits, idle_mib={0: 10})
    assert report.memory_released is False


async def test_f06_ports_besides_the_clients_one_are_waited_for(
    remote: LocalRemote, servers: Servers, tmp_path: Path
) -> None:
    server = servers.start()
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        os.set_inheritable(taken.fileno(), True)
        heir = subprocess.Popen(["/bin/sleep", "600"], close_fds=False)
    try:
        found = await find(remote, server)
        tree = (*found.tree, ProcessId(heir.pid, _start_ticks(heir.pid)))
        steps: list[ServerStopping] = []
        await stop(remote, Started(tree, server.port), steps.append, limits=QUICK)
    finally:
        heir.kill()
        heir.wait()
    assert steps[0].detail == f"process {server.pid} and the 4 below it"
    waited = next(step.detail for step in steps if step.step == "port")
    assert waited == ", ".join(str(number) for number in sorted((server.port, port)))


def _start_ticks(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19])


class Started:
    """A server of whose ports only the clients' one is known."""

    manager = Manager()
    sessions = ()
    user = ""

    def __init__(self, tree: tuple[ProcessId, ...], port: int) -> None:
        self.tree = tree
        self.ports = (port,)


async def test_f10_nothing_is_ended_by_a_pattern(remote: LocalRemote, servers: Servers) -> None:
    server = servers.start()
    await stop(remote, await find(remote, server), lambda _: None, limits=QUICK)
    words = [word for command in remote.commands for word in command]
    assert not any(
        name in word for word in words for name in ("pkill", "killall", "sglang::", str(server.pid))
    )


async def test_f05_the_idle_level_is_learnt_from_the_first_stop(
    servers: Servers, remote: LocalRemote, tmp_path: Path
) -> None:
    first, second = servers.start(), servers.start()
    nvidia_smi = write_nvidia_smi(tmp_path / "bin", used_mib=[90000, 500, 500, 90000, 90000, 90000, 600])
    gpu_remote = LocalRemote(tmp_path, env={"PATH": f"{nvidia_smi.parent}:/usr/bin:/bin"})
    control = ServerControl(gpu_remote, "s1", stop_limits=QUICK)
    told: list[ServerStopping] = []
    for server in (first, second):
        found = await find(remote, server)
        restart = control.restart(Manager(), found.launch, port=server.port, label="", base=None)
        report = await restart.stop(found, told.append)
        assert report.memory_released is True
    assert [step.detail for step in told if "->" in step.detail] == [
        "GPU 0 90000 -> 500 MiB", "GPU 0 90000 -> 600 MiB",
    ]  # fmt: skip


async def test_can_be_cancelled_and_taken_up_again(remote: LocalRemote, servers: Servers) -> None:
    server = servers.start(DEAF="1")
    found = await find(remote, server)
    begun = asyncio.Event()
    task = asyncio.create_task(stop(remote, found, lambda _: begun.set(), limits=StopLimits(600, 1, 1, 1)))
    await begun.wait()
    await asyncio.sleep(0.5)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert alive(server.pid)
    await stop(remote, found, lambda _: None, limits=QUICK)
    assert not alive(server.pid)
