"""Figures as text: fixed decimals, units in the words around them, "-" for what is unknown."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from specttui.events import CYCLE_PHASES, PART_OF, Phase
from specttui.state.snapshot import Interval, RunRow

UNKNOWN = "-"
_BLOCKS = " ▏▎▍▌▋▊▉█"

#: Rows of a breakdown that add up to the cycle, in the order of the cycle.
WHOLE_PHASES = (*CYCLE_PHASES, Phase.KV, Phase.OTHER)

_PHASE_WORDS = {
    Phase.TARGET_FORWARD: "target fwd",
    Phase.DRAFT_EXTEND: "draft extend",
    Phase.PREFILL_TARGET: "prefill target",
    Phase.PREFILL_DRAFT: "prefill draft",
}


def phase_word(phase: Phase) -> str:
    """A phase in the words of the screen."""
    return _PHASE_WORDS.get(phase, phase.value)


def parts_of(phase: Phase) -> tuple[Phase, ...]:
    """The phases that lie inside this one."""
    return tuple(part for part, whole in PART_OF.items() if whole is phase)


def number(value: float | None, decimals: int) -> str:
    """A figure with fixed decimals."""
    return UNKNOWN if value is None else f"{value:.{decimals}f}"


def milliseconds(value: float | None) -> str:
    """A time in ms with three significant figures or so: 18.8, 0.35."""
    return number(value, 1 if value is not None and abs(value) >= 10 else 2)


def interval(value: Interval | None) -> str:
    """An estimate with half its interval's width: 88.8 ±0.4."""
    return UNKNOWN if value is None else f"{value.value:.1f} ±{value.half_width:.1f}"


def change(ratio: float | None, significant: bool | None) -> str:
    """A ratio minus 1 in percent with its sign; says when the intervals do not part."""
    if ratio is None:
        return UNKNOWN
    percent = f"{100 * ratio:+.1f} %"
    return f"{percent} (within noise)" if significant is False else percent


def elapsed(offset_s: float) -> str:
    """Seconds since the session's start as h:mm:ss."""
    seconds = int(offset_s)
    return f"{seconds // 3600}:{seconds // 60 % 60:02}:{seconds % 60:02}"


def utc(at: float) -> str:
    """A wall time as date and time in UTC."""
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def utc_time(at: float) -> str:
    """A wall time as time of day in UTC."""
    return datetime.fromtimestamp(at, UTC).strftime("%H:%M:%S")


def bar(share: float, width: int) -> str:
    """A bar of block characters, an eighth of a column exact, padded to `width`."""
    eighths = round(min(max(share, 0.0), 1.0) * width * 8)
    return ("█" * (eighths // 8) + _BLOCKS[eighths % 8].strip()).ljust(width)


def percents(shares: Sequence[float]) -> list[str]:
    """Shares of a whole as percentages with one decimal that add up to exactly 100.0.

    Each is rounded down to a tenth; the tenths left go to those that lost most (largest remainder).
    """
    total = sum(shares)
    if total <= 0:
        return [UNKNOWN] * len(shares)
    exact = [1000 * share / total for share in shares]
    tenths = [int(value) for value in exact]
    by_loss = sorted(range(len(exact)), key=lambda index: tenths[index] - exact[index])
    for index in by_loss[: 1000 - sum(tenths)]:
        tenths[index] += 1
    return [f"{value / 10:.1f}" for value in tenths]


def whole_shares(run: RunRow) -> dict[Phase, float]:
    """A run's shares that make up the cycle; what the phases leave is `other`."""
    shares = {phase: run.phase_share[phase] for phase in WHOLE_PHASES if phase in run.phase_share}
    if shares and Phase.OTHER not in shares:
        shares[Phase.OTHER] = round(max(0.0, 1.0 - sum(shares.values())), 9)
    return shares
