"""Bounded history that keeps its spikes."""

from __future__ import annotations

from specttui.state.history import History


def test_thinning_keeps_the_extremes_and_the_newest() -> None:
    history = History(capacity=100)
    for index in range(1000):
        history.add(float(index), 50.0 if index == 700 else 10.0)
    assert len(history.values) <= 100
    assert max(value for value in history.values if value is not None) == 50.0
    assert history.offsets_s == sorted(history.offsets_s)
    assert history.offsets_s[-1] == 999.0


def test_recent_takes_the_window_only() -> None:
    history = History()
    for index in range(100):
        history.add(float(index), float(index))
    recent = history.recent(99.0, 10.0)
    assert recent.offsets_s == tuple(float(index) for index in range(89, 100))
    assert recent.last == 99.0


def test_gaps_stay_gaps() -> None:
    history = History(capacity=10)
    for index in range(40):
        history.add(float(index), None)
    assert set(history.series().values) == {None}
    assert history.series().last is None


def test_a_burst_keeps_of_each_moment_the_newest_and_the_spike() -> None:
    history = History()
    history.add(1.0, 10.0)
    for value in (11.0, 12.0, 500.0, 11.5, 12.5):
        history.add(2.001, value)
    history.add(2.04, None)
    history.add(2.06, 13.0)
    assert history.series().values == (10.0, 500.0, 12.5, 13.0)
    assert history.series().offsets_s == (1.0, 2.001, 2.001, 2.06)


def test_a_backlog_of_thousands_of_lines_is_one_moment() -> None:
    history = History()
    for index in range(5000):
        history.add(3.0 + index * 1e-5, float(index % 7))
    assert len(history.values) <= 4
    assert history.newest(0.0) == float(4999 % 7)


def test_a_gap_in_a_burst_gives_way_to_what_is_known() -> None:
    history = History()
    for value in (None, None, 5.0):
        history.add(1.0, value)
    assert history.series().values == (None, 5.0)


def test_the_newest_known_value_within_a_time() -> None:
    history = History()
    for second, value in enumerate((1.0, 2.0, None)):
        history.add(float(second), value)
    assert [history.newest(since_s) for since_s in (0.0, 1.0, 1.5)] == [2.0, 2.0, None]
    assert History().newest(0.0) is None
