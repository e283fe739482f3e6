"""A start-up in progress, read from the log: its phases, what is left of it, and what was learnt."""

from __future__ import annotations

from collections.abc import Mapping

from specttui.events import ServerProgress, StartupStep
from specttui.log.startup import StartupModel, StartupView, expected, learnt
from specttui.log.startup_clock import StampClock
from specttui.session.emitter import Emitter


class StartupProgress:
    """Feeds a start-up's steps to its model, and tells each as `ServerProgress`.

    Args:
        emitter: Takes the progress.
        earlier: Seconds per phase of earlier starts on this host.
        speculative: Whether a draft model is loaded too.
        adopted: True for a start that somebody else began: what its log says of the past arrives all at
            once, so times are those of its stamps.
    """

    def __init__(
        self, emitter: Emitter, earlier: Mapping[str, float], *, speculative: bool, adopted: bool = False
    ) -> None:
        self._emitter = emitter
        self._earlier = dict(earlier)
        self._speculative = speculative
        self._model = StartupModel(expected(earlier, speculative=speculative))
        self._clock = StampClock() if adopted else None
        self._whole = not adopted
        if not adopted:
            self._model.output(emitter.offset_s)

    @property
    def learnt(self) -> dict[str, float]:
        """Seconds per phase for the next start, once this one is ready.

        A start whose beginning was not seen teaches nothing.
        """
        if not self._whole:
            return self._earlier
        durations = self._model.durations(self._now_s())
        return learnt(self._earlier, durations, speculative=self._speculative)

    def take(self, step: StartupStep) -> None:
        """The log shows a step."""
        arrived_s = self._emitter.offset_s
        at_s = arrived_s if self._clock is None else self._clock.at(step.stamp, arrived_s)
        self._whole = self._whole or (step.phase == "init" and step.edge == "begin")
        self._model.apply(step, at_s)
        self.tell()

    def tell(self, detail: str = "") -> None:
        """Tell where the start is.

        Args:
            detail: What to say instead of the step's own words.
        """
        view: StartupView = self._model.view(self._now_s())
        self._emitter.emit(
            ServerProgress(
                phase=view.phase,
                detail=detail or view.detail,
                done=view.done,
                total=view.total,
                elapsed_s=view.elapsed_s,
                fraction=view.fraction,
                eta_s=view.eta_s,
            )
        )

    def _now_s(self) -> float:
        offset_s = self._emitter.offset_s
        return offset_s if self._clock is None else self._clock.now(offset_s)
