import math
from dataclasses import replace

from support.scripted_snapshots import cycle, serving

from specttui.events import Clock, Phase
from specttui.state.snapshot import Interval, PhaseRow, ProbeView, RankRow
from specttui.ui.render.cycle import cycle_panel, probe_notes, rank_spread, visible_rows
from specttui.ui.render.panel import Space

SPACE = Space(78, 7)


def lines(view=None, space=SPACE, snapshot=None):
    snapshot = snapshot or serving()
    return cycle_panel(snapshot, view or cycle(), space).fill(space).plain.split("\n")


def test_the_whole_panel_at_80_columns():
    shown = lines()
    assert shown[0].startswith("CYCLE  19.48 ms, GPU time, last 512 cycles ")
    assert shown[0].rstrip().endswith("share  median     p95  60 s")
    assert shown[1].startswith("verify         ███")
    assert "  96.7 %   18.84   19.92  " in shown[1]
    assert shown[2].startswith("  target fwd   ")
    assert shown[3].startswith("  accept       ▌")
    assert shown[4].startswith("draft          ▌")
    assert shown[6].startswith("other           ")
    assert {len(row) for row in shown} == {78}


def test_rows_that_are_no_parts_sum_to_100_percent():
    shares = [float(row[45:53].rstrip(" %")) for row in lines()[1:] if not row.startswith("  ")]
    assert round(sum(shares), 1) == 100.0


def test_figures_stand_in_columns():
    assert {row.index(" %") for row in lines()[1:]} == {50}


def test_cpu_column_where_there_is_room():
    space = Space(116, 7, framed=True)
    shown = lines(space=space)
    assert "CPU" in shown[0]
    assert "  6.41  " in shown[1]
    assert {len(row) for row in shown} == {116}


def test_unavailable_rows_say_why():
    view = cycle()
    missing = PhaseRow(
        Phase.ACCEPT, None, None, None, part_of=Phase.VERIFY, available=False, reason="CUDA graph"
    )
    rows = (*view.rows[:2], missing, *view.rows[3:])
    assert lines(replace(view, rows=rows))[3].rstrip() == "  accept       n/a: CUDA graph"


def test_parts_give_way_first():
    rows = cycle().rows
    assert [row.phase for row in visible_rows(rows, 4)] == [
        Phase.VERIFY,
        Phase.DRAFT,
        Phase.DRAFT_EXTEND,
        Phase.OTHER,
    ]
    assert visible_rows(rows, 6) == rows
    assert [row.phase for row in visible_rows(rows, 2)] == [Phase.VERIFY, Phase.DRAFT]


def test_sync_clock_says_that_it_distorts():
    assert "sync time, distorted" in lines(replace(cycle(), clock=Clock.SYNC))[0]


def test_notes_name_the_host_as_limit_and_the_slowest_rank():
    space = Space(100, 10)
    shown = lines(replace(cycle(), host_bound=True), space)
    assert shown[7] == "host-bound: the CPU is the limit, the GPUs wait for it"
    assert shown[8] == "ranks: slowest TP7 at 19.76 ms, 1.4 % above the fastest of 8"


def test_rank_spread_needs_two_known_ranks():
    assert rank_spread((RankRow("TP0", 19.0), RankRow("TP1", None), RankRow("TP2", math.nan))) is None


def test_unknown_figures_are_dashes():
    row = PhaseRow(Phase.VERIFY, math.nan, None, math.inf)
    shown = lines(replace(cycle(), rows=(row,)))
    assert shown[1].split() == ["verify", "-", "-", "-"]


def test_what_was_measured_of_the_measuring_is_said():
    probe = ProbeView(
        "live",
        cost=Interval(0.005, -0.001, 0.011),
        cross_check="target forward: SGLang's device timer 4.90 ms, ours 4.95 ms (+1.0 %)",
        draft_step_ms=(0.235, 0.234),
        timed_share=0.333,
    )
    assert probe_notes(probe) == [
        "the probe times 33 % of the cycles, to take less than 0.5 % of the time",
        "draft forwards, each: 0.23 0.23 ms",
        "the probe costs +0.5 % of the cycle (95 %: -0.1 to +1.1)",
        "target forward: SGLang's device timer 4.90 ms, ours 4.95 ms (+1.0 %)",
    ]
    assert probe_notes(ProbeView("live")) == []
    shown = lines(space=Space(100, 12), snapshot=replace(serving(), probe=probe))
    assert any("the probe costs +0.5 % of the cycle" in row for row in shown)
