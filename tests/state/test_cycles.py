"""Columns of per-cycle figures."""

from __future__ import annotations

import pytest
from support.envelopes import cycles, fold, run_started

from specttui.events import Clock, Phase, ProbeCycles
from specttui.state.cycle_view import cycle_view
from specttui.state.cycles import CycleColumns


def test_columns_stay_of_one_length_when_a_phase_appears_late() -> None:
    columns = CycleColumns(100)
    columns.add(cycles(3, 10.0, verify=8.0))
    columns.add(cycles(2, 10.0, verify=8.0, draft=1.0))
    columns.add(cycles(2, 10.0, draft=1.5))
    assert list(columns.phase_ms[Phase.DRAFT]) == [None, None, None, 1.0, 1.0, 1.5, 1.5]
    assert list(columns.phase_ms[Phase.VERIFY]) == [8.0] * 5 + [None, None]
    assert len(columns) == 7


def test_capacity_bounds_every_column() -> None:
    columns = CycleColumns(10)
    for value in range(8):
        columns.add(cycles(4, float(value), verify=float(value)))
    assert list(columns.cycle_ms) == [5.0, 5.0, 6.0, 6.0, 6.0, 6.0, 7.0, 7.0, 7.0, 7.0]
    assert len(columns.phase_ms[Phase.VERIFY]) == 10
    assert columns.total == 32


def test_another_clock_starts_anew() -> None:
    columns = CycleColumns(10)
    columns.add(cycles(4, 1.0))
    columns.add(ProbeCycles(clock=Clock.WALL, batch=[1], cycle_ms=[2.0], accepted=[None], steps=[None]))
    assert list(columns.cycle_ms) == [2.0]
    assert columns.clock is Clock.WALL


def test_accept_length_weighs_by_requests_and_skips_unknown() -> None:
    columns = CycleColumns(10)
    columns.add(
        ProbeCycles(
            clock=Clock.EVENTS,
            batch=[1, 4, 2],
            cycle_ms=[1.0, 1.0, 1.0],
            accepted=[2, 4, None],
            steps=[2, 2, 2],
        )
    )
    assert columns.accept_len() == pytest.approx(6 / 5 + 1)
    assert CycleColumns(5).accept_len() is None


def test_last_is_the_newest_part() -> None:
    columns = CycleColumns(100)
    columns.add(cycles(5, 1.0, verify=1.0))
    columns.add(cycles(3, 2.0, verify=2.0))
    window = columns.last(4)
    assert list(window.cycle_ms) == [1.0, 2.0, 2.0, 2.0]
    assert list(window.phase_ms[Phase.VERIFY]) == [1.0, 2.0, 2.0, 2.0]


def test_parts_that_are_timed_in_some_cycles_only_are_shown_by_those() -> None:
    sparse = [5.0, None, None, None]
    line = cycles(4, 10.0, verify=8.0).model_copy(
        update={"phase_ms": {Phase.VERIFY: [8.0] * 4, Phase.TARGET_FORWARD: sparse}}
    )
    without = cycles(1, 10.0, verify=8.0)  # slow traffic: a line without any part
    state = fold((0.0, run_started(1, "steps 2", steps=2)), (1.0, line), (2.0, without), (3.0, line))
    view = cycle_view(state, 4.0)
    assert view is not None
    [target] = [row for row in view.rows if row.phase is Phase.TARGET_FORWARD]
    assert (target.share, target.median_ms, target.p95_ms) == (0.5, 5.0, 5.0)
    assert target.series.values == (5.0, 5.0)
    [verify] = [row for row in view.rows if row.phase is Phase.VERIFY]
    assert (verify.share, verify.series.values) == (pytest.approx(0.8), (8.0, 8.0, 8.0))


def test_a_servers_first_cycles_do_not_count_once_as_many_follow() -> None:
    columns = CycleColumns(512)
    columns.add(cycles(1, 1065.0))
    columns.add(cycles(40, 7.0))
    assert columns.settled() is columns
    columns.add(cycles(40, 7.0))
    assert list(columns.settled().cycle_ms) == [7.0] * 49
    for _ in range(20):
        columns.add(cycles(40, 7.0))
    assert columns.settled() is columns
