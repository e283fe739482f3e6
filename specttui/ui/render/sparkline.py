"""Sparklines: a metric's last seconds in a few cells.

The scale is given by the caller and stated beside the line, never taken from the window, so flat data is
flat and noise is small. A gap is blank; a known zero is the lowest level. Thinning keeps the minimum and
maximum of each stretch, in the order in which they came.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

from specttui.state.snapshot import Series
from specttui.ui.render.figures import finite
from specttui.ui.render.glyphs import Glyphs

#: A sample is held for this many typical spacings; beyond it, the line shows a gap.
HOLD_SPACINGS = 3.0
#: A sample at the end of a stretch belongs to it, in spite of rounding.
_EDGE = 1e-9


def resample(series: Series, end_s: float, columns: int) -> list[float | None]:
    """A series over its window, as one value per column.

    Args:
        series: The samples; None and values that are not finite are gaps.
        end_s: The window's end, as an offset from the session's start.
        columns: How many values are wanted.

    Returns:
        Values from oldest to newest. Pairs of columns share a stretch of time and show its minimum and
        maximum; a stretch without samples repeats the last one while that is fresh.
    """
    pairs = (columns + 1) // 2
    if pairs <= 0 or not series.offsets_s:
        return [None] * max(0, columns)
    stretch_s = series.window_s / pairs or 1.0
    hold_s = max(stretch_s, HOLD_SPACINGS * _typical_spacing_s(series.offsets_s))
    begin_s = end_s - pairs * stretch_s
    buckets: list[list[float | None]] = [[] for _ in range(pairs)]
    held: float | None = None
    held_at_s = float("-inf")
    for offset_s, value in zip(series.offsets_s, series.values, strict=True):
        index = min(pairs - 1, math.ceil((offset_s - begin_s) / stretch_s - _EDGE) - 1)
        if index >= 0:
            buckets[index].append(finite(value))
        else:
            held, held_at_s = finite(value), offset_s
    result: list[float | None] = []
    for index, bucket in enumerate(buckets):
        if bucket:
            result.extend(_extremes(bucket))
            held, held_at_s = bucket[-1], begin_s + (index + 1) * stretch_s
        else:
            fresh = begin_s + (index + 1) * stretch_s - held_at_s <= hold_s
            result.extend((held, held) if fresh else (None, None))
    return result[len(result) - columns :]


def _extremes(bucket: Sequence[float | None]) -> tuple[float | None, float | None]:
    """A stretch's minimum and maximum, in the order in which they came."""
    known = [value for value in bucket if value is not None]
    if not known:
        return None, None
    low, high = min(known), max(known)
    return (low, high) if known.index(low) <= known.index(high) else (high, low)


def _typical_spacing_s(offsets_s: Sequence[float]) -> float:
    """The median distance between samples; 0 for a single one."""
    gaps = sorted(after - before for before, after in pairwise(offsets_s))
    return gaps[len(gaps) // 2] if gaps else 0.0


def draw(
    values: Sequence[float | None], low: float, high: float, glyphs: Glyphs, rows: int = 1
) -> tuple[str, ...]:
    """A sparkline of one or more rows.

    Args:
        values: One value per column; None is a gap. Values outside the scale are cut to it.
        low: The scale's lower end, where the lowest level is drawn.
        high: The scale's upper end.
        glyphs: What to draw with.
        rows: Height in cells.

    Returns:
        The rows from the top down, each as wide as the values need cells.
    """
    steps = rows * glyphs.level_count
    levels = [_level(value, low, high, steps) for value in values]
    if len(levels) % glyphs.columns_per_cell:
        levels.insert(0, None)
    return tuple(_row(levels, row, glyphs) for row in reversed(range(rows)))


def _row(levels: Sequence[int | None], row: int, glyphs: Glyphs) -> str:
    base, count = row * glyphs.level_count, glyphs.level_count
    filled = [None if level is None else min(count, max(0, level - base)) for level in levels]
    if glyphs.columns_per_cell == 1:
        return "".join(glyphs.cell(level) for level in filled)
    return "".join(glyphs.cell(left, right) for left, right in zip(filled[::2], filled[1::2], strict=True))


def _level(value: float | None, low: float, high: float, steps: int) -> int | None:
    """How many of the levels are filled; at least one, so that a zero differs from a gap."""
    known = finite(value)
    if known is None:
        return None
    share = (known - low) / (high - low) if high > low else 0.0
    return max(1, round(min(1.0, max(0.0, share)) * steps))


def sparkline(
    series: Series, end_s: float, width: int, low: float, high: float, glyphs: Glyphs, rows: int = 1
) -> tuple[str, ...]:
    """A series drawn `width` cells wide; see `resample` and `draw`."""
    values = resample(series, end_s, width * glyphs.columns_per_cell)
    return draw(values, low, high, glyphs, rows)
