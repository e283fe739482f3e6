"""Adaptive speculation cuts a run into segments that are never averaged together (CASES A18)."""

from __future__ import annotations

from support.envelopes import cycles, decode, run_started
from support.folding import Folding

from specttui.events import AdaptiveSwitch, ProbeCycles
from specttui.log.meaning.marks import Mark
from specttui.state.segments import by_steps


def switch(before: int, after: int, rank: str = "TP0") -> AdaptiveSwitch:
    return AdaptiveSwitch(
        rank=rank,
        steps_before=before,
        steps_after=after,
        draft_tokens_before=before + 1,
        draft_tokens_after=after + 1,
    )


def with_steps(event: ProbeCycles, steps: list[int | None]) -> ProbeCycles:
    return event.model_copy(update={"steps": steps})


def adaptive() -> Folding:
    """Steps 3 at 100 tok/s, steps 1 at 120, steps 3 again at 102."""
    log = Folding(run_started(1, "steps 3, adaptive", steps=3))
    for _ in range(7):
        log.take(decode(100.0, 2.0))
    log.take(switch(3, 1))
    log.take(switch(3, 1, rank="TP1"))
    log.take(decode(110.0, 1.7))
    for _ in range(6):
        log.take(decode(120.0, 1.5))
    log.take(switch(1, 3))
    log.take(decode(111.0, 1.8))
    for _ in range(6):
        log.take(decode(102.0, 2.0))
    return log


def test_each_step_count_is_a_row_of_its_own() -> None:
    snapshot = adaptive().snapshot()
    assert [(row.run_id, row.segment, row.label, row.current) for row in snapshot.runs] == [
        (1, 1, "steps 3, adaptive: steps 3 (adaptive)", True),
        (1, 2, "steps 3, adaptive: steps 1 (adaptive)", False),
    ]
    three, one = snapshot.runs
    assert (three.settings.num_steps, three.settings.num_draft_tokens) == (3, 4)
    assert (one.settings.num_steps, one.settings.num_draft_tokens) == (1, 2)
    assert three.throughput_tok_s is not None
    assert one.throughput_tok_s is not None
    assert (three.throughput_tok_s.value, three.samples, three.accept_len) == (101.0, 12, 2.0)
    assert (one.throughput_tok_s.value, one.samples, one.accept_len) == (120.0, 6, 1.5)
    assert three.notes == (
        "adaptive: 2 switches of steps, the last 1 -> 3; each step count has figures of its own",
    )
    assert snapshot.settings.num_steps == 3
    assert snapshot.chips[:2] == ("EAGLE3", "steps 3")


def test_the_line_that_covers_both_settings_counts_for_neither() -> None:
    run = adaptive().state.runs[0]
    assert [segment.marks[Mark.STEPS_CHANGED] for segment in run.segments] == [1, 1]
    figures = {sample.server_tok_s for segment in run.segments for sample in segment.samples}
    assert figures == {100.0, 102.0, 120.0}


def test_the_verdict_is_about_the_steps_in_force() -> None:
    log = adaptive()
    log.take(switch(3, 1))
    rows = log.snapshot().runs
    assert [row.current for row in rows] == [False, True]
    assert log.snapshot().settings.num_steps == 1


def test_a_run_without_switches_is_one_row() -> None:
    log = Folding(run_started(1, "steps 3", steps=3))
    for _ in range(4):
        log.take(decode(100.0, 2.0))
    (row,) = log.snapshot().runs
    assert (row.label, row.segment, row.notes) == ("steps 3", 0, ())


def test_cycles_go_to_the_steps_they_had() -> None:
    log = Folding(run_started(1, "steps 3", steps=3))
    log.take(with_steps(cycles(4, 20.0, verify=18.0), [3] * 4))
    log.take(switch(3, 1))
    line = cycles(4, 0.0, verify=0.0).model_copy(update={"cycle_ms": [20.0, 12.0, 13.0, 20.0]})
    log.take(with_steps(line, [3, 1, 1, 3]))
    three, one = log.state.runs[0].segments
    assert list(three.cycles["TP0"].cycle_ms) == [20.0] * 6
    assert list(one.cycles["TP0"].cycle_ms) == [12.0, 13.0]
    # The breakdown on the screen is of the steps in force only.
    assert list(log.state.window["TP0"].cycle_ms) == [12.0, 13.0]
    shown = log.snapshot().cycle
    assert shown is not None
    assert (shown.cycles, shown.mean_cycle_ms) == (2, 12.5)


def test_a_probe_line_is_split_by_steps_with_all_its_columns() -> None:
    line = cycles(3, 20.0, accepted=2, verify=18.0).model_copy(
        update={"steps": [3, 1, 3], "batch": [1, 2, 3], "accepted": [4, 5, 6], "cycle_ms": [1.0, 2.0, None]}
    )
    parts = by_steps(line)
    assert list(parts) == [3, 1]
    three = parts[3]
    assert (three.steps, three.batch, three.accepted, three.cycle_ms) == ([3, 3], [1, 3], [4, 6], [1.0, None])
    assert (parts[1].batch, parts[1].phase_ms, parts[1].cpu_ms) == (
        [2], {"verify": [18.0]}, {"verify": [1.8]},
    )  # fmt: skip
    assert parts[1].accept_histogram == []


def test_a_probe_line_of_one_step_count_stays_whole() -> None:
    line = with_steps(cycles(3, 20.0), [2, 2, 2])
    assert by_steps(line) == {2: line}
    assert by_steps(with_steps(line, [])) == {None: with_steps(line, [])}


def test_steps_that_the_log_tells_late_are_those_before_the_switch() -> None:
    log = Folding(run_started(1, "found"))
    log.take(decode(100.0, 2.0))
    log.take(switch(5, 3))
    first, second = log.state.runs[0].segments
    assert (first.settings.num_steps, first.settings.num_draft_tokens) == (5, 6)
    assert (second.settings.num_steps, second.settings.num_draft_tokens) == (3, 4)
