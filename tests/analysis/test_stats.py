import math
import random
import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specttui.analysis.stats import Estimate, bootstrap_interval, differ, known, mean, median, percentile

values = st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=50)


@given(values)
def test_median_is_the_standard_librarys(numbers):
    assert median(numbers) == pytest.approx(statistics.median(numbers), abs=1e-9)


@pytest.mark.parametrize(("percent", "expected"), [(0, 1), (25, 1.75), (50, 2.5), (95, 3.85), (100, 4)])
def test_percentiles_interpolate_between_ranks(percent, expected):
    assert percentile([4, 1, 3, 2], percent) == pytest.approx(expected, abs=1e-12)


@given(values, st.floats(0, 100), st.floats(0, 100))
def test_percentiles_rise_with_percent_and_stay_within(numbers, a, b):
    low, high = percentile(numbers, min(a, b)), percentile(numbers, max(a, b))
    tiny = 1e-9 * max(map(abs, numbers))
    assert min(numbers) - tiny <= low <= high + tiny
    assert high <= max(numbers) + tiny


def test_no_values_are_an_error():
    for statistic in (mean, median, bootstrap_interval):
        with pytest.raises(ValueError):
            statistic([])
    with pytest.raises(ValueError):
        percentile([1.0], 101)


def test_unknown_values_are_left_out():
    assert known([1.0, None, math.nan, math.inf, 2.0]) == [1.0, 2.0]


def test_bootstrap_is_deterministic_and_holds_the_value():
    rng = random.Random(1)
    numbers = [rng.gauss(10, 1) for _ in range(100)]
    first, again = bootstrap_interval(numbers), bootstrap_interval(numbers)
    assert first == again
    assert first.value == median(numbers)
    assert first.low < first.value < first.high
    assert bootstrap_interval(numbers, seed=5) != first


def test_bootstrap_of_the_mean_has_the_textbook_width():
    rng = random.Random(2)
    numbers = [rng.gauss(100, 10) for _ in range(4000)]
    found = bootstrap_interval(numbers, statistic=mean, blocks=40)
    assert found.half_width == pytest.approx(1.96 * 10 / math.sqrt(4000), rel=0.3)


@pytest.mark.parametrize("count", [3, 5, 20])
def test_intervals_cover_the_truth_about_as_often_as_they_say(count):
    rng = random.Random(count)
    covered = 0
    for _ in range(300):
        found = bootstrap_interval([rng.gauss(50, 5) for _ in range(count)], statistic=mean, resamples=200)
        covered += found.low <= 50 <= found.high
    assert 0.88 <= covered / 300 <= 0.99


def test_blocks_see_slow_drift_that_single_values_would_hide():
    rng = random.Random(3)
    level, numbers = 0.0, []
    for _ in range(1000):
        level = 0.98 * level + rng.gauss(0, 0.2)
        numbers.append(10 + level)
    blocks = bootstrap_interval(numbers, statistic=mean, blocks=20)
    singles = bootstrap_interval(numbers, statistic=mean, blocks=1000)
    assert blocks.half_width > 2 * singles.half_width


def test_one_value_says_nothing_about_its_spread():
    assert bootstrap_interval([90.0]) == Estimate(90.0, 0.0, 180.0)
    assert bootstrap_interval([5.0, 5.0, 5.0]) == Estimate(5.0, 5.0, 5.0)


def test_a_difference_needs_intervals_that_part():
    assert differ(Estimate(10, 9, 11), Estimate(13, 12, 14))
    assert differ(Estimate(13, 12, 14), Estimate(10, 9, 11))
    assert not differ(Estimate(10, 9, 11), Estimate(12, 11, 13))
    assert not differ(bootstrap_interval([90.0]), bootstrap_interval([100.0]))
    assert differ(bootstrap_interval([90.0] * 3), bootstrap_interval([100.0] * 3))
