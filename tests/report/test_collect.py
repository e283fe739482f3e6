"""What the fold gathers beyond the snapshot."""

from __future__ import annotations

import pytest
from support import example_session
from support.example_session import ORIGINAL, PATCHED, WORKER, launch

from specttui import events as ev
from specttui.report import collect
from specttui.report.facts import Moment
from specttui.state.snapshot import Snapshot


def gather(*pairs):
    envelopes = [
        ev.Envelope(at=1000.0 + offset_s, offset_s=offset_s, event=event) for offset_s, event in pairs
    ]
    return collect(envelopes, Snapshot())


def checked(state, sha256, original_sha256=""):
    return ev.WorkerFileChecked(path=WORKER, state=state, sha256=sha256, original_sha256=original_sha256)


def test_the_session_and_its_length():
    facts = example_session.report()
    assert (facts.session_id, facts.target, facts.mode) == ("20261129-142233-gpu-host", "gpu-host", "live")
    assert (facts.started_at, facts.duration_s, facts.complete) == (example_session.STARTED_AT, 610.0, True)
    assert (facts.specttui_version, facts.connection_losses) == ("0.1.0", 1)


def test_an_empty_recording_gives_an_empty_report():
    facts = collect([], Snapshot(session_id="s", target="t"))
    assert (facts.session_id, facts.target, facts.complete, facts.timeline) == ("s", "t", False, ())


def test_commands_are_paired_by_their_id():
    finished, restart, failed, _ = example_session.report().commands
    assert (finished.name, finished.outcome, finished.result) == (
        "patch",
        "finished",
        "6 phases will be seen",
    )
    assert finished.seconds == pytest.approx(1.0)
    assert (restart.detail, restart.seconds) == ("baseline", 48.5)
    assert (failed.outcome, failed.remedy) == ("failed", "Start it again (R).")
    assert failed.result.startswith("The server did not start. torch.OutOfMemoryError")


def test_a_command_without_an_end_or_a_beginning_is_told_too():
    facts = gather(
        (1.0, ev.CommandStarted(command_id=1, name="patch", detail="d")),
        (2.0, ev.CommandFailed(command_id=9, name="restart", title="No")),
    )
    assert [(c.command_id, c.outcome, c.seconds, c.result) for c in facts.commands] == [
        (1, "unfinished", None, ""),
        (9, "failed", 0.0, "No"),
    ]


def test_the_worker_file_goes_from_found_to_patched_to_restored():
    (worker,) = example_session.report().workers
    assert [(step.state.value, step.sha256) for step in worker.steps] == [
        ("original", ORIGINAL),
        ("patched", PATCHED),
        ("original", ORIGINAL),
    ]
    assert (worker.original_sha256, worker.ever_patched, worker.is_original) == (ORIGINAL, True, True)
    assert (worker.backup_path, worker.local_backup_path) == (
        f"{WORKER}.specttui-backup",
        "backups/eagle_worker.py",
    )


def test_a_file_that_differs_from_the_original_is_not_called_restored():
    facts = gather(
        (1.0, checked(ev.FileState.PATCHED, PATCHED, ORIGINAL)),
        (2.0, checked(ev.FileState.ORIGINAL, "c" * 64)),
    )
    assert (facts.workers[0].is_original, facts.workers[0].original_sha256) == (False, ORIGINAL)


def test_a_file_whose_original_is_unknown_is_not_called_original():
    facts = gather((1.0, checked(ev.FileState.FOREIGN, "")))
    assert facts.workers[0].is_original is False


def test_checks_that_find_nothing_new_are_one_step():
    original = checked(ev.FileState.ORIGINAL, ORIGINAL)
    assert len(gather((1.0, original), (2.0, original)).workers[0].steps) == 1


def test_starts_end_ready_or_failed_and_their_steps_have_lengths():
    ready, failed = example_session.report().start_ups
    assert (ready.label, ready.outcome, ready.seconds) == ("baseline", "ready", 43.5)
    assert ready.phases == (("weights", 22.0), ("graphs", 18.0))
    assert (failed.outcome, failed.reason, failed.seconds) == ("failed", "Out of GPU memory", 8.0)


def test_a_failure_of_a_server_that_was_ready_does_not_undo_its_start():
    facts = gather(
        (1.0, ev.ServerStarting(pid=1, launch=launch(2))),
        (5.0, ev.ServerReady(pid=1)),
        (9.0, ev.ServerFailed(diagnosis=ev.Diagnosis(category="oom", title="OOM"))),
    )
    assert [(start.outcome, start.seconds, start.reason) for start in facts.start_ups] == [("ready", 4.0, "")]


