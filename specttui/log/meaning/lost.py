"""Notices decode lines that were lost on the way, as lines come (CASES.md A20, E04)."""

from __future__ import annotations

from specttui.events import DecodeStats, PrefillStats
from specttui.log.meaning.cycle import line_cycle_ms
from specttui.log.meaning.interval import agreed_interval, cycles_between, lost_between
from specttui.log.ranks import series_key
from specttui.log.stamps import stamp_seconds

#: So many pairs of lines are looked at before they are taken to agree on the log interval.
LEARNING_PAIRS = 8
#: Stamps have whole seconds, and a line is printed a moment after its last cycle.
_STAMP_SLACK_S = 1.5
_TIME_TOLERANCE = 0.25


class LostLines:
    """Counts lost lines, one DP group apart from another.

    The tokens that came between two lines say how many cycles passed. Where a request began in between
    they include its prompt, so that pair says nothing; and the time between the lines' stamps must fit the
    cycles, else the tokens changed for another reason.

    Args:
        interval: The server's decode-log-interval; learnt from the lines where it is not known.
    """

    def __init__(self, interval: int | None = None) -> None:
        self.interval = interval
        self._before: dict[str, DecodeStats] = {}
        self._gaps: list[float] = []

    def prefill(self, event: PrefillStats) -> None:
        """A request began in the event's group."""
        self._before.pop(series_key(event.rank), None)

    def line(self, key: str, line: DecodeStats) -> int:
        """Take the next line of a group.

        Args:
            key: The group, as `series_key` names it.
            line: A line of the rank that speaks for it.

        Returns:
            How many lines are missing right before this one.
        """
        before, self._before[key] = self._before.get(key), line
        cycles = cycles_between(before, line) if before is not None else None
        if before is None or cycles is None:
            return 0
        if self.interval is None:
            return self._learn(cycles)
        if cycles < 1.5 * self.interval:
            return 0
        return lost_between(cycles, self.interval) if _fits_the_time(before, line, cycles) else 0

    def _learn(self, cycles: float) -> int:
        self._gaps.append(cycles)
        if len(self._gaps) >= LEARNING_PAIRS:
            self.interval = agreed_interval(self._gaps)
            self._gaps = self._gaps[LEARNING_PAIRS // 2 :] if self.interval is None else []
        return 0


def _fits_the_time(before: DecodeStats, line: DecodeStats, cycles: float) -> bool:
    cycle_ms = line_cycle_ms(line)
    began_s, ended_s = stamp_seconds(before.stamp), stamp_seconds(line.stamp)
    if cycle_ms is None or began_s is None or ended_s is None:
        return True
    expected_s = cycles * cycle_ms / 1000.0
    return abs(ended_s - began_s - expected_s) <= _STAMP_SLACK_S + _TIME_TOLERANCE * expected_s
