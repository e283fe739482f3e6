"""Where each rank is in its start-up, for the lines that do not say it themselves."""

from __future__ import annotations

import re

#: The phases of a start-up in the order in which they begin.
PHASES = (
    "init",
    "distributed",
    "weights",
    "kv_cache",
    "graphs",
    "draft_weights",
    "draft_graphs",
    "extend_graphs",
    "warmup",
    "ready",
)
#: The phases that only a start with a draft model has.
DRAFT_PHASES = ("draft_weights", "draft_graphs", "extend_graphs")
#: Each phase's place in that order.
PHASE_ORDER = {phase: index for index, phase in enumerate(PHASES)}
_DRAFT_CLASS = re.compile(r"type=\w*(?:Eagle|EAGLE|NextN|MTP|Mtp|Draft|DFlash|DSpark)\w*")


class StartupPosition:
    """The phase of every rank of the server that is starting, from the lines seen so far.

    SGLang does not label the draft model: its weights are the second ones a rank loads.
    """

    __slots__ = ("_last", "_loaded", "_phases", "ready")

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Forget everything: another server starts in this log."""
        self._phases: dict[str, str] = {}
        self._loaded: set[str] = set()
        self._last = ""
        self.ready = False

    def phase(self, rank: str = "") -> str:
        """The rank's phase, the newest phase of any rank where the rank is not known, "" if none."""
        return self._phases.get(rank, self._last)

    def enter(self, rank: str, phase: str) -> None:
        """The rank reached a phase."""
        self._phases[rank] = self._last = phase
        if phase == "ready":
            self.ready = True

    def weights_phase(self, rank: str, body: str) -> str:
        """Whether a "Load weight" or "Init torch distributed" line is about the target or the draft model."""
        return "draft_weights" if rank in self._loaded or _DRAFT_CLASS.search(body) else "weights"

    def loaded(self, rank: str) -> None:
        """The rank finished loading a model's weights."""
        self._loaded.add(rank)

    def has_loaded(self, rank: str) -> bool:
        """True once the rank has the target model's weights."""
        return rank in self._loaded
