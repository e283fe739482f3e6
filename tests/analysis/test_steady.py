import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specttui.analysis.stats import mean, median
from specttui.analysis.steady import busy_lines, steady, steady_start


def noisy(level, count, seed=0, noise=0.01):
    rng = random.Random(seed)
    return [level * (1 + rng.gauss(0, noise)) for _ in range(count)]


def test_a_slow_start_is_cut_off_where_it_ends():
    slow, fast = noisy(10, 300), noisy(6.7, 1000, 1)
    start = steady_start(slow + fast)
    assert 300 - 5 <= start <= 300 + 40
    assert median(steady(slow + fast)) == pytest.approx(6.7, rel=0.01)


def test_a_steady_run_is_kept_whole():
    assert steady_start(noisy(6.7, 500)) == 0


def test_one_pause_of_the_host_drops_nothing():
    numbers = noisy(6.7, 500)
    numbers[100] = 90.0
    assert steady_start(numbers) == 0


def test_never_more_than_half_is_dropped():
    assert steady_start([100.0 - i for i in range(100)]) == 48
    assert steady_start(noisy(10, 60) + noisy(5, 40)) <= 50


def test_the_warm_up_must_stay_over():
    ragged = noisy(10, 100) + noisy(6.7, 60, 1) + noisy(10, 100, 2) + noisy(6.7, 600, 3)
    assert 260 - 5 <= steady_start(ragged) <= 260 + 30


@pytest.mark.parametrize("numbers", [[], [1.0], [9.0, 1.0, 1.0], [1.0] * 9])
def test_too_few_values_are_kept(numbers):
    assert steady_start(numbers) == 0
    assert steady(numbers) == numbers


def test_throughput_lines_with_a_small_window():
    assert steady_start([40.0, 60.0, 80.0, 88.0, 89.0, 88.5, 88.8, 89.1, 88.7, 88.9], window=3) == 3


@given(st.lists(st.floats(0, 1e6), max_size=60))
def test_any_values_lose_at_most_half(numbers):
    assert 0 <= steady_start(numbers) <= len(numbers) // 2


def test_a19_the_first_line_after_idle_is_dropped():
    lines = [0.39, 178.86, 165.41, 188.68]
    kept = busy_lines([0, 0.5, 1.0, 1.5], lines)
    assert kept == [1, 2, 3]
    assert mean([lines[i] for i in kept]) == pytest.approx(177.65, abs=0.005)
    assert mean(lines) == pytest.approx(133.3, abs=0.05)


def test_a_line_after_a_gap_in_the_middle_is_dropped():
    offsets = [0, 1, 2, 3, 60, 61, 62]
    assert busy_lines(offsets, [90, 91, 90, 92, 1.5, 90, 91]) == [0, 1, 2, 3, 5, 6]


def test_a_late_line_that_says_as_much_as_others_is_kept():
    assert busy_lines([0, 1, 2, 3, 60], [90, 91, 90, 92, 89]) == [0, 1, 2, 3, 4]


def test_lines_of_zero_say_nothing():
    assert busy_lines([0, 1, 2], [0.0, 90.0, 91.0]) == [1, 2]
    assert busy_lines([5], [90.0]) == [0]
    assert busy_lines([], []) == []
