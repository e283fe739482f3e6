"""Figures as text."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specttui.events import Phase, SpecSettings
from specttui.report import figures
from specttui.state.snapshot import Interval, RunRow


def run_with(shares):
    return RunRow(1, "x", SpecSettings(), current=False, is_baseline=False, phase_share=shares)


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, "-"), (0.0, "0.00"), (0.354, "0.35"), (9.994, "9.99"), (18.84, "18.8"), (440.4, "440.4")],
)
def test_milliseconds(value, text):
    assert figures.milliseconds(value) == text


def test_intervals_show_half_their_width():
    assert figures.interval(Interval(88.84, 88.4, 89.2)) == "88.8 ±0.4"
    assert figures.interval(None) == "-"


@pytest.mark.parametrize(
    ("ratio", "significant", "text"),
    [
        (0.0597, True, "+6.0 %"),
        (-0.2, None, "-20.0 %"),
        (0.003, False, "+0.3 % (within noise)"),
        (None, None, "-"),
    ],
)
def test_changes_have_a_sign_and_say_when_they_are_noise(ratio, significant, text):
    assert figures.change(ratio, significant) == text


def test_times():
    assert [figures.elapsed(seconds) for seconds in (0, 59.9, 61, 36000)] == [
        "0:00:00",
        "0:00:59",
        "0:01:01",
        "10:00:00",
    ]
    assert figures.utc(1795962153.0) == "2026-11-29 14:22:33 UTC"
    assert figures.utc_time(1795962153.0) == "14:22:33"


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (0.0, "    "),
        (1.0, "████"),
        (0.5, "██  "),
        (1 / 32, "▏   "),
        (0.47, "█▉  "),
        (7.0, "████"),
        (-1.0, "    "),
    ],
)
def test_bars_are_exact_to_an_eighth_and_padded(share, text):
    assert figures.bar(share, 4) == text


@pytest.mark.parametrize(
    ("shares", "texts"),
    [
        ([1 / 3, 1 / 3, 1 / 3], ["33.4", "33.3", "33.3"]),
        ([0.9666, 0.0184, 0.0150, 0.0], ["96.7", "1.8", "1.5", "0.0"]),
        ([2.0, 2.0], ["50.0", "50.0"]),
        ([0.0, 0.0], ["-", "-"]),
        ([], []),
    ],
)
def test_percents_by_largest_remainder(shares, texts):
    assert figures.percents(shares) == texts


@given(st.lists(st.floats(min_value=0, max_value=1e6), min_size=1, max_size=8))
def test_percents_always_add_up_to_a_hundred(shares):
    texts = figures.percents(shares)
    if sum(shares) > 0:
        assert round(math.fsum(map(float, texts)), 6) == 100.0


def test_what_the_phases_leave_is_other():
    shares = figures.whole_shares(run_with({Phase.VERIFY: 0.7, Phase.TARGET_FORWARD: 0.6, Phase.DRAFT: 0.2}))
    assert shares == {Phase.DRAFT: 0.2, Phase.VERIFY: 0.7, Phase.OTHER: 0.1}


def test_other_is_kept_where_it_was_measured_and_never_negative():
    assert figures.whole_shares(run_with({Phase.VERIFY: 0.7, Phase.OTHER: 0.25}))[Phase.OTHER] == 0.25
    assert figures.whole_shares(run_with({Phase.VERIFY: 1.2}))[Phase.OTHER] == 0.0
    assert figures.whole_shares(run_with({})) == {}
