"""Figures in a log line's text: what is no clean number is no figure."""

from __future__ import annotations

import math

#: Longer digits are not a figure of this world, and Python refuses to read them.
_MAX_DIGITS = 18


def to_int(text: str) -> int | None:
    """A whole number, or None if the text is none."""
    if text.isdecimal() and len(text) <= _MAX_DIGITS:
        return int(text)
    return -int(text[1:]) if text[:1] == "-" and text[1:].isdecimal() and len(text) <= _MAX_DIGITS else None


def to_float(text: str) -> float | None:
    """A finite number, or None: nan and inf are no measurement."""
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None
