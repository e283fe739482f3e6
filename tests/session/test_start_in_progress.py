"""What the log tells of a start: progress, its end, its last lines; and a log that nobody can follow."""

from __future__ import annotations

from typing import cast

from specttui import events as ev
from specttui.host.readiness import Readiness, StartFailedError
from specttui.host.server import Restart
from specttui.session.convoy import Convoy
from specttui.session.diagnosing import diagnose_start
from specttui.session.emitter import Emitter
from specttui.session.start_in_progress import LAST_LINES, StartInProgress
from specttui.session.startup_progress import StartupProgress
from specttui.state.session_state import SessionState


def start() -> StartInProgress:
    progress = StartupProgress(Emitter(SessionState()), {}, speculative=True)
    return StartInProgress(cast("Restart", None), Readiness(), progress, Convoy())


def test_the_ready_line_is_seen() -> None:
    begun = start()
    begun.saw(ev.StartupStep(phase="weights", edge="begin"), 1.0)
    assert not begun.readiness.ready_line_seen
    begun.saw(ev.StartupStep(phase="ready", edge="end"), 2.0)
    assert begun.readiness.ready_line_seen


def test_a_log_that_cannot_be_followed_keeps_no_server_from_being_ready() -> None:
    begun = start()
    begun.saw(ev.LogNotice(what="rotated"), 1.0)
    assert not begun.readiness.ready_line_seen
    begun.saw(ev.LogNotice(what="cannot_follow", detail="it goes to a terminal"), 1.0)
    assert begun.readiness.ready_line_seen
    assert begun.heard_s is None


def test_the_first_failure_and_the_last_lines_are_kept() -> None:
    begun = start()
    for second in range(2):
        begun.saw(ev.FailureSeen(category=f"c{second}", title="t", lines=(), fatal=True), float(second + 1))
        begun.saw(ev.LogLines(lines=tuple(f"line {second}.{number}" for number in range(20))), 9.0)
    assert ([failure.category for failure in begun.failures], begun.failed_s) == (["c0", "c1"], 1.0)
    assert (begun.last_lines[0], begun.last_lines[-1], len(begun.last_lines)) == (
        "line 0.10",
        "line 1.19",
        LAST_LINES,
    )
    assert (begun.heard_s, begun.readiness.last_line) == (9.0, "line 1.19")


def test_a_death_is_told_by_the_end_of_a_log_that_is_no_file() -> None:
    ended = StartFailedError("The server ended while starting", category="exited", last_lines=())
    diagnosis = diagnose_start(ended, (), None, "", last_lines=("one", "two"))
    assert diagnosis.cause_lines == ("one", "two")
    hung = StartFailedError("It hangs", category="hung", cause="No output")
    assert diagnose_start(hung, (), None, "", last_lines=("one",)).cause_lines == ("No output",)
