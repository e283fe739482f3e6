"""Accepted drafts per request, taken where the CPU has them without a synchronisation.

Synchronous workers return a list from verify or from the cycle; overlapped ones learn it one or two cycles
later, through `on_verify_complete_cpu` (SGLang 0.5.12 and newer) or from the result once it was copied.
"""

from __future__ import annotations

from collections import deque
from typing import Any, Deque, List, Optional, Tuple, Union

from specttui.probe.block.cycle import _SpecttuiCycle

# The list of accepted drafts per request, bonus excluded, under the names it has had.
_SPECTTUI_LISTS = (
    "num_correct_drafts_per_req_cpu",
    "num_accepted_drafts_per_req_cpu",
    "accept_length_per_req_cpu",
)
# Its sum over the batch, for results that have no list.
_SPECTTUI_TOTALS = ("num_correct_drafts", "num_accepted_drafts", "num_accepted_tokens")
# Oldest verify results (0.4.1 and 0.4.2) hold the bare list at this place.
_SPECTTUI_BARE_LIST = 4


class _SpecttuiUntimed:
    """Stands for a decode cycle that was not timed while its counts are on their way."""

    token = 0
    waiting = True
    copy: Any = None
    counts: Any = None

    def __init__(self, batch: int) -> None:
        self.batch = batch


class _SpecttuiAcceptance:
    """Joins accepted counts to the cycle they belong to.

    `routes` names the ways that exist for this worker: "verify", "result", "total", "callback", "copied".
    """

    def __init__(self, routes: Tuple[str, ...]) -> None:
        self.routes = routes
        self.waiting: Deque[Union[_SpecttuiCycle, _SpecttuiUntimed]] = deque(maxlen=8)
        self.place: Optional[int] = None

    def in_verify(self, result: Any) -> Optional[List[int]]:
        """The list inside what verify returned, None if it is not there (yet)."""
        if "verify" not in self.routes:
            return None
        if not isinstance(result, tuple):
            return _specttui_counts(result)
        place = self.place
        if place is None or len(result) <= place:
            place = self.place = _specttui_place(result)
        if place is None:
            return None
        item = result[place]
        return item if isinstance(item, list) else _specttui_counts(item)

    def expect(self, cycle: _SpecttuiCycle, result: Any) -> None:
        """A decode cycle without counts ended with this result: take them from it, or wait for them."""
        if "result" in self.routes:
            cycle.counts = _specttui_counts(result)
        if cycle.counts is None and "total" in self.routes:
            cycle.accepted = _specttui_total(result)
        elif cycle.counts is None and ("callback" in self.routes or "copied" in self.routes):
            cycle.waiting = True
            cycle.token = id(result)
            self.waiting.append(cycle)

    def pass_by(self, batch: int) -> None:
        """A decode cycle is not timed: its counts are not to be taken for those of the next one that is."""
        self.waiting.append(_SpecttuiUntimed(batch))

    def complete(self, counts: Any) -> None:
        """The scheduler names the counts of the oldest cycle of that size; idle batches have none."""
        for position, cycle in enumerate(self.waiting):
            if cycle.batch == len(counts):
                for _ in range(position + 1):
                    self.waiting.popleft().waiting = False
                cycle.counts = counts
                return

    def copied(self, result: Any) -> None:
        """The result of a waiting cycle is on its way to the CPU: keep only the small tensor."""
        for cycle in self.waiting:
            if cycle.token == id(result):
                cycle.copy = (result.accept_lens, result.copy_done)
                return

    def read_copy(self, cycle: _SpecttuiCycle) -> None:
        """Read a waiting cycle's counts if its copy has arrived; lengths include the bonus token."""
        lengths, done = cycle.copy
        if done is None or done.query():
            cycle.counts = [length - 1 for length in lengths.tolist()]
            cycle.waiting = False
            cycle.copy = None
            self.waiting.remove(cycle)

    def forget(self, cycle: _SpecttuiCycle) -> None:
        """The cycle is written without its counts: they came too late or never."""
        cycle.waiting = False
        cycle.copy = None
        if cycle in self.waiting:
            self.waiting.remove(cycle)


def _specttui_place(result: Tuple[Any, ...]) -> Optional[int]:
    """Where in verify's tuple the counts are."""
    for place, item in enumerate(result):
        if _specttui_counts(item) is not None:
            return place
    bare = len(result) > _SPECTTUI_BARE_LIST and isinstance(result[_SPECTTUI_BARE_LIST], list)
    return _SPECTTUI_BARE_LIST if bare else None


def _specttui_counts(holder: Any) -> Optional[List[int]]:
    """The list of accepted drafts per request of a result, under any of its names."""
    for name in _SPECTTUI_LISTS:
        counts = getattr(holder, name, None)
        if isinstance(counts, list):
            return counts
    return None


def _specttui_total(holder: Any) -> Optional[int]:
    """The batch's accepted drafts where only the sum exists."""
    for name in _SPECTTUI_TOTALS:
        total = getattr(holder, name, None)
        if isinstance(total, int):
            return total
    return None
