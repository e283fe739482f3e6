"""The widget behind every panel: shows lines, and repaints only when they changed."""

from __future__ import annotations

from textual.content import Content
from textual.widgets import Static

from specttui.ui.render.panel import Panel, Space

_EMPTY = Content("")


class PanelView(Static):
    """Draws a `Panel`, or any content, as plain text. Its size is set by the screen, never by its text.

    Args:
        id: The widget's id.
        framed: True where a frame is drawn around it when the layout has frames.
    """

    def __init__(self, id: str, *, framed: bool = True) -> None:  # noqa: A002 (Textual's own word)
        super().__init__("", id=id, classes="panel" if framed else "bare", markup=False)
        self.shown = _EMPTY
        self.repaints = 0
        self._heading = _EMPTY
        self._placed: tuple[int | None, int] = (None, -1)

    def show_panel(self, panel: Panel, space: Space) -> None:
        """Show a panel; with a frame, its heading lies in the border."""
        heading = panel.heading if space.framed else _EMPTY
        if not heading.is_same(self._heading):
            self._heading = heading
            self.border_title = heading
        self.show_content(panel.fill(space))

    def show_content(self, content: Content) -> None:
        """Show lines of text; nothing is painted when they are what is shown already."""
        if content.is_same(self.shown):
            return
        self.shown = content
        self.repaints += 1
        self.update(content, layout=False)

    def place(self, width: int | None, height: int) -> None:
        """Take a size in cells, frame included; None leaves the width to the style sheet. 0 rows hide it."""
        if (width, height) == self._placed:
            return
        self._placed = (width, height)
        self.display = height > 0
        self.styles.height = max(1, height)
        if width is not None:
            self.styles.width = width
