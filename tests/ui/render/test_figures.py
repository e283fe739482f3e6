import math

import pytest

from specttui.state.snapshot import Interval
from specttui.ui.render import figures

UNKNOWN = [None, math.nan, math.inf, -math.inf]


@pytest.mark.parametrize("value", UNKNOWN)
def test_what_cannot_be_drawn_is_a_dash_everywhere(value):
    for show in (
        figures.tokens_per_second,
        figures.milliseconds,
        figures.accept_length,
        figures.percent,
        figures.change,
        figures.duration,
    ):
        assert show(value) == "-"


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.0, "0.0"), (94.05, "94.0"), (999.94, "999.9"), (1000.0, "1000"), (12345.6, "12346")],
)
def test_throughput_loses_its_decimal_from_1000_on(value, text):
    assert figures.tokens_per_second(value) == text


@pytest.mark.parametrize(
    ("value", "text"), [(0.0, "0.00"), (0.354, "0.35"), (18.84, "18.84"), (250.04, "250.0")]
)
def test_milliseconds(value, text):
    assert figures.milliseconds(value) == text


def test_change_always_has_a_sign():
    assert [figures.change(ratio) for ratio in (0.06, 0.0, -0.204)] == ["+6.0 %", "+0.0 %", "-20.4 %"]


def test_interval_with_half_width():
    assert figures.interval(Interval(88.8, 88.4, 89.2)) == "88.8 ±0.4"
    assert figures.interval(Interval(math.nan, 0, 1)) == "-"
    assert figures.interval(Interval(88.8, math.nan, 1)) == "88.8"
    assert figures.interval(None) == "-"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.2, "0 s"),
        (59.4, "59 s"),
        (125, "2 min 05 s"),
        (3599.6, "1 h 00 min"),
        (3725, "1 h 02 min"),
        (-3, "0 s"),
    ],
)
def test_duration(seconds, text):
    assert figures.duration(seconds) == text


@pytest.mark.parametrize(("seconds", "text"), [(60.0, "60 s"), (120.0, "120 s"), (600.0, "10 min 00 s")])
def test_window(seconds, text):
    assert figures.window(seconds) == text


@pytest.mark.parametrize(
    ("value", "ceiling"),
    [
        (None, 1.0),
        (0.0, 1.0),
        (1.0, 1.0),
        (94.1, 100.0),
        (101.0, 120.0),
        (0.031, 0.04),
        (2.12, 3.0),
        (8.4, 10.0),
    ],
)
def test_nice_ceiling(value, ceiling):
    assert figures.nice_ceiling(value) == pytest.approx(ceiling)


def test_scale():
    assert figures.scale(0.0, 120.0) == "0-120"
    assert figures.scale(1.0, 3.0) == "1-3"
