# ruff: noqa: ASYNC240 - the files of a test are small and local
"""Servers that are systemd units: changed by a drop-in, never doubled, given back, and kept from looping."""

from __future__ import annotations

import os
import shlex
import signal
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from support import fake_systemd
from support.fake_sglang import alive, free_port, launch_argv, write_package
from support.fake_systemd import FakeSystemd
from support.prompters import ScriptedPrompter
from support.ssh_server import SshServer
from support.ssh_sessions import of, session_on, ssh_host
from support.waiting import eventually

from specttui.errors import ServerManagedError, ServerStartError
from specttui.events import Alert, CommandFinished, FileState, ManagerKind, ServerReady, ServerStopping
from specttui.host.discovery import discover
from specttui.launch.edits import SetEnv, SetFlag
from specttui.probe.inspection import inspect
from specttui.probe.patch import apply
from specttui.probe.runtime import MARKER_END
from specttui.session import worker_keeper
from specttui.session.restoring import restore
from specttui.session.session import Session

UNIT = "sglang.service"
BROKEN = b"def _specttui_broken():\n    raise RuntimeError('wrong')\n\n\n_specttui_broken()\n"
EAGLE = ("--speculative-algorithm", "EAGLE", "--speculative-draft-model-path", "/m/draft",
         "--speculative-num-steps", "3", "--speculative-eagle-topk", "1",
         "--speculative-num-draft-tokens", "4")  # fmt: skip


class Host:
    """A host with one unit that runs an SGLang server through a wrapper script."""

    def __init__(self, systemd: FakeSystemd, server: SshServer, folder: Path, port: int) -> None:
        self.systemd = systemd
        self.server = server
        self.folder = folder
        self.port = port
        self.log = folder / "sglang.log"
        self.package = write_package(folder / "packages")

    def write_unit(self, **settings: str) -> None:
        wrapper = self.folder / "run.sh"
        argv = shlex.join([*launch_argv(self.port), *EAGLE])
        wrapper.write_text(f"#!/bin/sh\nexport FROM_WRAPPER=yes\nexec {argv}\n")
        packages = f"PYTHONPATH={self.folder / 'packages'} SECRET_TOKEN=hf_abc FAKE_IMPORT=eagle_worker_v2"
        self.systemd.write_unit(
            UNIT, f"/bin/sh {wrapper}", self.log, Restart="always", RestartSec="0.3",
            Environment=packages, **settings,
        )  # fmt: skip

    async def serve(self) -> int:
        self.systemd.systemctl("start", UNIT)
        await eventually(lambda: self.log.exists() and "ready to roll" in self.log.read_text(), 60)
        return self.systemd.main_pid(UNIT)


@pytest.fixture
def systemd(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeSystemd]:
    made = fake_systemd.install(tmp_path / "systemd")
    monkeypatch.setenv("PATH", str(made.programs), prepend=":")
    monkeypatch.setattr("specttui.host.reading.manager_of", fake_systemd.manager_by_mark)
    yield made
    made.stop_all()


@pytest.fixture
async def host(systemd: FakeSystemd, tmp_path: Path) -> AsyncIterator[Host]:
    async with ssh_host(tmp_path) as server:
        made = Host(systemd, server, tmp_path, free_port())
        made.write_unit()
        yield made


async def servers(session: Session, port: int) -> list[tuple[int, tuple[str, ...]]]:
    found = (await discover(session.head.remote, port=port)).servers
    return [(server.pid, server.launch.argv) for server in found]


async def test_f08_exactly_one_server_with_our_arguments_and_everything_given_back(host: Host) -> None:
    unit_file = (host.systemd.unit_files / UNIT).read_bytes()
    old_pid = await host.serve()
    async with session_on(host.server, host.folder, host.port) as (session, events):
        assert session.state.server.manager.kind is ManagerKind.SYSTEMD
        assert session.changes_on_host == ()
        await session.restart([SetFlag("--speculative-num-steps", "2"), SetEnv("NCCL_PROTO", "LL")])
        [(pid, argv)] = await servers(session, host.port)
        assert argv[argv.index("--speculative-num-steps") + 1] == "2"
        assert pid == host.systemd.main_pid(UNIT) != old_pid
        environment = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
        assert {b"NCCL_PROTO=LL", b"FROM_WRAPPER=yes", b"SECRET_TOKEN=hf_abc"} <= set(environment)
        assert [event.pid for event in of(events, ServerReady)] == [pid]
        first = of(events, ServerStopping)[0]
        assert first.step == "terminate"
        assert f"systemctl stop {UNIT}" in first.detail
        assert host.systemd.calls("stop", "start")[-2:] == [f"stop -- {UNIT}", f"start -- {UNIT}"]

        [drop_in] = host.systemd.drop_ins
        assert drop_in == host.systemd.root / f"run/systemd/system/{UNIT}.d/zzz-specttui.conf"
        assert "Restart=no" in drop_in.read_text()
        assert "hf_abc" not in drop_in.read_text()
        secret = host.systemd.root / f"run/specttui/{UNIT}.env"
        assert secret.stat().st_mode & 0o777 == 0o600
        assert session.changes_on_host == (f"The unit {UNIT} runs with an override of ours.",)

        await session.restore()
        assert host.systemd.drop_ins == []
        assert not secret.exists()
        assert session.changes_on_host == ()
        assert alive(pid)
    assert (host.systemd.unit_files / UNIT).read_bytes() == unit_file
    host.systemd.systemctl("restart", UNIT)
    again = Path(f"/proc/{host.systemd.main_pid(UNIT)}/cmdline").read_bytes()
    assert str(host.folder / "run.sh").encode() in again or b"--speculative-num-steps\x003\x00" in again


