"""Which run is the fastest, and whether the figures allow to say so."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from specttui.state.snapshot import Interval, RunRow

#: Runs whose mean batch sizes differ by more than this factor carry different loads.
BATCH_FACTOR = 1.25


@dataclass(frozen=True, slots=True)
class Ranking:
    """The leading runs by server throughput, fastest first.

    More than one leader is a tie: their intervals overlap the fastest one's. `comparable` is False when
    the measured runs served at different batch sizes: then throughput alone ranks nothing.
    """

    leaders: tuple[RunRow, ...]
    measured: int
    comparable: bool = True


def rank(runs: Sequence[RunRow]) -> Ranking:
    """Rank runs by server throughput; runs without figures or still warming up do not count.

    Args:
        runs: All runs of a session.
    """
    measured = [run for run in runs if run.throughput_tok_s is not None and not run.warming_up]
    measured.sort(key=lambda run: -_interval(run).value)
    if not measured:
        return Ranking((), 0)
    fastest = _interval(measured[0])
    leaders = tuple(run for run in measured if _interval(run).high >= fastest.low)
    batches = [run.batch for run in measured if run.batch]
    comparable = not batches or max(batches) <= BATCH_FACTOR * min(batches)
    return Ranking(leaders, len(measured), comparable)


def _interval(run: RunRow) -> Interval:
    return run.throughput_tok_s or Interval(0.0, 0.0, 0.0)
