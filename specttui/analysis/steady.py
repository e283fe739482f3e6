"""Which part of a run is steady: warm-up and idle gaps are cut off by rule, never by eye.

The rule for warm-up: slide a window over the first half; everything up to the last window whose median is
further than a tolerance from the median of the second half is warm-up. So never more than half is dropped,
and one slow value (a pause of the host) drops nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from specttui.analysis.stats import median

#: How far a window's median may be from the later median: above the few percent by which servers swing.
TOLERANCE = 0.05
#: A server's first cycles compile kernels and fill caches (1065 ms before cycles of 7 ms were seen,
#: docs/gpu.md); they never count where at least as many follow.
FIRST_CYCLES = 32
#: A gap this many times the usual one between two log lines means that the server was idle.
_IDLE_FACTOR = 3.0


def steady_start(values: Sequence[float], *, tolerance: float = TOLERANCE, window: int | None = None) -> int:
    """The index of the first value that belongs to the steady part.

    Args:
        values: A figure over time, for instance cycle times or throughput lines.
        tolerance: The largest relative distance of a window's median from the later median.
        window: Values per window; by default a twentieth of all, at least 5.

    Returns:
        0 to half of the count; 0 for fewer than two windows, where nothing can be told.
    """
    width = window or max(5, len(values) // 20)
    half = len(values) // 2
    if half < width:
        return 0
    later = median(values[half:])
    for start in range(half - width, -1, -1):
        if abs(median(values[start : start + width]) - later) > tolerance * abs(later):
            return min(half, start + width // 2 + 1)
    return 0


def steady(
    values: Sequence[float], *, tolerance: float = TOLERANCE, window: int | None = None
) -> list[float]:
    """The values without their warm-up; see `steady_start`."""
    return list(values[steady_start(values, tolerance=tolerance, window=window) :])


def busy_lines(offsets_s: Sequence[float], throughput_tok_s: Sequence[float]) -> list[int]:
    """Which throughput lines of a log measure a busy server: the first after an idle gap does not.

    A line's throughput is tokens since the last line over the time since then, so the line after a gap
    includes the gap: it comes late and says little. The first line of all is dropped when it says little.

    Args:
        offsets_s: When each line came, in seconds, ascending.
        throughput_tok_s: What each line says; not positive means that it says nothing.

    Returns:
        Indices of the lines to keep, ascending.
    """
    telling = [index for index, value in enumerate(throughput_tok_s) if value > 0]
    if len(telling) < 2:
        return telling
    little = median([throughput_tok_s[index] for index in telling]) / 2
    gaps = [later - earlier for earlier, later in pairwise(offsets_s)]
    long_gap = _IDLE_FACTOR * median(gaps)
    late = {0, *(index + 1 for index, gap in enumerate(gaps) if gap > long_gap)}
    return [index for index in telling if index not in late or throughput_tok_s[index] >= little]
