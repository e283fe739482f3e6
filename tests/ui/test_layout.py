from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specttui.ui.layout import Wants, plan

FULL = Wants(cycle_rows=6, cycle_whole_rows=4, run_count=4, verdict_rows=3, rank_count=8, gpu_count=8)


def used_rows(layout):
    frame = layout.chrome[1]
    panels = [
        layout.node_rows, layout.metric_rows, layout.cycle_rows, layout.verdict_rows, layout.run_rows,
        layout.log_rows,
    ]  # fmt: skip
    return layout.header_rows + layout.node_line_rows + 1 + sum(rows + frame for rows in panels if rows)


def test_80x24_shows_everything_without_frames():
    layout = plan(80, 24, FULL)
    assert not layout.framed
    assert (layout.metric_rows, layout.cycle_rows, layout.verdict_rows, layout.run_rows, layout.log_rows) == (
        3, 7, 2, 5, 4,
    )  # fmt: skip
    assert layout.metric_widths == (("throughput", 40), ("accept", 40))


def test_120x40_has_frames_and_the_histogram():
    layout = plan(120, 40, FULL)
    assert layout.framed
    assert not layout.wide
    assert layout.header_rows == 3
    assert layout.metric_widths == (("throughput", 40), ("accept", 40), ("histogram", 40))
    assert (layout.metric_rows, layout.cycle_rows, layout.verdict_rows, layout.run_rows, layout.log_rows) == (
        4, 7, 3, 5, 7,
    )  # fmt: skip


def test_200x60_has_a_second_column():
    layout = plan(200, 60, FULL)
    assert [name for name, _ in layout.metric_widths] == ["throughput", "accept", "histogram", "gpus"]
    assert (layout.cycle_width, layout.ranks_width) == (120, 80)
    assert layout.cycle_rows == 9
    assert layout.metric_rows == 8


@pytest.mark.parametrize(("width", "height"), [(59, 24), (80, 14), (1, 1), (0, 0)])
def test_too_small(width, height):
    assert plan(width, height, FULL).tiny


def test_short_terminals_lose_parts_and_runs_but_keep_a_log():
    layout = plan(60, 15, FULL)
    assert not layout.tiny
    assert layout.cycle_rows == 5
    assert layout.run_rows == 0
    assert layout.log_rows == 3


def test_few_runs_leave_room_to_the_log():
    assert plan(80, 24, Wants(run_count=1)).log_rows > plan(80, 24, FULL).log_rows


@pytest.mark.parametrize("panel", ["throughput", "accept", "cycle", "runs", "log"])
def test_a_maximised_panel_has_all_the_room(panel):
    layout = plan(80, 24, FULL, panel)
    assert used_rows(layout) == 24
    rows = [layout.metric_rows, layout.cycle_rows, layout.run_rows, layout.log_rows]
    assert sorted(rows) == [0, 0, 0, 21]


def test_hosts_take_one_line_from_the_log_without_frames():
    layout = plan(80, 24, replace(FULL, node_count=2))
    assert (layout.node_line_rows, layout.node_rows) == (1, 0)
    assert (layout.metric_rows, layout.cycle_rows, layout.run_rows) == (3, 7, 5)
    assert layout.log_rows == plan(80, 24, FULL).log_rows - 1


@pytest.mark.parametrize(
    ("size", "count", "rows"),
    [((80, 32), 16, 3), ((120, 40), 2, 3), ((120, 40), 16, 5), ((150, 44), 16, 6), ((200, 60), 16, 10)],
)
def test_hosts_have_a_table_where_there_are_frames(size, count, rows):
    layout = plan(*size, replace(FULL, node_count=count))
    assert (layout.node_line_rows, layout.node_rows) == (0, rows)


def test_a_single_host_has_neither():
    layout = plan(120, 40, FULL)
    assert (layout.node_line_rows, layout.node_rows) == (0, 0)


def test_beside_a_maximised_panel_hosts_keep_their_line():
    layout = plan(150, 44, replace(FULL, node_count=16), "log")
    assert (layout.node_line_rows, layout.node_rows) == (1, 0)
    assert used_rows(layout) == 44


@given(
    st.integers(60, 300),
    st.integers(15, 120),
    st.builds(
        Wants,
        cycle_rows=st.integers(6, 9),
        cycle_whole_rows=st.integers(4, 6),
        run_count=st.integers(0, 40),
        verdict_rows=st.integers(1, 12),
        rank_count=st.integers(0, 16),
        gpu_count=st.integers(0, 16),
        node_count=st.one_of(st.just(0), st.integers(2, 32)),
    ),
)
def test_every_size_is_used_to_the_last_row_and_column(width, height, wants):
    layout = plan(width, height, wants)
    assert used_rows(layout) == height
    assert sum(cells for _, cells in layout.metric_widths) == width
    assert layout.cycle_width + layout.ranks_width == width
    assert layout.log_rows >= 1
    assert layout.cycle_rows >= 5
