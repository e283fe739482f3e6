"""The fold over the cycles of one host's ranks: how long each took when the probe spoke last."""

from __future__ import annotations

from collections import deque

from specttui.analysis.stats import known, median
from specttui.events import Event, ProbeCycles, ProbeSummary, ServerStarting

#: Newest cycles of a rank that its median is taken over, as on the screen.
_WINDOW_CYCLES = 512


class RankCycles:
    """Cycle times by rank, of the last server that the probe timed."""

    def __init__(self) -> None:
        self._cycles: dict[str, deque[float | None]] = {}
        self._summaries: dict[str, float] = {}
        self._ended = False

    def apply(self, event: Event) -> None:
        """Take the host's next event; kinds that carry no cycles pass by."""
        if isinstance(event, ServerStarting):
            self._ended = True
        elif isinstance(event, ProbeCycles):
            self._begin()
            self._cycles.setdefault(event.rank, deque(maxlen=_WINDOW_CYCLES)).extend(event.cycle_ms)
        elif isinstance(event, ProbeSummary) and event.median_cycle_ms is not None:
            self._begin()
            self._summaries[event.rank] = event.median_cycle_ms

    def slowest(self) -> tuple[str, float] | None:
        """The rank with the largest median cycle, and that in ms; None where none was timed."""
        medians = dict(self._summaries)
        for rank, cycles in self._cycles.items():
            if times := known(cycles):
                medians[rank] = median(times)
        return max(medians.items(), key=lambda item: item[1], default=None)

    def _begin(self) -> None:
        """Another server's cycles replace those of the one before, not before there are any."""
        if self._ended:
            self._cycles, self._summaries, self._ended = {}, {}, False
