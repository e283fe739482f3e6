"""A difference is called one only when the intervals say so."""

from __future__ import annotations

from specttui.events import SpecSettings
from specttui.report.ranking import rank
from specttui.state.snapshot import Interval, RunRow


def run(run_id, value=None, half_width=0.5, batch=1.0, **fields):
    interval = None if value is None else Interval(value, value - half_width, value + half_width)
    return RunRow(
        run_id, f"run {run_id}", SpecSettings(), current=False, is_baseline=False,
        throughput_tok_s=interval, batch=batch, **fields,
    )  # fmt: skip


def leaders(*runs):
    return [run.run_id for run in rank(runs).leaders]


def test_the_clear_winner_leads_alone():
    assert leaders(run(1, 88.8), run(2, 94.1), run(3, 70.7)) == [2]


def test_overlapping_intervals_are_a_tie_fastest_first():
    # CASES.md C06: LL128 at 1131.6 and the list form at 1127.6 with half a percent of noise
    assert leaders(run(1, 1001.05, 5.0), run(2, 1127.6, 5.6), run(3, 1131.6, 5.6)) == [3, 2]


def test_runs_without_figures_or_still_warming_up_do_not_count():
    ranking = rank([run(1), run(2, 50.0), run(3, 99.0, warming_up=True)])
    assert ([leader.run_id for leader in ranking.leaders], ranking.measured) == ([2], 1)


def test_nothing_measured_ranks_nothing():
    assert rank([]) == rank([run(1)])
    assert (rank([]).leaders, rank([]).comparable) == ((), True)


def test_runs_at_different_batch_sizes_are_not_comparable():
    assert rank([run(1, 88.0, batch=1.0), run(2, 99.0, batch=1.2)]).comparable
    assert not rank([run(1, 88.0, batch=1.0), run(2, 600.0, batch=8.0)]).comparable
    assert rank([run(1, 88.0, batch=None), run(2, 99.0, batch=1.0)]).comparable
