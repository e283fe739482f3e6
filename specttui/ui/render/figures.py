"""Figures as text: one place decides digits, signs and what an unknown looks like.

Units stand in the headings beside the figures, except where a figure stands alone.
"""

from __future__ import annotations

import math

from specttui.state.snapshot import Interval

#: How an unknown value looks; never a zero.
MISSING = "-"


def finite(value: float | None) -> float | None:
    """The value, or None for what cannot be drawn: None, NaN and the infinities."""
    return value if value is not None and math.isfinite(value) else None


def decimals(value: float | None, digits: int) -> str:
    """A figure with a fixed number of decimals, or `MISSING`."""
    known = finite(value)
    return MISSING if known is None else f"{known:.{digits}f}"


def tokens_per_second(value: float | None) -> str:
    """Throughput: one decimal below 1000, none above."""
    known = finite(value)
    return decimals(known, 1 if known is None or abs(known) < 1000 else 0)


def milliseconds(value: float | None) -> str:
    """A time in ms: two decimals below 100, one above."""
    known = finite(value)
    return decimals(known, 2 if known is None or abs(known) < 100 else 1)


def accept_length(value: float | None) -> str:
    """Tokens per cycle and request, bonus token included."""
    return decimals(value, 2)


def percent(share: float | None) -> str:
    """A share of 0 to 1 as "96.7 %"."""
    known = finite(share)
    return MISSING if known is None else f"{100 * known:.1f} %"


def change(ratio: float | None) -> str:
    """A ratio minus 1 as "+6.0 %"; the sign is always there."""
    known = finite(ratio)
    return MISSING if known is None else f"{100 * known:+.1f} %"


def interval(estimate: Interval | None) -> str:
    """An estimate with half of its interval's width, "88.8 ±0.4"."""
    if estimate is None or finite(estimate.value) is None:
        return MISSING
    half_width = finite(estimate.half_width)
    value = tokens_per_second(estimate.value)
    return value if half_width is None else f"{value} ±{tokens_per_second(half_width)}"


def duration(seconds: float | None) -> str:
    """A time span in the two largest units that matter: "9 s", "2 min 05 s", "1 h 02 min"."""
    known = finite(seconds)
    if known is None:
        return MISSING
    whole = max(0, round(known))
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"


def window(seconds: float) -> str:
    """The length of a window as its caption names it: "60 s", above two minutes like a duration."""
    return f"{seconds:.0f} s" if seconds <= 120 else duration(seconds)


def gibibytes(mebibytes: float) -> str:
    """A memory size given in MiB, as GiB without decimals."""
    return f"{mebibytes / 1024:.0f}"


def nice_ceiling(value: float | None) -> float:
    """The smallest of 1, 1.2, 1.5, 2, 3, 4, 5, 6, 8 times a power of ten that is not below `value`.

    Scales move in these steps, so that a sparkline does not rescale with every sample.
    """
    known = finite(value)
    if known is None or known <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(known))
    for step in (1.0, 1.2, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0):
        if known <= step * power * (1 + 1e-9):
            return step * power
    return 10.0 * power


def scale(low: float, high: float) -> str:
    """A scale's ends as "0-120"."""
    return f"{low:g}-{high:g}"
