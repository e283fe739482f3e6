"""What a panel is before it meets a widget: a title, a caption and lines."""

from __future__ import annotations

from dataclasses import dataclass

from textual.content import Content

from specttui.ui.render.glyphs import BLOCKS, Glyphs
from specttui.ui.render.text import HEADING, MUTED, joined, line, spread


@dataclass(frozen=True, slots=True)
class Space:
    """The room a panel may fill: cells inside its frame, and the frame itself.

    With a frame, title and caption lie in the border; without one, they take the first of the rows.
    """

    width: int
    rows: int
    framed: bool = False
    glyphs: Glyphs = BLOCKS

    @property
    def body_rows(self) -> int:
        """Rows left for lines."""
        return self.rows if self.framed else max(0, self.rows - 1)


@dataclass(frozen=True, slots=True)
class Panel:
    """A panel's text. `columns` heads the columns of a table: beside the title where there is no frame.

    Without a title, a panel has no heading line either.
    """

    title: str
    caption: str
    lines: tuple[Content, ...]
    columns: Content | None = None

    @property
    def heading(self) -> Content:
        """Title and caption on one line."""
        return (
            line((self.title, HEADING), "  ", (self.caption, MUTED))
            if self.caption
            else line((self.title, HEADING))
        )

    def fill(self, space: Space) -> Content:
        """All lines for the widget, no more than there is room for."""
        if space.framed:
            body = ((self.columns,) if self.columns else ()) + self.lines
            return joined(body[: space.rows])
        if not self.title:
            return joined(self.lines[: space.rows])
        head = spread(self.heading, self.columns, space.width) if self.columns else self.heading
        return joined((head, *self.lines)[: space.rows])
