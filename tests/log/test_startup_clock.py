"""Times of a start-up whose log arrives all at once."""

from __future__ import annotations

import pytest

from specttui.log.startup import expected, learnt
from specttui.log.startup_clock import StampClock


def test_lines_that_arrive_together_are_told_apart_by_their_stamps() -> None:
    clock = StampClock()
    first = clock.at("2026-11-29 12:00:00", 5.0)
    assert clock.at("2026-11-29 12:00:30", 5.0) - first == 30.0
    assert clock.now(7.5) - first == 32.5


def test_lines_without_a_stamp_lie_after_the_newest_and_time_never_goes_back() -> None:
    clock = StampClock()
    first = clock.at("2026-11-29 12:00:00", 5.0)
    assert clock.at("", 5.9) - first == pytest.approx(0.9)
    # The next stamp was cut to its second, which is before the bar: time stands still.
    assert clock.at("2026-11-29 12:00:00", 6.0) - first == pytest.approx(1.0)
    assert clock.at("2026-11-29 12:00:01", 6.4) - first == pytest.approx(1.0)


def test_without_any_stamp_our_own_clock_counts() -> None:
    clock = StampClock()
    assert [clock.at("", 1.0), clock.now(3.0)] == [1.0, 3.0]


def test_a_baseline_expects_no_draft_model_and_does_not_forget_it() -> None:
    earlier = {"weights": 30.0, "draft_weights": 4.0, "draft_graphs": 6.0, "warmup": 2.0}
    assert expected(earlier, speculative=False) == {"weights": 30.0, "warmup": 2.0}
    assert expected(earlier, speculative=True) == earlier
    assert learnt(earlier, {"weights": 20.0, "warmup": 2.0}, speculative=False) == {
        "weights": 25.0, "draft_weights": 4.0, "draft_graphs": 6.0, "warmup": 2.0,
    }  # fmt: skip