def test_the_launches_found_and_left_are_the_first_and_last_that_served():
    facts = example_session.report()
    assert (facts.found_launch, facts.last_launch) == (launch(5), launch(2, NCCL_PROTO="LL"))


def test_a_new_start_forgets_what_the_last_server_resolved():
    facts = gather(
        (1.0, ev.ServerArguments(arguments={"tp_size": "8"})),
        (1.0, ev.ArgumentAdjusted(text="a")),
        (2.0, ev.ServerStarting(pid=1, launch=launch(2))),
        (3.0, ev.ArgumentAdjusted(text="b")),
        (3.0, ev.ArgumentAdjusted(text="b")),
    )
    assert (facts.arguments, facts.adjustments) == ({}, ("b",))


def test_equal_alerts_are_one_with_a_count():
    (alert,) = example_session.report().alerts
    assert (alert.message, alert.count, alert.moment.offset_s) == ("KV pool full", 2, 201.0)


def test_notes_keep_their_time_and_text():
    (note,) = example_session.report().notes
    assert (note.moment, note.text) == (
        Moment(300.0, example_session.STARTED_AT + 300.0),
        example_session.HOSTILE_NOTE,
    )


def test_a_load_belongs_to_the_run_it_began_in():
    (load,) = example_session.report().loads
    assert (load.run_id, load.started.load_id, load.finished.done) == (1, 1, 15)
    started = ev.LoadStarted(load_id=7, concurrency=1, requests=1, max_new_tokens=1)
    (lonely,) = gather((1.0, started)).loads
    assert (lonely.run_id, lonely.finished) == (None, None)


def test_clocks_are_those_that_gave_figures_in_order():
    cycles = [ev.ProbeCycles(clock=clock) for clock in (ev.Clock.SYNC, ev.Clock.EVENTS, ev.Clock.SYNC)]
    assert gather(*((float(i), event) for i, event in enumerate(cycles))).clocks == (
        ev.Clock.SYNC,
        ev.Clock.EVENTS,
    )


def test_the_timeline_counts_repetitions_in_a_row_only():
    texts = [
        (entry.text, entry.count, entry.last_offset_s)
        for entry in gather(
            (1.0, ev.ProbeInstalled(rank="TP0", worker_class="W", cycle_method="m", clock=ev.Clock.EVENTS)),
            (1.1, ev.ProbeInstalled(rank="TP1", worker_class="W", cycle_method="m", clock=ev.Clock.EVENTS)),
            (2.0, ev.MemoryPressure(retracted=1, text="a")),
            (2.5, ev.DecodeStats()),
            (3.0, ev.MemoryPressure(retracted=2, text="b")),
            (4.0, ev.NoteAdded(text="x")),
            (5.0, ev.MemoryPressure()),
        ).timeline
    ]
    assert texts == [
        ("Probe in W, clock events", 2, 1.1),
        ("KV cache pool full: requests retracted", 2, 3.0),
        ("Note: x", 1, 4.0),
        ("KV cache pool full: requests retracted", 1, 5.0),
    ]


@pytest.mark.parametrize(
    ("event", "text"),
    [
        (ev.ServerExited(exit_code=-9), "Server exited with -9 unexpectedly"),
        (ev.ServerExited(expected=True, detail="asked to"), "Server exited: asked to"),
        (ev.ServerNotFound(reason="no process"), "No server found: no process"),
        (ev.FailureSeen(category="oom", title="OOM"), "In the log: OOM"),
        (ev.ProbeClockChanged(clock=ev.Clock.OFF, previous=ev.Clock.WALL), "Probe clock wall to off"),
        (ev.ProbeError(message="KeyError"), "Probe took itself out: KeyError"),
        (ev.AdaptiveSwitch(steps_before=3, steps_after=1), "Adaptive speculation: steps 3 to 1"),
        (ev.ServerReady(), "Server ready"),
        (ev.ConnectionUp(reconnected=True), "Connected again"),
    ],
)
def test_the_timeline_in_words(event, text):
    assert [entry.text for entry in gather((1.0, event)).timeline] == [text]


@pytest.mark.parametrize(
    "event",
    [
        ev.DecodeStats(),
        ev.LogLines(lines=("x",)),
        ev.GpuSampled(gpus=()),
        ev.ServerStopping(step="terminate"),
        ev.CommandStarted(command_id=1, name="x"),
        ev.ServerProgress(phase="weights"),
    ],
)
def test_what_comes_often_is_not_on_the_timeline(event):
    assert gather((1.0, event)).timeline == ()
