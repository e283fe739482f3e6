"""Start-ups as the screen sees them: progress with an estimate, also of a server that loads as we come."""

from __future__ import annotations

import itertools

from support.demo_sessions import connected
from support.waiting import eventually

from specttui.demo.host import DemoHost
from specttui.events import Event, RunStarted, ServerProgress, ServerReady, ServerStarting
from specttui.log.phases import PHASES
from specttui.session.startup_memory import StartupMemory


def progress(events: list[Event]) -> list[ServerProgress]:
    return [event for event in events if isinstance(event, ServerProgress)]


def phases(events: list[Event]) -> list[str]:
    """The phases in order, each once per stretch."""
    return [phase for phase, _ in itertools.groupby(event.phase for event in progress(events))]


async def test_the_second_start_on_a_host_has_an_estimate() -> None:
    async with DemoHost(profile="h200", speed=8, steps=3) as demo:
        await demo.wait_ready()
        async with connected(demo) as (session, events):
            await session.restart([])
            first = progress(events)
            assert {(event.fraction, event.eta_s) for event in first if event.phase != "ready"} == {
                (None, None)
            }
            assert any(event.total == 64 and event.done for event in first if event.phase == "weights")
            learnt = StartupMemory("demo").load()
            assert set(learnt) <= set(PHASES)
            assert {"weights", "graphs", "draft_weights"} <= set(learnt)
        async with connected(demo) as (session, events):
            await session.restart([])
            second = [event for event in progress(events) if event.phase != "ready"]
    fractions = [event.fraction for event in second]
    assert None not in fractions
    assert None not in [event.eta_s for event in second]
    assert all(0.0 <= fraction <= 0.99 for fraction in fractions if fraction is not None)
    assert (fractions[-1] or 0.0) > (fractions[0] or 0.0)


async def test_a_server_that_loads_as_we_come_shows_its_progress_and_then_serves() -> None:
    async with DemoHost(profile="h200", speed=0.15, steps=3) as demo:
        await eventually(
            lambda: demo.log_path.exists() and b"Load weight begin" in demo.log_path.read_bytes()
        )
        async with connected(demo) as (session, events):
            starting = next(event for event in events if isinstance(event, ServerStarting))
            assert starting.label.endswith("still loading")
            await eventually(lambda: session.snapshot().progress is not None and bool(progress(events)))
            shown = session.snapshot().progress
            assert shown is not None
            assert shown.phase in PHASES
            assert shown.last_output_s is not None
            await eventually(lambda: any(isinstance(event, ServerReady) for event in events), seconds=120.0)
            await eventually(lambda: session.state.run is not None)
            snapshot = session.snapshot()
            assert (snapshot.server_phase, snapshot.progress) == ("serving", None)
            seen = phases(events)
            assert seen[-1] == "ready"
            assert [phase for phase in PHASES if phase in seen][:3] == ["init", "distributed", "weights"]
            assert session.head.restarter.earlier_starts["weights"] > 0.0
    assert sum(isinstance(event, RunStarted) for event in events) == 1


async def test_silence_is_shown_and_is_no_failure() -> None:
    async with DemoHost(profile="h200", speed=8, steps=3) as demo:
        await demo.wait_ready()
        async with connected(demo) as (session, _):
            state = session.state
            session.emitter.emit(ServerStarting(pid=1, launch=state.launch, label="steps 5"))
            session.emitter.emit(
                ServerProgress(phase="weights", done=105, total=163, elapsed_s=570.0, eta_s=299.0)
            )
            shown = session._builder.build(state, session.emitter.offset_s + 1500.0)
            assert shown.server_phase == "starting"
            assert shown.progress is not None
            assert (shown.progress.done, shown.progress.total) == (105, 163)
            assert shown.progress.last_output_s is not None
            assert 1500.0 <= shown.progress.last_output_s < 1560.0
            assert 2070.0 <= shown.progress.elapsed_s < 2130.0
            assert shown.progress.eta_s == 0.0
