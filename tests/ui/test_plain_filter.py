"""Characters that act upon a terminal become blanks, and the line stays as wide."""

from __future__ import annotations

import unicodedata

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.color import Color

from specttui.ui.plain_filter import PlainFilter, harmless

BLACK = Color(0, 0, 0)


@given(st.text(st.characters()))
def test_any_text_is_plain_and_as_wide_as_before(text: str) -> None:
    made = harmless(text)
    assert not [character for character in made if unicodedata.category(character) in {"Cc", "Cs"}]
    assert cell_len(made) == cell_len(text)


def test_plain_lines_are_left_alone() -> None:
    segments = [Segment("▇ é 漢", Style(bold=True)), Segment(" ")]
    assert PlainFilter().apply(segments, BLACK) is segments


def test_styles_stay() -> None:
    bold = Style(bold=True)
    made = PlainFilter().apply([Segment("a\x1b[2J\x9b\u202eb", bold)], BLACK)
    assert made == [Segment("a[2Jb", bold)]
