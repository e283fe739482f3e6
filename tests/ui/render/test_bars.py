import math

import pytest

from specttui.ui.render.bars import bar
from specttui.ui.render.glyphs import ASCII, BLOCKS


@pytest.mark.parametrize(
    ("share", "drawn"),
    [
        (0.0, "        "),
        (1.0, "████████"),
        (0.5, "████    "),
        (0.516, "████▏   "),
        (0.0001, "▏       "),
        (1.7, "████████"),
        (-0.2, "        "),
        (None, "        "),
        (math.nan, "        "),
    ],
)
def test_bar_has_eighths_and_shows_any_share_above_zero(share, drawn):
    assert bar(share, 8, BLOCKS) == drawn


def test_ascii_bar():
    assert bar(0.5, 8, ASCII) == "####    "


def test_no_width():
    assert bar(0.5, 0, BLOCKS) == ""
