"""What goes wrong on a real afternoon: each fault is said clearly, and the session goes on."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Literal

import pytest
from support.alerts import own_alerts
from support.file_modes import bound_by_file_modes, start_server_under
from support.held_program import HeldProgram
from support.live_demo import (
    Recorder,
    decoding,
    openssh_in_front_of,
    options_of,
    started_session,
    unstarted_session,
    until,
)
from support.processes import survivors
from support.waiting import eventually

from specttui.demo.host import DemoHost
from specttui.errors import (
    ConnectionFailedError,
    ConnectionLostError,
    LaunchError,
    PatchError,
    ServerNotFoundError,
    ServerStartError,
    UsageError,
    WorkerFileError,
)
from specttui.events import (
    Clock,
    ConnectionDown,
    ConnectionUp,
    DecodeStats,
    FileState,
    LogNotice,
    ServerFailed,
    Severity,
)
from specttui.launch.edits import Edit, SetEnv, SetFlag
from specttui.log.parser import LogParser
from specttui.probe.patch import remove
from specttui.session.commands import CancelledByUserError
from specttui.session.restoring import restore
from specttui.session.session import Session

SPEED = 20.0


@pytest.fixture
async def host(request: pytest.FixtureRequest) -> AsyncIterator[DemoHost]:
    """A demo host whose server serves; a parameter names its profile."""
    async with DemoHost(profile=getattr(request, "param", "h200"), speed=SPEED, seed=5) as host:
        await host.wait_ready(60)
        yield host


@pytest.fixture
async def session(host: DemoHost) -> AsyncIterator[Session]:
    """A session on it that has seen its server decode."""
    async with started_session(options_of(host)) as session:
        await until(session, decoding)
        yield session


@pytest.fixture
def taken_port() -> Iterator[int]:
    """A port of this machine on which somebody else listens."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield listener.getsockname()[1]


# Starts that fail


@pytest.mark.parametrize(
    ("edit", "category", "cause"),
    [
        (SetFlag("--mem-fraction-static", "0.99"), "oom_draft", "CUDA out of memory. Tried to allocate"),
        (SetFlag("--speculative-num-stepz", "3"), "bad_flag", "unrecognized arguments: --speculative-num-st"),
    ],
)
async def test_a_failed_start_says_why_and_the_last_good_one_comes_back(
    session: Session, edit: Edit, category: str, cause: str
) -> None:
    await _fails_and_comes_back(session, edit, category, cause)


@pytest.mark.parametrize("host", ["mission"], indirect=True)
async def test_ranks_that_refuse_their_nccl_settings_say_why(session: Session) -> None:
    edit = SetEnv("NCCL_PROTO", "allreduce:LL")
    await _fails_and_comes_back(session, edit, "nccl", "Invalid value for NCCL_PROTO: allreduce:LL")


async def test_a_port_clash_says_so_and_the_last_good_one_comes_back(
    session: Session, taken_port: int
) -> None:
    edit = SetFlag("--port", str(taken_port))
    await _fails_and_comes_back(session, edit, "port_in_use", "address already in use")


async def _fails_and_comes_back(session: Session, edit: Edit, category: str, cause: str) -> None:
    recorder = Recorder(session)
    good = session.launch
    with pytest.raises(ServerStartError) as refused:
        await session.restart([edit])
    assert cause in refused.value.cause
    assert refused.value.remedy
    assert [event.diagnosis.category for event in recorder.of(ServerFailed)] == [category]
    failed = session.snapshot()
    assert failed.server_phase == "failed"
    assert failed.server_detail == refused.value.title
    assert failed.command is not None
    assert (failed.command.name, failed.command.status) == ("restart", "failed")
    assert session.can_roll_back
    await session.restart_last_good()
    back = await until(session, decoding)
    assert session.launch == good
    assert not session.can_roll_back
    assert [run.label for run in back.runs] == ["steps 5", "steps 5"]


