import pytest
from hypothesis import given
from hypothesis import strategies as st

from specttui.analysis.acceptance import (
    RateMeaning,
    accept_len_by_histogram,
    accept_len_from_rate,
    accept_len_max,
    accept_len_of,
    accept_rate,
    position_rate,
)


@pytest.mark.parametrize(("accept_len", "old", "new"), [(2.17, 0.54, 0.39), (3.05, 0.76, 0.68)])
def test_a21_three_meanings_of_accept_rate(accept_len, old, new):
    assert accept_rate(accept_len, 4, RateMeaning.OF_STEPS) == pytest.approx(old, abs=0.005)
    assert accept_rate(accept_len, 4, RateMeaning.OF_DRAFT_TOKENS) == pytest.approx(old, abs=0.005)
    assert accept_rate(accept_len, 4) == pytest.approx(new, abs=0.005)


def test_a07_a08_draft_tokens_behind_a_printed_rate():
    assert accept_rate(1.67, 6) == pytest.approx(0.13, abs=0.005)
    assert accept_rate(5.30, 6) == pytest.approx(0.86, abs=0.005)


def test_a_rate_needs_drafts():
    with pytest.raises(ValueError):
        accept_rate(1.0, 1)


@pytest.mark.parametrize(
    ("rate", "accept_len"),
    [(0.577, 2.73), (0.563, 2.69), (0.581, 2.74), (0.512, 2.54), (0.521, 2.56), (0.533, 2.60)],
)
def test_b11_accept_length_from_a_rate_over_3_drafts(rate, accept_len):
    assert accept_len_from_rate(rate, 3) == pytest.approx(accept_len, abs=0.005)


def test_the_most_a_cycle_can_emit():
    assert accept_len_max(1) == 2.0
    assert accept_len_max(None, 12) == 12.0
    assert accept_len_max(None) is None


@pytest.mark.parametrize(("steps", "accept_len"), [(2, 1.83), (3, 1.99), (5, 2.12), (10, 2.17)])
def test_the_missions_acceptance(steps, accept_len):
    assert accept_len_of(0.54, steps) == pytest.approx(accept_len, abs=0.005)
    assert accept_len_of(0.54, steps) == pytest.approx((1 - 0.54 ** (steps + 1)) / (1 - 0.54))


@given(st.floats(0, 1), st.integers(1, 16))
def test_rate_and_length_are_inverse(rate, steps):
    assert accept_len_of(position_rate(accept_len_of(rate, steps), steps), steps) == pytest.approx(
        accept_len_of(rate, steps), abs=1e-9
    )


@pytest.mark.parametrize(
    ("accept_len", "steps", "rate"),
    [(1.0, 3, 0.0), (0.5, 3, 0.0), (4.0, 3, 1.0), (9.0, 3, 1.0), (2.0, 0, 0.0)],
)
def test_rates_at_the_ends(accept_len, steps, rate):
    assert position_rate(accept_len, steps) == rate


def test_a_histogram_gives_fewer_steps_exactly():
    histogram = (40, 30, 20, 10)
    assert accept_len_by_histogram(histogram, 3) == 2.0
    assert accept_len_by_histogram(histogram, 2) == 1.9
    assert accept_len_by_histogram(histogram, 1) == 1.6
    assert accept_len_by_histogram(histogram, 4) is None
    assert accept_len_by_histogram((), 1) is None
