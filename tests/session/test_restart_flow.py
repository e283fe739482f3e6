"""Restarts that are refused, that hang, that are rolled back: on the demo host, through the session."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest
from support.alerts import own_alerts
from support.demo_sessions import options_for
from support.prompters import ScriptedPrompter
from support.waiting import eventually

from specttui.demo.host import DemoHost
from specttui.errors import LaunchError, ServerStartError, UsageError
from specttui.events import (
    Event,
    RunStarted,
    ServerFailed,
    ServerReady,
    ServerStarting,
    ServerStopping,
)
from specttui.host.readiness import ReadyLimits
from specttui.host.stop import StopLimits
from specttui.launch.edits import SetEnv, SetFlag
from specttui.probe.patch import apply
from specttui.probe.runtime import MARKER_END
from specttui.session import worker_keeper
from specttui.session.options import SessionOptions
from specttui.session.session import Session

#: A start that goes silent at once while its schedulers hold the GPUs: a deadlock to whoever looks.
DEADLOCK = SetEnv("SPECTTUI_DEMO_SPEED", "0.001")
P2P = SetEnv("NCCL_P2P_LEVEL", "PHB")
QUICK_HANG = ReadyLimits(hang_s=1.0, poll_s=0.1, word_s=0.3)
BROKEN = b"def _specttui_broken():\n    raise RuntimeError('wrong')\n\n\n_specttui_broken()\n"
BAD_MEMORY = SetFlag("--mem-fraction-static", "0.99")


@pytest.fixture
async def demo() -> AsyncIterator[DemoHost]:
    async with DemoHost(profile="h200", speed=20, steps=3) as host:
        await host.wait_ready(60)
        yield host


@asynccontextmanager
async def session_on(demo: DemoHost, **options: object) -> AsyncIterator[tuple[Session, list[Event]]]:
    chosen: SessionOptions = replace(options_for(demo), **options)  # type: ignore[arg-type]
    session = Session(chosen, ScriptedPrompter())
    events: list[Event] = []
    session.emitter.listen(lambda envelope: events.append(envelope.event))
    try:
        await session.start()
        yield session, events
    finally:
        await session.close()


def of(events: list[Event], kind: type[Event]) -> list[Event]:
    return [event for event in events if isinstance(event, kind)]


async def test_bad_values_and_missing_files_are_refused_before_anything_is_stopped(demo: DemoHost) -> None:
    async with session_on(demo) as (session, events):
        pid = session.state.server.pid
        with pytest.raises(LaunchError, match="These settings would not work") as bad:
            await session.restart([SetEnv("NCCL_P2P_LEVEL", "sys")])
        assert bad.value.cause == (
            "NCCL_P2P_LEVEL=sys is ignored without a word: no such level "
            "(write SYS: names are case-sensitive)"
        )
        preview = session.preview_restart([SetEnv("NCCL_P2P_LEVEL", "sys")])
        assert preview.errors == (bad.value.cause,)
        with pytest.raises(LaunchError, match="not on the host") as missing:
            await session.restart([SetEnv("NCCL_GRAPH_FILE", "/no/graph.xml")])
        assert missing.value.cause == "NCCL_GRAPH_FILE=/no/graph.xml"
        assert of(events, ServerStopping) == []
        await session.rediscover()
        assert session.state.server.pid == pid


async def test_a_deadlock_is_ended_remembered_and_not_retried_silently(demo: DemoHost) -> None:
    limits = StopLimits(terminate_s=20, kill_s=20, port_s=20, memory_s=5)
    async with session_on(demo, ready_limits=QUICK_HANG, stop_limits=limits) as (session, events):
        with pytest.raises(ServerStartError, match="looks deadlocked"):
            await session.restart([DEADLOCK, P2P])
        failed = of(events, ServerFailed)
        assert [event.diagnosis.category for event in failed] == ["hung"]
        assert session.snapshot().server_phase == "failed"
        assert session.can_roll_back
        hung_pid = of(events, ServerStarting)[-1].pid
        result = await session.head.remote.run(["sh", "-c", 'kill -0 "$1" 2>/dev/null', "sh", str(hung_pid)])
        assert not result.ok, "the hung server still lives"

        told = "Still hung last time: NCCL_P2P_LEVEL=PHB"
        assert session.preview_restart([DEADLOCK, P2P]).warnings[0] == told
        assert session.preview_restart([SetFlag("--page-size", "1")]).warnings[0] == told
        with pytest.raises(LaunchError, match="hung when it was started last time"):
            await session.restart([])
        await session.restart_last_good()
        assert session.snapshot().server_phase == "serving"
        assert not any(text.startswith("Still hung") for text in session.preview_restart([]).warnings)
        with pytest.raises(ServerStartError, match="looks deadlocked"):
            await session.restart([DEADLOCK, P2P], retry_hung=True)


async def test_the_user_may_wait_longer_for_a_start_that_looks_deadlocked(demo: DemoHost) -> None:
    async with session_on(demo, ready_limits=QUICK_HANG) as (session, events):
        with pytest.raises(UsageError, match="No server is being started"):
            session.extend_start(600)
        task = asyncio.create_task(session.restart([SetEnv("SPECTTUI_DEMO_SPEED", "0.03")]))
        await eventually(lambda: session.snapshot().server_phase == "starting", 60)
        await eventually(lambda: session.head.restarter._start is not None, 60)
        session.extend_start(600)
        assert own_alerts(events) == ["Waiting up to 10 min more for the server to start"]
        await asyncio.sleep(5)
        assert not task.done()
        await session.cancel()
        with pytest.raises(Exception, match="restart was cancelled"):
            await task


async def test_a_failed_start_is_rolled_back_once(demo: DemoHost) -> None:
    async with session_on(demo, roll_back=True) as (session, events):
        good = session.launch
        with pytest.raises(ServerStartError, match="does not fit into GPU memory") as failed:
            await session.restart([BAD_MEMORY])
        assert failed.value.remedy.startswith("The last good configuration (steps 3) serves again.")
        assert session.snapshot().server_phase == "serving"
        assert not session.can_roll_back
        assert session.launch.argv == good.argv
        assert len(of(events, ServerStarting)) == 2
        assert len(of(events, ServerReady)) == 1
        assert [run.label for run in of(events, RunStarted)] == ["steps 3", "steps 3"]
        assert of(events, RunStarted)[-1].changes == ("back to the last good configuration",)
        assert "starting the last good configuration (steps 3) again" in own_alerts(events)[-1]


async def test_a_roll_back_that_fails_too_ends_there(demo: DemoHost) -> None:
    async with session_on(demo, roll_back=True) as (session, events):
        demo.scratch.draft_path.joinpath("config.json").unlink()
        with pytest.raises(ServerStartError, match="last good configuration did not come up either") as both:
            await session.restart([SetFlag("--speculative-num-steps", "2")])
        assert both.value.remedy.startswith("No server runs.")
        assert len(of(events, ServerFailed)) == 2
        assert len(of(events, ServerStarting)) == 2
        assert session.snapshot().server_phase == "failed"


async def test_a_probe_that_keeps_the_server_from_starting_is_taken_out_before_the_roll_back(
    demo: DemoHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*arguments: object, **options: object) -> bytes:
        patched = apply(*arguments, **options)  # type: ignore[arg-type]
        before, mark, after = patched.rpartition(MARKER_END.encode())
        return before + BROKEN + mark + after

    monkeypatch.setattr(worker_keeper, "apply", broken)
    async with session_on(demo, roll_back=True) as (session, events):
        original = demo.worker_path.read_bytes()
        await session.patch()
        assert demo.worker_path.read_bytes() != original
        with pytest.raises(ServerStartError, match="probe raised") as failed:
            await session.restart([])
        assert failed.value.remedy.startswith("The last good configuration (steps 3) serves again.")
        assert demo.worker_path.read_bytes() == original
        assert [event.diagnosis.in_probe for event in of(events, ServerFailed)] == [True]
        assert session.snapshot().server_phase == "serving"
        assert session.changes_on_host == ()