async def test_a_start_that_is_cancelled_leaves_nothing_behind(session: Session) -> None:
    good = session.launch
    await _cancel_restart_when(session, "starting")
    cancelled = session.snapshot()
    assert cancelled.server_phase == "exited"
    assert cancelled.server_detail == "the start was cancelled"
    assert own_alerts(cancelled.alerts) == []
    with pytest.raises(ServerNotFoundError):
        await session.rediscover()
    assert session.can_roll_back
    await session.restart_last_good()
    await until(session, decoding)
    assert session.launch == good


async def test_a_stop_that_is_cancelled_can_be_gone_on_with(session: Session) -> None:
    await _cancel_restart_when(session, "stopping")
    await session.restart([])
    seen = await until(session, decoding)
    assert [run.label for run in seen.runs] == ["steps 5", "steps 5"]


async def _cancel_restart_when(session: Session, phase: str) -> None:
    restarting = asyncio.create_task(session.restart([SetFlag("--speculative-num-steps", "2")]))
    seen = await until(session, lambda seen: seen.server_phase == phase)
    assert seen.command is not None
    assert seen.command.status == "running"
    await session.cancel()
    with pytest.raises(CancelledByUserError, match="restart was cancelled"):
        await restarting
    ended = session.snapshot().command
    assert ended is not None
    assert (ended.name, ended.status, ended.title) == ("restart", "failed", "restart was cancelled")


# The connection


async def test_a_cut_connection_comes_back_and_the_log_goes_on_without_loss_or_repetition(
    host: DemoHost,
) -> None:
    async with unstarted_session(options_of(host)) as session:
        recorder = Recorder(session)
        await session.start()
        for cut in range(1, 4):
            lines = len(recorder.of(DecodeStats))
            await until(session, lambda _, lines=lines: len(recorder.of(DecodeStats)) >= lines + 2)
            host.refuse_logins(1.5)
            host.kill_connections()
            await until(session, lambda seen: seen.connection == "retrying")
            back = await until(session, lambda seen: seen.connection == "up")
            assert back.server_phase == "serving"
            assert len(recorder.of(ConnectionDown)) == cut
        lines = len(recorder.of(DecodeStats))
        await until(session, lambda _: len(recorder.of(DecodeStats)) >= lines + 2)
    assert [event.reconnected for event in recorder.of(ConnectionUp)] == [False, True, True, True]
    written = LogParser().feed(host.log_path.read_bytes())
    assert _prefix_of(
        recorder.of(DecodeStats), [event for event in written if isinstance(event, DecodeStats)]
    )
    assert len(session.snapshot().runs) == 1


def _decode_lines(host: DemoHost) -> list[DecodeStats]:
    """What the log itself holds."""
    events = LogParser().feed(host.log_path.read_bytes())
    return [event for event in events if isinstance(event, DecodeStats)]


def _prefix_of(told: list[DecodeStats], written: list[DecodeStats]) -> bool:
    """Whether what was told is what was written, each once and in order, up to where the session ended."""
    return bool(told) and told == written[: len(told)]


async def test_a_session_closes_at_once_while_its_host_is_away(host: DemoHost) -> None:
    async with started_session(options_of(host)) as session:
        await session.back_up()
        host.refuse_logins(600)
        host.kill_connections()
        await until(session, lambda seen: seen.connection == "retrying")
        async with asyncio.timeout(20):
            await session.close()


@pytest.mark.parametrize(
    ("program", "arguments", "when", "patched"),
    [
        ("dd", "of=*.tmp*", "before", False),
        ("mv", "*.orig", "before", False),
        ("mv", "*worker_v2.py", "before", False),
        ("mv", "*worker_v2.py", "after", True),
    ],
)
async def test_a_connection_cut_during_a_patch_leaves_a_whole_file_that_the_next_session_restores(
    host: DemoHost, program: str, arguments: str, when: Literal["before", "after"], patched: bool
) -> None:
    original = host.worker_path.read_bytes()
    held = HeldProgram(host.scratch.programs, program, arguments, when)
    async with started_session(options_of(host)) as session:
        patching = asyncio.create_task(session.patch())
        await eventually(lambda: held.holding, 60)
        host.kill_connections()
        with pytest.raises(ConnectionLostError):
            await patching
        await until(session, lambda seen: seen.connection == "up")
        left = host.worker_path.read_bytes()
        assert (remove(left) if patched else left) == original
        assert session.patched or not patched  # so that nobody leaves unasked
    async with started_session(options_of(host)) as session:
        assert session.patched == patched
        alerts = [alert.message for alert in session.snapshot().alerts]
        assert any("patched already" in message for message in alerts) == patched
        await session.restore()
    assert host.worker_path.read_bytes() == original
    assert _leftovers(host) == []


