"""A metric over the session as a chart, drawn by plotext, with the runs' starts as vertical lines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import plotext
from textual.content import Content

from specttui.state.snapshot import Series
from specttui.ui.render.figures import duration, finite, nice_ceiling
from specttui.ui.render.glyphs import Glyphs
from specttui.ui.render.text import DRAWN, MUTED, line

_MOST_TICKS = 7
_TICK_WIDTH = 18
#: Above the largest value there is room for the numbers of the runs.
_HEADROOM = 1.1
#: Frame characters without box lines, for the ASCII set.
_ASCII_FRAME = str.maketrans("┌┐└┘├┤┬┴┼─│", "+++++++++-|")


@dataclass(frozen=True, slots=True)
class Boundary:
    """Where a run began, as an offset from the session's start, and the short text beside its line."""

    offset_s: float
    text: str


def segments(series: Series) -> list[tuple[list[float], list[float]]]:
    """The stretches between gaps, each with its offsets and its values."""
    found: list[tuple[list[float], list[float]]] = []
    open_segment = False
    for offset_s, raw in zip(series.offsets_s, series.values, strict=True):
        value = finite(raw)
        if value is None:
            open_segment = False
            continue
        if not open_segment:
            found.append(([], []))
            open_segment = True
        found[-1][0].append(offset_s)
        found[-1][1].append(value)
    return found


def chart(
    series: Series, boundaries: Sequence[Boundary], width: int, height: int, glyphs: Glyphs
) -> list[Content]:
    """The chart's lines, `height` of them, each `width` cells wide.

    The y axis starts at 0; gaps in the series are gaps in the line; run starts are vertical lines.
    """
    parts = segments(series)
    if not parts:
        return [line(("No figures for this metric yet.", MUTED))]
    figure = _figure(width, height)
    begin_s, end_s = parts[0][0][0], max(parts[-1][0][-1], parts[0][0][0] + 1.0)
    high = nice_ceiling(_HEADROOM * max(max(values) for _, values in parts))
    for boundary in boundaries:
        if begin_s <= boundary.offset_s <= end_s:
            figure.line(boundary.offset_s, orientation="vertical")
            figure.draw(figure.text(boundary.offset_s, high, boundary.text))
    marker = "braille" if glyphs.name != "ascii" else "*"
    for offsets_s, values in parts:
        figure.draw(figure.signal(offsets_s, values, marker=marker).lines())
    count = max(2, min(_MOST_TICKS, width // _TICK_WIDTH))
    ticks = [begin_s + (end_s - begin_s) * index / (count - 1) for index in range(count)]
    figure.ruler("y").lim(0, high)
    figure.ruler("x").lim(begin_s, end_s).ticks(ticks, [duration(tick) for tick in ticks]).alignment(
        tick="dynamic"
    )
    rows = figure.build().string(colorless=True).rstrip("\n").split("\n")
    return [_styled(row, glyphs) for row in rows[:height]]


def _figure(width: int, height: int) -> plotext.figure:
    """The one figure of plotext, cleared, without colours and of a given size whatever the terminal's is."""
    plotext.terminal.limit(False, False)
    figure = plotext.figure
    figure.clear()
    figure.theme("colorless")
    figure.canvas("default")
    figure.plot_size(width, height)
    return figure


def _styled(row: str, glyphs: Glyphs) -> Content:
    """The curve in the figures' colour, axes and ticks muted."""
    if glyphs.name == "ascii":
        row = row.translate(_ASCII_FRAME)
    parts: list[tuple[str, str]] = []
    for character in row:
        curve = "\u2800" <= character <= "\u28ff" or (glyphs.name == "ascii" and character == "*")
        style = DRAWN if curve else MUTED
        if parts and parts[-1][1] == style:
            parts[-1] = (parts[-1][0] + character, style)
        else:
            parts.append((character, style))
    return line(*parts)
