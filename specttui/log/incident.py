"""Which failures of one server's life are causes and which are only their echo."""

from __future__ import annotations

from specttui.events import FailureSeen

#: Failures that other ranks report because one rank died of something else.
_ECHOES = frozenset({"nccl", "peer_lost", "collective_timeout", "watchdog", "health_check"})
#: Failures that tell no cause: any cause found later still counts.
_NO_CAUSE = frozenset({"sigquit", "killed", "subprocess_crashed", "scheduler_dead"})


class Incident:
    """The failure a server is dying of."""

    __slots__ = ("_category", "_ranks", "stopping")

    def __init__(self) -> None:
        self._category = ""
        self._ranks: set[str] = set()
        self.stopping = False

    def admits(self, failure: FailureSeen, *, consequence: bool) -> bool:
        """Whether the failure is news.

        Args:
            failure: A diagnosed failure.
            consequence: Whether its kind follows from earlier failures where there are any.

        Returns:
            False for what follows from a failure already told, and for another rank's copy of it.
        """
        if not failure.fatal:
            return not (self._category and failure.category in _ECHOES)
        if self._is_echo(failure, consequence=consequence):
            return False
        self._category = failure.category
        self._ranks = {failure.rank}
        return True

    def _is_echo(self, failure: FailureSeen, *, consequence: bool) -> bool:
        if consequence:
            return bool(self._category) or self.stopping
        if not self._category or self._category in _NO_CAUSE:
            return False
        if failure.category == self._category:
            copy = failure.rank not in self._ranks
            self._ranks.add(failure.rank)
            return copy
        return failure.category in _ECHOES
