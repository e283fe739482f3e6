"""Folds decode lines into server-wide figures: summed over DP groups, what is no measurement marked."""

from __future__ import annotations

from dataclasses import dataclass

from specttui.events import DecodeStats, MemoryPressure
from specttui.log.meaning.cycle import line_cycle_ms
from specttui.log.meaning.marks import LineMarker, Mark
from specttui.log.ranks import LoggingRanks, series_key, system_decode

#: A DP group silent for this long is no longer part of the server's throughput.
STALE_S = 30.0


@dataclass(frozen=True, slots=True)
class DecodeSample:
    """The server at one decode line: throughput and requests over all DP groups.

    `cycle_ms` is that of the line's own group: 1000 x running x accept length / throughput, which without
    speculation is the time per token and request. `mark` says whether the line counts in statistics.
    """

    offset_s: float
    server_tok_s: float | None
    accept_len: float | None
    running: int | None
    queue: int | None
    cycle_ms: float | None
    mark: Mark

    @property
    def steady(self) -> bool:
        """True when the line measures the configuration and nothing else."""
        return self.mark is Mark.STEADY


class DecodeFold:
    """Keeps the newest line of each DP group. TP and PP duplicates of a group never add up."""

    def __init__(self) -> None:
        self._marker = LineMarker()
        self._ranks = LoggingRanks()
        self._latest: dict[str, tuple[float, DecodeStats]] = {}

    def pressure(self, event: MemoryPressure) -> None:
        """Requests were retracted: the group's lines do not count until the KV pool has room again."""
        self._marker.pressure(event)

    def add(self, offset_s: float, line: DecodeStats) -> DecodeSample | None:
        """Take one decode line; None when another rank already speaks for its DP group."""
        if not self._ranks.counts(line.rank):
            return None
        mark = self._marker.mark(line)
        self._latest[series_key(line.rank)] = offset_s, line
        fresh = [line for seen_s, line in self._latest.values() if offset_s - seen_s <= STALE_S]
        whole = system_decode(fresh)
        return DecodeSample(
            offset_s=offset_s,
            server_tok_s=whole.throughput_tok_s if whole else None,
            accept_len=whole.accept_len if whole else None,
            running=whole.running if whole else line.running,
            queue=whole.queue if whole else line.queue,
            cycle_ms=line_cycle_ms(line),
            mark=mark,
        )
