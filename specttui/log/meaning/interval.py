"""The log interval, and lines that are missing, from token counts alone (CASES.md A20)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise

from specttui.events import DecodeStats

#: SGLang's default of --decode-log-interval.
DEFAULT_INTERVAL = 40
#: How far from a whole multiple a count may be: accept length is printed with two decimals.
_TOLERANCE = 0.1


def cycles_between(before: DecodeStats, after: DecodeStats) -> float | None:
    """Decode cycles between two lines of one rank: new tokens / (running x accept length).

    Returns:
        The count; None when requests came or went in between, so that tokens do not tell.
    """
    if before.tokens is None or after.tokens is None or not after.running:
        return None
    gained = after.tokens - before.tokens
    if before.running != after.running or gained <= 0 or before.tokens <= 0:
        return None
    return gained / (after.running * (after.accept_len or 1.0))


def log_interval(lines: Sequence[DecodeStats]) -> int | None:
    """The server's decode-log-interval in cycles, from consecutive lines of one rank.

    Returns:
        The count that most pairs of lines agree on, None where none do.
    """
    return agreed_interval(_gaps(lines))


def agreed_interval(gaps: Iterable[float]) -> int | None:
    """The log interval that most of these counts of cycles between two lines agree on, None where none do."""
    counts = Counter(round(cycles) for cycles in gaps if cycles >= 1.0)
    if not counts:
        return None
    near = {count: sum(counts[count + step] for step in (-1, 0, 1)) for count in counts}
    best = max(near, key=lambda count: (near[count], counts[count], -count))
    return best if near[best] >= 2 or len(counts) == 1 else None


def missing_lines(lines: Sequence[DecodeStats], interval: int = DEFAULT_INTERVAL) -> int:
    """How many decode lines were lost between these, at an interval of so many cycles."""
    return sum(lost_between(cycles, interval) for cycles in _gaps(lines))


def lost_between(cycles: float, interval: int) -> int:
    """How many lines should have come within so many cycles; 0 where the count is no whole multiple."""
    times = cycles / interval
    whole = round(times)
    return whole - 1 if whole >= 2 and abs(times - whole) <= _TOLERANCE * whole else 0


def _gaps(lines: Iterable[DecodeStats]) -> list[float]:
    gaps = (cycles_between(before, after) for before, after in pairwise(lines))
    return [cycles for cycles in gaps if cycles is not None]
