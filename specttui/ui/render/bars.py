"""Horizontal bars with an eighth of a cell's precision."""

from __future__ import annotations

from specttui.ui.render.figures import finite
from specttui.ui.render.glyphs import Glyphs


def bar(share: float | None, width: int, glyphs: Glyphs) -> str:
    """A bar of a share of 0 to 1, padded to `width`.

    A share above zero always shows something; an unknown share shows nothing.
    """
    known = finite(share)
    if known is None or known <= 0 or width <= 0:
        return glyphs.track * max(0, width)
    parts_per_cell = len(glyphs.eighths)
    parts = max(1, min(width * parts_per_cell, round(known * width * parts_per_cell)))
    full, rest = divmod(parts, parts_per_cell)
    text = glyphs.eighths[-1] * full + (glyphs.eighths[rest - 1] if rest else "")
    return text + glyphs.track * (width - len(text))
