"""Big figures, three rows high, for screens with room to spare."""

from __future__ import annotations

#: Rows of each character, drawn with box lines; anything else is left out.
_FONT: dict[str, tuple[str, str, str]] = {
    "0": ("╭─╮", "│ │", "╰─╯"),
    "1": ("╶╮ ", " │ ", "╶┴╴"),
    "2": ("╶─╮", "┌─┘", "╰─╴"),
    "3": ("╶─╮", " ─┤", "╶─╯"),
    "4": ("╷ ╷", "╰─┤", "  ╵"),
    "5": ("┌─╴", "╰─╮", "╶─╯"),
    "6": ("╭─╴", "├─╮", "╰─╯"),
    "7": ("╶─┐", "  │", "  ╵"),
    "8": ("╭─╮", "├─┤", "╰─╯"),
    "9": ("╭─╮", "╰─┤", "╶─╯"),
    ".": (" ", " ", "."),
    "-": ("   ", "╶─╴", "   "),
}


def big(text: str) -> tuple[str, str, str]:
    """A figure as three rows of equal width."""
    shapes = [_FONT[character] for character in text if character in _FONT]
    top, middle, bottom = ("".join(shape[row] for shape in shapes) for row in range(3))
    return top, middle, bottom
