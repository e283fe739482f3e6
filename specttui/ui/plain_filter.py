"""The last door before the terminal: no text on the screen can act upon it, wherever it came from.

Textual draws the text of a widget as it is, escape characters included. What hosts say is cleaned where it is
read, but errors, questions and settings have many ways to the screen, and all of them pass here.
"""

from __future__ import annotations

import re

from rich.cells import cell_len
from rich.segment import Segment
from textual.color import Color
from textual.filter import LineFilter

#: C0 and C1 controls, separators, marks that reorder or hide text, lone surrogates.
_ACTING = re.compile("[\x00-\x1f\x7f-\x9f\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff]")


class PlainFilter(LineFilter):
    """Replaces every character that a terminal may act upon by as many blanks as it is wide: mostly none."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        """Make a line's texts plain; styles stay."""
        del background
        if all(segment.text.isprintable() for segment in segments):
            return segments
        return [Segment(harmless(text), style, control) for text, style, control in segments]


def harmless(text: str) -> str:
    """A text in which nothing acts upon a terminal, as wide as before."""
    return text if text.isprintable() else _ACTING.sub(_blank, text)


def _blank(found: re.Match[str]) -> str:
    return " " * cell_len(found[0])
