"""The same failure told by every rank in turn, as one event."""

from __future__ import annotations

from specttui.events import FailureSeen
from specttui.log.diagnosis import MAX_LINES
from specttui.log.failure_rules import Rule

#: After so many other lines no further rank is waited for.
_PATIENCE = 400


class RankChorus:
    """Collects one kind of failure over ranks (watchdogs, timeouts of collectives)."""

    __slots__ = ("_first", "_lines", "_patience", "_ranks", "rule")

    def __init__(self, rule: Rule, first: FailureSeen) -> None:
        self.rule = rule
        self._first = first
        self._lines = list(first.lines)
        self._ranks = {first.rank}
        self._patience = _PATIENCE

    def joins(self, failure: FailureSeen) -> bool:
        """True if the failure is of this kind."""
        return failure.category == self._first.category

    def add(self, failure: FailureSeen) -> None:
        """Another rank says it too."""
        self._ranks.add(failure.rank)
        if len(self._lines) < MAX_LINES:
            self._lines += failure.lines

    def tired(self) -> bool:
        """Count a line that passed; True when the ranks had their say."""
        self._patience -= 1
        return self._patience < 0

    def failure(self) -> FailureSeen:
        """The one event: the first rank's, with all ranks in its details."""
        ranks = sorted(rank for rank in self._ranks if rank)
        details = self._first.details | {"ranks": str(len(self._ranks)), "rank_labels": ", ".join(ranks)}
        if self._first.rank.startswith("rank"):
            details["rank"] = self._first.rank.removeprefix("rank")
        return self._first.model_copy(update={"lines": tuple(self._lines), "details": details})
