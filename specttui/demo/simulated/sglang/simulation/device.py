"""The simulated GPUs: phases that take the model's time, and the acceptance of drafts."""

from __future__ import annotations

import random

from .clock import Clock
from .timing import TimingModel, warm_up_factor

#: The draft model's share of a prefill, relative to the target's.
_PREFILL_DRAFT_SHARE = 0.08


class Device:
    """Spends time phase by phase.

    One log-normal factor with mean 1 holds for all phases of a cycle, as a slow spell of a real machine
    does; the first cycles after the start are slower.

    Args:
        model: The means.
        clock: Where time is spent.
        generator: The source of noise and acceptance.
    """

    def __init__(self, model: TimingModel, clock: Clock, generator: random.Random) -> None:
        self.model = model
        self._clock = clock
        self._random = generator
        self._cycles = 0
        self._factor = 1.0

    def begin_cycle(self) -> None:
        """Draw the factor of the coming cycle."""
        noise = self.model.costs.noise
        # The mean of exp(N(m, s)) is exp(m + s^2 / 2): this m makes it 1.
        self._factor = self._random.lognormvariate(-noise * noise / 2.0, noise) * warm_up_factor(self._cycles)
        self._cycles += 1

    def draft(self) -> None:
        """All draft steps."""
        self._spend(self.model.draft_ms())

    def target_verify(self, batch: int) -> None:
        """The target's forward over the drafts: verify without its acceptance."""
        self._spend(self.model.verify_ms(batch) - self.model.costs.accept)

    def accept(self, batch: int) -> list[int]:
        """Sample, per request, how many drafts are accepted."""
        self._spend(self.model.costs.accept)
        return [self._accepted_drafts() for _ in range(batch)]

    def draft_extend(self) -> None:
        """The draft model over what was accepted."""
        self._spend(self.model.extend_ms())

    def between_phases(self) -> None:
        """What a cycle costs outside its phases."""
        self._spend(self.model.costs.other)

    def decode(self, batch: int) -> None:
        """A plain decode forward."""
        self._spend(self.model.decode_ms(batch))

    def prefill(self, tokens: int) -> None:
        """The target's prefill forward."""
        self._clock.spend(self.model.prefill_ms(tokens) / 1000.0)

    def prefill_draft(self, tokens: int) -> None:
        """The draft model's prefill forward."""
        self._clock.spend(self.model.prefill_ms(tokens) * _PREFILL_DRAFT_SHARE / 1000.0)

    def _accepted_drafts(self) -> int:
        accepted = 0
        while accepted < self.model.steps and self._random.random() < self.model.acceptance:
            accepted += 1
        return accepted

    def _spend(self, milliseconds: float) -> None:
        self._clock.spend(milliseconds * self._factor / 1000.0)
