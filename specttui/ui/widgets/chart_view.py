"""The timeline's chart: drawn again only when the data or the size changed."""

from __future__ import annotations

from textual.content import Content
from textual.widgets import Static

from specttui.state.snapshot import Series
from specttui.ui.render.chart import Boundary, chart
from specttui.ui.render.glyphs import BLOCKS, Glyphs
from specttui.ui.render.text import joined


class ChartView(Static):
    """Shows one series with run boundaries, as large as the widget is."""

    def __init__(self, glyphs: Glyphs = BLOCKS, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__("", id=id, markup=False)
        self.glyphs = glyphs
        self.redraws = 0
        self._drawn: object = None
        self.shown = Content("")

    def show(self, series: Series, boundaries: tuple[Boundary, ...]) -> None:
        """Draw a series; does nothing when it is what is drawn already, at this size."""
        width, height = self.content_size
        wanted = (series, boundaries, width, height)
        if wanted == self._drawn or width < 20 or height < 5:
            return
        self._drawn = wanted
        self.redraws += 1
        self.shown = joined(chart(series, boundaries, width, height, self.glyphs))
        self.update(self.shown, layout=False)