def _leftovers(host: DemoHost) -> list[str]:
    """What lies beside the worker file or is noted in the host's cache for its sake."""
    noted = [
        path for path in (host.home / ".cache" / "specttui").glob("*/*") if path.parent.name != "launches"
    ]
    return [str(path) for path in (*host.worker_path.parent.glob("*.specttui-*"), *noted)]


# The server


async def test_a_server_that_dies_is_told_and_a_new_one_is_found(host: DemoHost, session: Session) -> None:
    before = session.snapshot()
    assert before.server is not None
    lines = before.runs[0].samples
    os.kill(before.server.pid, signal.SIGKILL)
    died = await until(session, lambda seen: seen.server_phase in {"exited", "failed"})
    assert [run.current for run in died.runs] == [False]
    errors = [alert for alert in died.alerts if alert.severity is Severity.ERROR]
    assert ["f5" in alert.remedy for alert in errors] == [True], died.alerts
    with pytest.raises(ServerNotFoundError):
        await session.rediscover()
    assert survivors([before.server.pid, *before.server.child_pids]) == []
    host.start_server()
    await host.wait_ready(60)
    await session.rediscover()
    found = await until(session, lambda seen: decoding(seen, lines=2))
    assert [run.label for run in found.runs] == ["steps 5", "steps 5"]
    assert found.server is not None
    assert found.server.pid != before.server.pid
    assert lines > 0


@pytest.fixture
async def idle_host() -> AsyncIterator[DemoHost]:
    """A demo host on which no server runs."""
    async with DemoHost(profile="h200", speed=SPEED, seed=5, start_server=False) as host:
        yield host


async def test_no_server_is_said_and_one_that_comes_is_found(idle_host: DemoHost) -> None:
    async with unstarted_session(options_of(idle_host)) as session:
        with pytest.raises(ServerNotFoundError) as refused:
            await session.start()
        # Other tests' servers may run on this machine: then ours is missed by its port.
        assert refused.value.title.startswith("No SGLang server ")
        assert refused.value.remedy
        empty = session.snapshot()
        assert (empty.connection, empty.server_phase) == ("up", "none")
        with pytest.raises(WorkerFileError, match="No worker file is known"):
            await session.patch()
        with pytest.raises(LaunchError, match="No server's launch is known"):
            await session.restart([])
        idle_host.start_server()
        await idle_host.wait_ready(60)
        await session.start()
        await until(session, decoding)


async def test_an_unreachable_host_is_said_and_can_be_tried_again(host: DemoHost) -> None:
    async with unstarted_session(options_of(host)) as session:
        host.refuse_logins(600)
        with pytest.raises(ConnectionFailedError) as refused:
            await session.start()
        assert refused.value.remedy
        assert session.snapshot().connection == "down"
        host.refuse_logins(0)
        await session.start()
        await until(session, decoding)


async def test_a_log_that_is_deleted_is_told_and_a_restart_brings_one_back(
    host: DemoHost, session: Session
) -> None:
    recorder = Recorder(session)
    host.log_path.unlink()
    await until(session, lambda _: bool(recorder.of(LogNotice)))
    assert recorder.of(LogNotice)[0].what == "vanished"
    assert session.snapshot().server_phase == "serving"
    await session.restart([SetFlag("--speculative-num-steps", "3")])
    back = await until(session, decoding)
    assert [run.label for run in back.runs] == ["steps 5", "steps 3"]


