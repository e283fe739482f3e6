"""Folds decode lines into server-wide figures: summed over DP groups, what is no measurement marked."""

from __future__ import annotations

from typing import NamedTuple

from specttui.events import DecodeStats, MemoryPressure, PrefillStats
from specttui.log.meaning.cycle import line_cycle_ms
from specttui.log.meaning.interval import DEFAULT_INTERVAL
from specttui.log.meaning.lost import LostLines
from specttui.log.meaning.marks import LineMarker, Mark
from specttui.log.ranks import LoggingRanks, series_key, system_decode
from specttui.state.history import History

#: A DP group that is silent for several times as long as another group takes for a line is no longer part of
#: the server's throughput; seconds between which that limit lies.
STALE_S = (5.0, 30.0)
_STALE_GAPS = 3.0
#: Points kept of each group's throughput.
_GROUP_POINTS = 512
#: What makes a moment no measurement when any group's newest line is it; the weightiest first.
_WEIGHT = (Mark.KV_PRESSURE, Mark.AFTER_IDLE, Mark.STEPS_CHANGED, Mark.BATCH_CHANGED)


class DecodeSample(NamedTuple):
    """The server at one decode line: throughput and requests over all DP groups.

    `cycle_ms` is that of the line's own group: 1000 x running x accept length / throughput, which without
    speculation is the time per token and request. `mark` says whether the line counts in statistics: it
    does only where no group's newest line is anything else than steady. `lost` lines are missing right
    before this one.
    """

    offset_s: float
    server_tok_s: float | None
    accept_len: float | None
    running: int | None
    queue: int | None
    cycle_ms: float | None
    mark: Mark
    lost: int = 0

    @property
    def steady(self) -> bool:
        """True when the line measures the configuration and nothing else."""
        return self.mark is Mark.STEADY

    @property
    def measured(self) -> bool:
        """True when the line's throughput is that of a busy server, also at a changing number of requests."""
        return self.mark is Mark.STEADY or self.mark is Mark.BATCH_CHANGED


class Group:
    """One data-parallel group: its newest line, and its throughput over time where there are several."""

    __slots__ = ("history", "line", "mark", "seen_s")

    def __init__(self, line: DecodeStats) -> None:
        self.line = line
        self.mark = Mark.STEADY
        self.seen_s = -STALE_S[1]  # a group's first line tells nothing of how long its lines take
        self.history = History(_GROUP_POINTS)


class DecodeFold:
    """Keeps the newest line of each DP group. TP and PP duplicates of a group never add up.

    Args:
        interval: The server's decode-log-interval where it is known.

    Attributes:
        groups: The groups by key ("DP0"; "" for a server without data parallelism).
    """

    def __init__(self, interval: int | None = None) -> None:
        self._marker = LineMarker(interval or DEFAULT_INTERVAL)
        self._lost = LostLines(interval)
        self._ranks = LoggingRanks()
        self.groups: dict[str, Group] = {}

    @property
    def interval(self) -> int:
        """Decode cycles between two lines: as given, as learnt, else SGLang's default."""
        return self._lost.interval or DEFAULT_INTERVAL

    def pressure(self, event: MemoryPressure) -> None:
        """Requests were retracted: the group's lines do not count until the KV pool has room again."""
        self._marker.pressure(event)

    def prefill(self, event: PrefillStats) -> None:
        """A request began: the tokens of its prompt are no progress, and the group may have been idle."""
        self._marker.prefill(event)
        self._lost.prefill(event)

    def switch(self) -> None:
        """Adaptive speculation took other steps: the next line covers both."""
        self._marker.switch()

    def add(self, offset_s: float, line: DecodeStats) -> DecodeSample | None:
        """Take one decode line; None when another rank already speaks for its DP group."""
        if not self._ranks.counts(line.rank):
            return None
        key = series_key(line.rank)
        mark = self._marker.mark(line)
        lost = self._lost.line(key, line)
        self._marker.interval = self.interval
        group = self.groups.get(key)
        if group is None:
            group = self.groups[key] = Group(line)
        gap_s = offset_s - group.seen_s
        group.line, group.mark, group.seen_s = line, mark, offset_s
        if len(self.groups) == 1:
            return DecodeSample(
                offset_s, line.throughput_tok_s, line.accept_len, line.running, line.queue,
                line_cycle_ms(line), mark, lost,
            )  # fmt: skip
        group.history.add(offset_s, line.throughput_tok_s if mark in _MEASURED else None)
        return self._whole(group, gap_s, lost)

    def fresh(self, now_s: float, gap_s: float = 0.0) -> list[Group]:
        """The groups that still decode, where one of them takes `gap_s` seconds for a line."""
        least_s, most_s = STALE_S
        limit_s = min(most_s, max(least_s, _STALE_GAPS * gap_s))
        return [group for group in self.groups.values() if now_s - group.seen_s <= limit_s]

    def _whole(self, newest: Group, gap_s: float, lost: int) -> DecodeSample:
        line, offset_s = newest.line, newest.seen_s
        fresh = self.fresh(offset_s, gap_s)
        marks = {group.mark for group in fresh}
        worst = next((mark for mark in _WEIGHT if mark in marks), Mark.STEADY)
        whole = system_decode(group.line for group in fresh)
        return DecodeSample(
            offset_s=offset_s,
            server_tok_s=whole.throughput_tok_s if whole else None,
            accept_len=whole.accept_len if whole else None,
            running=whole.running if whole else line.running,
            queue=whole.queue if whole else line.queue,
            cycle_ms=line_cycle_ms(line),
            mark=Mark.EMPTY if newest.mark is Mark.EMPTY else worst,
            lost=lost,
        )


_MEASURED = (Mark.STEADY, Mark.BATCH_CHANGED)
