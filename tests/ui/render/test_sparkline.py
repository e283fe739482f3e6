import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specttui.state.snapshot import Series
from specttui.ui.render.glyphs import ASCII, BLOCKS, BRAILLE
from specttui.ui.render.sparkline import draw, resample, sparkline


def series(*values, spacing_s=1.0, window_s=None):
    offsets = tuple(spacing_s * (index + 1) for index in range(len(values)))
    return Series(offsets, tuple(values), window_s or spacing_s * len(values))


def test_scale_is_stated_not_taken_from_the_data():
    assert draw([100, 100, 100], 0, 100, BLOCKS) == ("███",)
    assert draw([50, 50, 50], 0, 100, BLOCKS) == ("▄▄▄",)
    assert draw([50.0, 50.5, 50.0], 0, 100, BLOCKS) == ("▄▄▄",)


def test_zero_differs_from_a_gap():
    assert draw([0, None, 0], 0, 100, BLOCKS) == ("▁ ▁",)


def test_values_outside_the_scale_are_cut_to_it():
    assert draw([-5, 500], 0, 100, BLOCKS) == ("▁█",)


@pytest.mark.parametrize("unknown", [None, math.nan, math.inf, -math.inf])
def test_what_is_not_finite_is_a_gap(unknown):
    assert draw([100, unknown, 100], 0, 100, BLOCKS) == ("█ █",)
    assert resample(series(1.0, unknown, 1.0), 3.0, 6) == [1.0, 1.0, None, None, 1.0, 1.0]


def test_more_rows_share_the_scale():
    assert draw([100, 50, 25], 0, 100, BLOCKS, rows=2) == ("█  ", "██▄")


def test_braille_puts_two_samples_into_a_cell():
    assert draw([100, 100, 0, None], 0, 100, BRAILLE) == ("⣿⡀",)
    assert draw([100], 0, 100, BRAILLE) == ("⢸",)


def test_ascii_uses_ascii_only():
    drawn = draw([0, 20, 40, 60, 80, 100, None], 0, 100, ASCII)[0]
    assert drawn.isascii()
    assert drawn == "_.-+*# "


def test_empty_series_is_all_gaps():
    assert resample(Series(), 100.0, 5) == [None] * 5
    assert sparkline(Series(), 100.0, 4, 0, 1, BLOCKS) == ("    ",)


def test_no_room_draws_nothing():
    assert sparkline(series(1.0, 2.0), 2.0, 0, 0, 1, BLOCKS) == ("",)


def test_thinning_keeps_minimum_and_maximum():
    values = [50.0] * 200
    values[31] = 99.0
    values[97] = 1.0
    thinned = resample(series(*values), 200.0, 10)
    assert max(thinned) == 99.0
    assert min(thinned) == 1.0
    assert len(thinned) == 10


def test_extremes_stay_in_the_order_in_which_they_came():
    assert resample(series(9.0, 1.0, 5.0, 1.0, 9.0, 5.0), 6.0, 4) == [9.0, 1.0, 1.0, 9.0]


def test_a_sparse_series_is_held_between_its_samples():
    sparse = Series((10.0, 20.0, 30.0), (1.0, 2.0, 3.0), 30.0)
    assert None not in resample(sparse, 30.0, 12)[4:]


def test_a_stall_shows_as_a_gap_at_the_end():
    stalled = Series(tuple(float(second) for second in range(1, 21)), (5.0,) * 20, 60.0)
    drawn = resample(stalled, 60.0, 12)
    assert drawn[0] == 5.0
    assert drawn[-4:] == [None] * 4


@given(
    st.lists(st.one_of(st.none(), st.floats(allow_nan=True, allow_infinity=True)), max_size=80),
    st.integers(0, 40),
    st.sampled_from([BLOCKS, BRAILLE, ASCII]),
)
def test_any_data_gives_rows_of_the_width_asked_for(values, width, glyphs):
    rows = sparkline(series(*values) if values else Series(), len(values), width, 0, 10, glyphs, rows=2)
    assert [len(row) for row in rows] == [width, width]


def test_a_hundred_thousand_samples():
    many = Series(tuple(index / 1000 for index in range(100_000)), (1.0,) * 100_000, 100.0)
    assert sparkline(many, 100.0, 30, 0, 1, BLOCKS) == ("█" * 30,)