# The worker file


async def test_a_second_session_sees_the_patch_and_restore_without_a_screen_takes_it_out(
    host: DemoHost, session: Session
) -> None:
    original = host.worker_path.read_bytes()
    options = options_of(host)
    await session.patch()
    async with started_session(options) as second:
        seen = second.snapshot()
        assert seen.worker_file is not None
        assert seen.worker_file.state is FileState.PATCHED
        assert second.patched
        told = sorted(message.partition(" of ")[0] for message in own_alerts(seen.alerts))
        assert told == [
            f"Session {session.folder.session_id}",
            "The worker file is patched already, by an earlier session or another one",
        ]
        with pytest.raises(WorkerFileError, match="Another session is working on"):
            await second.restore()
        assert remove(host.worker_path.read_bytes()) == original
        told = await restore(options)
        assert told.startswith(f"{host.worker_path}: restored, byte for byte")
        assert host.worker_path.read_bytes() == original
        await second.restore()
        assert not second.patched
    assert _leftovers(host) == []


async def test_a_readonly_session_looks_and_changes_nothing(host: DemoHost) -> None:
    original = host.worker_path.read_bytes()
    async with started_session(replace(options_of(host), readonly=True)) as session:
        before = session.snapshot()
        assert (await session.preview_patch()).worker_class == "EAGLEWorkerV2"
        refused = [
            session.back_up(),
            session.patch(),
            session.restore(),
            session.restart([]),
            session.restart_last_good(),
            session.set_clock(Clock.WALL),
        ]
        for command in refused:
            with pytest.raises(UsageError, match="this session is read-only"):
                await command
        assert (await session.export()).read_text("utf-8").startswith("# Speculative decoding on demo\n")
        after = session.snapshot()
        assert after.server == before.server
    assert host.worker_path.read_bytes() == original
    assert _leftovers(host) == []


async def test_a_worker_that_nobody_knows_is_refused_with_what_was_seen(host: DemoHost) -> None:
    host.worker_path.write_text("class HouseWorker:\n    def step(self, batch):\n        return batch\n")
    foreign = host.worker_path.read_bytes()
    async with started_session(options_of(host)) as session:
        with pytest.raises(PatchError) as refused:
            await session.preview_patch()
        assert refused.value.title == f"{host.worker_path} holds no worker that we know"
        assert "HouseWorker (line 1)" in refused.value.cause
        assert refused.value.remedy
        with pytest.raises(PatchError, match="holds no worker that we know"):
            await session.patch()
        assert host.worker_path.read_bytes() == foreign
        await until(session, decoding)
    assert _leftovers(host) == []


@pytest.mark.openssh
async def test_a_worker_file_that_cannot_be_written_is_left_alone_and_the_probe_gets_in_without_it(
    idle_host: DemoHost, tmp_path: Path
) -> None:
    host, original = idle_host, idle_host.worker_path.read_bytes()
    bound = bound_by_file_modes()
    start_server_under(host, bound)
    await host.wait_ready(60)
    host.worker_path.chmod(0o444)
    host.worker_path.parent.chmod(0o555)
    with openssh_in_front_of(host, tmp_path / "sshd", under=bound) as options:
        async with started_session(replace(options, sudo="no")) as session:
            with pytest.raises(WorkerFileError) as refused:
                await session.patch(way="file")
            assert refused.value.title == f"{host.worker_path} cannot be written"
            assert refused.value.cause == "This account may not write there. It was left as it was."
            assert "owner of the installation" in refused.value.remedy
            assert (await session.preview_patch()).way == "import_hook"
            await session.patch()
            assert session.patched
            await session.restart([SetFlag("--speculative-num-steps", "2")])
            await until(session, lambda seen: seen.probe.status == "live" and seen.runs[-1].cycles > 0)
            await session.restore()
            assert not session.patched
    assert host.worker_path.read_bytes() == original
    assert _leftovers(host) == []
