"""Lines that lost the newline between them: a bar glued to another rank's line, two prints at once."""

from __future__ import annotations

import re

_SEAM = re.compile(r"\[(?:\d{4}-\d\d-\d\d \d\d:\d\d:\d\d[ \].,]|specttui\] \{)")
_BAR_END = re.compile(r"(?:it/s|s/it|\?it/s)(?:, [^\]\[]{0,100})?\] *$")
#: Only this far back from a seam is looked at for the end of a bar.
_LOOK_BACK = 160


def unglue(text: str) -> list[str]:
    """Split a line at each place where another line begins in its midst.

    A stamp begins a line of its own only after a progress bar or directly after other text; behind a
    collector's prefix, a colon, a quote or a bracket it belongs to the line. Our probe's lines always
    begin one, except behind a prefix.

    Args:
        text: One cleaned line.

    Returns:
        The lines in it, in order; mostly just the line.
    """
    if text.find("[2", 1) < 0 and text.find("[specttui] {", 1) < 0:
        return [text]
    pieces, start = [], 0
    for seam in _SEAM.finditer(text, 1):
        before = text[max(start, seam.start() - _LOOK_BACK) : seam.start()]
        if _ends_a_line(before):
            pieces.append(text[start : seam.start()])
            start = seam.start()
    pieces.append(text[start:])
    return pieces


def _ends_a_line(before: str) -> bool:
    if not before:
        return False
    return bool(_BAR_END.search(before)) or not (before[-1].isspace() or before[-1] in "|:=,'\"([{<")
