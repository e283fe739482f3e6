"""Lines of text: styles by meaning, cutting to a width, and remote text made harmless.

Nothing here ever parses markup: remote text goes in as plain text and comes out as it was.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from rich.cells import cell_len, set_cell_size
from textual.content import Content

from specttui.ui.render.glyphs import Glyphs

#: Styles by meaning, as theme variables only.
HEADING = "bold $text-accent"
MUTED = "$foreground-muted"
STRONG = "bold $foreground"
GOOD = "bold $text-success"
WARN = "bold $text-warning"
BAD = "bold $text-error"
FIGURE = "bold $text-primary"
DRAWN = "$primary"

#: One part of a line: plain text, or text with a style.
Part = str | tuple[str, str] | Content

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")


def harmless(text: str) -> str:
    """Remote text on one line: control characters, line breaks and tabs become spaces."""
    return _CONTROL.sub(" ", text)


def line(*parts: Part) -> Content:
    """One line from its parts; text is never parsed as markup."""
    return Content.assemble(*parts)


def cut(text: str, width: int, glyphs: Glyphs) -> str:
    """Text in at most `width` cells; what is cut off is shown by an ellipsis."""
    if cell_len(text) <= width:
        return text
    return "" if width <= 0 else set_cell_size(text, width - 1) + glyphs.ellipsis


def cut_middle(text: str, width: int, glyphs: Glyphs) -> str:
    """Like `cut`, but keeps both ends: of a path, the end says the most."""
    if cell_len(text) <= width:
        return text
    if width < 5:
        return cut(text, width, glyphs)
    head = (width - 1) // 3
    tail = text
    while cell_len(tail) > width - 1 - head:
        tail = tail[1:]
    return set_cell_size(text, head) + glyphs.ellipsis + tail


def left(text: str, width: int, glyphs: Glyphs) -> str:
    """Text cut and padded to exactly `width` cells, to the left."""
    return set_cell_size(cut(text, width, glyphs), width)


def right(text: str, width: int, glyphs: Glyphs) -> str:
    """Text cut and padded to exactly `width` cells, to the right."""
    short = cut(text, width, glyphs)
    return " " * (width - cell_len(short)) + short


def fit(content: Content, width: int, *, ellipsis: bool = True) -> Content:
    """A line cut to `width` cells; styles stay."""
    return content if content.cell_length <= width else content.truncate(width, ellipsis=ellipsis)


def spread(start: Content, end: Content, width: int) -> Content:
    """Two parts at a line's two ends; the first is cut where both do not fit."""
    room = width - end.cell_length - 1
    if room <= 0:
        return fit(end, width)
    head = fit(start, room)
    return Content.assemble(head, " " * (width - head.cell_length - end.cell_length), end)


def wrap(text: str, width: int) -> list[str]:
    """Words of a text on lines of at most `width` cells; longer words are broken."""
    lines: list[str] = []
    current = ""
    for word in text.split(" "):
        joined = f"{current} {word}" if current else word
        if cell_len(joined) <= width:
            current = joined
            continue
        if current:
            lines.append(current)
        current = word
        while cell_len(current) > width > 0:
            lines.append(current[:width])
            current = current[width:]
    return [*lines, current] if current or not lines else lines


def joined(lines: Iterable[Content]) -> Content:
    """Lines as one content, for a widget."""
    return Content("\n").join(lines)
