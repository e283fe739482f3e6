import math

from specttui.state.snapshot import Series
from specttui.ui.render.chart import Boundary, chart, segments
from specttui.ui.render.glyphs import ASCII, BLOCKS


def shown(series, boundaries=(), width=60, height=12, glyphs=BLOCKS):
    return [line.plain for line in chart(series, boundaries, width, height, glyphs)]


FLAT = Series(tuple(float(second) for second in range(100)), (50.0,) * 100, 100.0)


def test_size_axes_and_curve():
    lines = shown(FLAT)
    assert [len(line) for line in lines] == [60] * 12
    assert lines[0].lstrip().startswith("┌")
    assert lines[1].startswith("60┤")
    assert lines[-1].rstrip().endswith("1 min 39 s")
    assert [index for index, row in enumerate(lines) if "\u28c0" in row] == [2]


def test_runs_begin_at_vertical_lines_with_their_numbers():
    lines = shown(FLAT, (Boundary(50.0, "2"), Boundary(900.0, "9")))
    column = lines[-2].index("┼")
    assert all(line[column] == "│" for line in lines[3:9])
    assert lines[1][column] == "2"
    assert "9" not in lines[1].replace("│", "")[3:]


def test_gaps_split_the_curve():
    values = (1.0, 2.0, None, math.nan, 3.0)
    assert segments(Series((1.0, 2.0, 3.0, 4.0, 5.0), values)) == [([1.0, 2.0], [1.0, 2.0]), ([5.0], [3.0])]


def test_one_point_and_no_point():
    assert len(shown(Series((5.0,), (1.0,)))) == 12
    assert shown(Series()) == ["No figures for this metric yet."]
    assert shown(Series((1.0,), (None,))) == ["No figures for this metric yet."]


def test_ascii():
    assert "\n".join(shown(FLAT, (Boundary(50.0, "2"),), glyphs=ASCII)).isascii()
