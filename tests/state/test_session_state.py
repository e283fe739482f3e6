"""The fold as a whole."""

from __future__ import annotations

from typing import get_args

from support.envelopes import cycles, decode, fold, run_started

from specttui import events as ev
from specttui.log.meaning.marks import Mark
from specttui.state.session_state import _HANDLERS


def test_connection_and_server_follow_their_events() -> None:
    state = fold((0.0, ev.ConnectionUp(latency_ms=12.5)), (1.0, ev.ServerNotFound(reason="none runs")))
    assert (state.connection, state.latency_ms, state.server_phase) == ("up", 12.5, "none")
    state = fold((0.0, ev.ConnectionUp()), (5.0, ev.ConnectionDown(reason="broken pipe")))
    assert (state.connection, state.connection_detail) == ("down", "broken pipe")


def test_runs_gather_only_their_own_figures() -> None:
    state = fold(
        (0.0, run_started(1, "baseline")),
        *[(float(second), decode(88.8)) for second in range(1, 6)],
        (6.0, run_started(2, "steps 2", steps=2)),
        *[(float(second), decode(70.7, 1.83)) for second in range(7, 12)],
        (12.0, cycles(40, 25.9, verify=25.3)),
    )
    first, second = state.runs
    assert (first.ended_s, second.ended_s) == (6.0, None)
    assert [sample.server_tok_s for sample in first.current.samples] == [88.8] * 4
    assert [sample.accept_len for sample in second.current.samples] == [1.83] * 4
    assert first.current.main_cycles is None
    assert second.current.main_cycles is not None
    assert len(second.current.main_cycles) == 40


def test_lines_under_memory_pressure_do_not_count() -> None:
    """CASES A22: the score is that of the window before."""
    state = fold(
        (0.0, run_started(1, "steps 2", steps=2)),
        *[(float(second), decode(430.0, 2.0)) for second in range(1, 5)],
        (5.0, ev.MemoryPressure(retracted=1)),
        *[(5.0 + second, decode(30.0, 2.0, usage=1.0)) for second in range(1, 5)],
        *[(10.0 + second, decode(431.0, 2.0, usage=0.5)) for second in range(1, 9)],
    )
    run = state.runs[0]
    assert [sample.server_tok_s for sample in run.current.samples] == [430.0] * 3 + [431.0] * 3
    assert run.current.marks[Mark.KV_PRESSURE] == 9


def test_probe_lives_and_dies_by_its_lines() -> None:
    installed = ev.ProbeInstalled(
        worker_class="EAGLEWorkerV2", cycle_method="forward_batch_generation", clock=ev.Clock.EVENTS,
        hooked={"verify": "verify"}, missing={"kv": "no allocator"},
    )  # fmt: skip
    state = fold((0.0, installed))
    assert (state.probe.status, state.probe.missing) == ("waiting", {"kv": "no allocator"})
    state = fold((0.0, installed), (1.0, cycles(10, 20.0, verify=18.0)))
    assert (state.probe.status, state.probe.hooked) == ("live", {"verify": "verify"})
    state = fold((0.0, installed), (1.0, ev.ProbeError(message="boom")))
    assert (state.probe.status, state.probe.message, state.probe.hooked) == ("failed", "boom", {})
    assert "boom" in state.alerts[-1].message


def test_single_draft_steps_stay_until_newer_ones_come() -> None:
    timed = cycles(10, 20.0, verify=18.0).model_copy(update={"draft_step_ms": [0.23, 0.24]})
    state = fold((0.0, timed), (1.0, cycles(10, 20.0, verify=18.0)))
    assert state.probe.draft_step_ms == (0.23, 0.24)


def test_commands_show_their_outcome() -> None:
    state = fold((0.0, ev.CommandStarted(command_id=1, name="patch", detail="put the probe in")))
    assert state.command is not None
    assert state.command.status == "running"
    state = fold(
        (0.0, ev.CommandStarted(command_id=1, name="patch")),
        (1.0, ev.CommandFailed(command_id=1, name="patch", title="Not writable", remedy="chmod")),
    )
    assert state.command is not None
    assert (state.command.status, state.command.title, state.command.remedy) == (
        "failed",
        "Not writable",
        "chmod",
    )


def test_a_start_forgets_the_figures_of_the_server_before() -> None:
    state = fold(
        (0.0, run_started(1, "steps 2", steps=2)),
        (1.0, cycles(10, 20.0, verify=18.0)),
        (2.0, ev.ServerStarting(pid=5, launch=ev.Launch(argv=("x",)), label="steps 5")),
    )
    assert state.window == {}
    assert state.server_phase == "starting"
    assert state.probe.status == "absent"


def test_log_view_is_bounded_and_counts_all() -> None:
    state = fold(*[(0.0, ev.LogLines(lines=tuple(f"line {index}" for index in range(500)), dropped=10))] * 5)
    assert len(state.log) == 2000
    assert state.log_total == 2550


def test_every_event_kind_has_a_fold_and_a_name_of_its_own() -> None:
    union = get_args(get_args(ev.AnyEvent)[0])
    kinds = {get_args(member.model_fields["kind"].annotation)[0] for member in union}
    assert len(kinds) == len(union)
    assert set(_HANDLERS) == set(union)


def test_a_server_that_is_stopped_may_complain() -> None:
    failure = ev.FailureSeen(category="nccl", title="NCCL failed", lines=(), fatal=True)
    stopping = ev.ServerStopping(step="terminate")
    state = fold((0.0, stopping), (1.0, failure), (2.0, ev.ServerStopping(step="stopped")), (3.0, failure))
    assert list(state.alerts) == []
    launch = ev.Launch(argv=("sglang", "serve", "m"))
    state = fold((0.0, stopping), (1.0, ev.ServerStarting(pid=2, launch=launch, label="x")), (2.0, failure))
    assert [alert.message for alert in state.alerts] == ["NCCL failed"]


def test_a_failure_told_after_the_death_that_nobody_wished_is_told() -> None:
    failure = ev.FailureSeen(category="nccl", title="NCCL failed", lines=(), fatal=True)
    state = fold((0.0, ev.ServerExited(pid=1, detail="process 1 ended")), (1.0, failure))
    assert [alert.message for alert in state.alerts] == ["NCCL failed"]


def test_the_reason_of_a_death_stays_when_the_process_is_gone() -> None:
    diagnosis = ev.Diagnosis(category="oom", title="Out of GPU memory")
    state = fold((0.0, ev.ServerFailed(diagnosis=diagnosis)), (1.0, ev.ServerExited(pid=1, detail="gone")))
    assert (state.server_phase, state.server_detail) == ("failed", "Out of GPU memory")