async def test_going_back_to_the_units_own_launch_takes_the_override_back(host: Host) -> None:
    await host.serve()
    async with session_on(host.server, host.folder, host.port) as (session, _):
        original = session.launch
        await session.restart([SetFlag("--speculative-num-steps", "2")])
        assert len(host.systemd.drop_ins) == 1
        await session.restart([SetFlag("--speculative-num-steps", "3")])
        [(pid, argv)] = await servers(session, host.port)
        assert argv == original.argv
        assert pid == host.systemd.main_pid(UNIT)
        assert host.systemd.drop_ins == []
        assert session.changes_on_host == ()


async def test_an_override_of_a_dead_session_is_found_and_undone(host: Host) -> None:
    await host.serve()
    async with session_on(host.server, host.folder, host.port) as (session, _):
        await session.restart([SetFlag("--speculative-num-steps", "2")])
    async with session_on(host.server, host.folder, host.port) as (session, events):
        left = f"The unit {UNIT} runs with an override of ours."
        assert session.changes_on_host == (left,)
        assert f"An earlier session, or another one, left this: {left}" in [
            event.message for event in of(events, Alert)
        ]
        await session.restore()
        assert host.systemd.drop_ins == []
        await session.restart([SetFlag("--speculative-num-steps", "5")])
    assert len(host.systemd.drop_ins) == 1
    text = await restore(session.options, prompter=ScriptedPrompter())
    assert text == f"{UNIT}: runs its own command again from its next start on"
    assert host.systemd.drop_ins == []


async def test_a_start_that_fails_is_told_once_and_not_repeated_by_systemd(host: Host) -> None:
    await host.serve()
    async with session_on(host.server, host.folder, host.port, roll_back=True) as (session, _):
        with pytest.raises(ServerStartError) as failed:
            await session.restart([SetEnv("FAKE_DIE", "1")])
        assert "serves again" in failed.value.remedy
        assert len(await servers(session, host.port)) == 1
        starts = host.systemd.calls("start")
        assert len(starts) == 3


async def test_a_transient_unit_is_refused_with_the_commands(host: Host) -> None:
    host.write_unit(Transient="yes")
    pid = await host.serve()
    async with session_on(host.server, host.folder, host.port) as (session, _):
        with pytest.raises(ServerManagedError, match="is gone once it stops") as refused:
            await session.restart([SetFlag("--speculative-num-steps", "2")])
        assert f"systemctl stop {UNIT}" in refused.value.remedy
    assert alive(pid)
    assert host.systemd.drop_ins == []


async def test_f13_a_unit_that_crashes_in_our_probe_gets_its_original_back(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*arguments: object, **options: object) -> bytes:
        patched = apply(*arguments, **options)  # type: ignore[arg-type]
        before, mark, after = patched.rpartition(MARKER_END.encode())
        return before + BROKEN + mark + after

    monkeypatch.setattr(worker_keeper, "apply", broken)
    pid = await host.serve()
    worker = host.package / "srt/speculative/eagle_worker_v2.py"
    original = worker.read_bytes()
    async with session_on(host.server, host.folder, host.port) as (session, events):
        await session.patch()
        assert inspect(worker.read_bytes(), str(worker)).state is FileState.PATCHED
        os.kill(pid, signal.SIGKILL)
        await eventually(
            lambda: any(event.name == "end crash loop" for event in of(events, CommandFinished)), 60
        )
        assert worker.read_bytes() == original
        told = [event for event in of(events, Alert) if "crashed in our probe" in event.message]
        assert [event.message for event in told] == [
            f"The unit {UNIT} crashed in our probe: the original worker file was restored"
        ]
        ready = host.log.read_text().count("ready to roll")
        await eventually(lambda: host.log.read_text().count("ready to roll") > ready or ready > 1, 60)
        await session.rediscover()
        assert len(await servers(session, host.port)) == 1
        assert session.changes_on_host == ()
