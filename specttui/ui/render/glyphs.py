"""The characters that bars and sparklines are drawn with; every set is one cell wide per character."""

from __future__ import annotations

from dataclasses import dataclass

#: Braille dots of a cell's left and right column, from the lowest row up.
_BRAILLE_LEFT = (0x40, 0x04, 0x02, 0x01)
_BRAILLE_RIGHT = (0x80, 0x20, 0x10, 0x08)
_BRAILLE_BLANK = 0x2800


@dataclass(frozen=True, slots=True)
class Glyphs:
    """One set of drawing characters.

    `levels` are a sparkline cell's fill levels from the lowest up, empty for braille, which puts two
    columns of four dots into each cell. `eighths` are a bar's last cell from nearly empty to full.
    """

    name: str
    levels: str
    eighths: str
    track: str
    ellipsis: str

    @property
    def columns_per_cell(self) -> int:
        """How many samples one cell shows side by side."""
        return 1 if self.levels else 2

    @property
    def level_count(self) -> int:
        """Levels that one cell can tell apart."""
        return len(self.levels) or len(_BRAILLE_LEFT)

    def cell(self, left: int | None, right: int | None = None) -> str:
        """One sparkline cell.

        Args:
            left: Filled levels of its first column, 0 to `level_count`; None leaves it blank.
            right: The same of its second column, where the set has two.
        """
        if self.levels:
            return " " if not left else self.levels[left - 1]
        dots = sum(_BRAILLE_LEFT[: left or 0]) | sum(_BRAILLE_RIGHT[: right or 0])
        return chr(_BRAILLE_BLANK + dots) if dots else " "


BLOCKS = Glyphs("block", "▁▂▃▄▅▆▇█", "▏▎▍▌▋▊▉█", " ", "…")
BRAILLE = Glyphs("braille", "", "▏▎▍▌▋▊▉█", " ", "…")
ASCII = Glyphs("ascii", "_.-=+*%#", "#", " ", "~")

#: The sets by the name used in settings.
GLYPH_SETS = {glyphs.name: glyphs for glyphs in (BLOCKS, BRAILLE, ASCII)}
