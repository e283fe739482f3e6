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
