"""Any metric over the whole session, with the runs' starts as vertical lines."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.screen import Screen

from specttui.session.api import HISTORY_METRICS, SessionApi
from specttui.state.snapshot import RunRow
from specttui.ui.render.chart import Boundary
from specttui.ui.render.glyphs import BLOCKS, Glyphs
from specttui.ui.render.text import HEADING, MUTED, STRONG, fit, harmless, line
from specttui.ui.widgets.chart_view import ChartView
from specttui.ui.widgets.panel_view import PanelView


class TimelineScreen(Screen[None]):
    """Left and right choose the metric; escape returns.

    Args:
        session: Where the metrics come from.
        glyphs: What to draw with.
    """

    AUTO_FOCUS = ""
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,t", "leave", "return", id="timeline_back"),
        Binding("left,shift+tab", "move(-1)", "previous metric", id="timeline_previous"),
        Binding("right,tab", "move(1)", "next metric", id="timeline_next"),
    ]

    def __init__(self, session: SessionApi, glyphs: Glyphs = BLOCKS) -> None:
        super().__init__()
        self._session = session
        self._glyphs = glyphs
        self._metrics = tuple(HISTORY_METRICS)
        self.metric_index = 0

    def compose(self) -> ComposeResult:
        """Title, chart, the runs, keys."""
        yield PanelView("timeline-title", framed=False)
        yield ChartView(self._glyphs, id="chart")
        yield PanelView("timeline-runs", framed=False)
        yield PanelView("timeline-keys", framed=False)

    def on_mount(self) -> None:
        """Draw once the size is known."""
        self.call_after_refresh(self.show)

    def on_resize(self) -> None:
        """Draw at the new size."""
        self.call_after_refresh(self.show)

    def action_leave(self) -> None:
        """Return to the main screen."""
        self.dismiss(None)

    def action_move(self, by: int) -> None:
        """Choose a neighbouring metric; goes round at the ends."""
        self.metric_index = (self.metric_index + by) % len(self._metrics)
        self.show()

    def show(self) -> None:
        """Draw the metric chosen as it is now."""
        metric = self._metrics[self.metric_index]
        runs = self._session.snapshot().runs
        place = f"{self.metric_index + 1} of {len(self._metrics)}"
        title = line(("TIMELINE  ", HEADING), (HISTORY_METRICS[metric], STRONG), (f"   {place}", MUTED))
        self.query_one("#timeline-title", PanelView).show_content(title)
        self.query_one(ChartView).show(self._session.history(metric), boundaries(runs))
        self.query_one("#timeline-runs", PanelView).show_content(run_legend(runs, self.size.width - 2))
        keys = line(
            ("left right", "bold $footer-key-foreground"), " metric  ",
            ("escape", "bold $footer-key-foreground"), " return  ",
            ("q", "bold $footer-key-foreground"), " quit",
        )  # fmt: skip
        self.query_one("#timeline-keys", PanelView).show_content(keys)


def boundaries(runs: tuple[RunRow, ...]) -> tuple[Boundary, ...]:
    """Where each run began."""
    return tuple(Boundary(run.started_s, str(run.run_id)) for run in runs)


def run_legend(runs: tuple[RunRow, ...], width: int) -> Content:
    """The runs in the order of their vertical lines."""
    if not runs:
        return line(("No runs yet.", MUTED))
    words = "  ".join(f"{run.run_id} {harmless(run.label)}" for run in runs)
    return fit(line(("| runs begin: ", MUTED), words), width)
