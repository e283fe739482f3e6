"""The figures of the decode line, gathered over its window."""

from __future__ import annotations

import logging

from ...simulation.clock import Clock
from ...simulation.messages import SchedulerStats
from .schedule_batch import Req

logger = logging.getLogger(__name__)


class DecodeStats:
    """Counts decode forwards and prints the line when a window is full.

    Args:
        interval: Decode forwards per line.
        draft_tokens: Verified tokens per request; 1 without speculation.
        max_tokens: The KV pool's size, for the usage figures.
        clock: Where throughput takes its time from.
    """

    def __init__(self, interval: int, draft_tokens: int, max_tokens: int, clock: Clock) -> None:
        self._interval, self._draft_tokens, self._max_tokens = interval, draft_tokens, max_tokens
        self._clock = clock
        self._forwards = self._tokens = self._window_tokens = self._window_verifies = 0
        self._window_began = clock.now()
        self.total_tokens = self.total_verifies = 0
        self.latest = SchedulerStats()

    @property
    def speculative(self) -> bool:
        """True when forwards verify drafts."""
        return self._draft_tokens > 1

    def reset_acceptance(self) -> None:
        """Forget the cumulative acceptance."""
        self.total_tokens = self.total_verifies = 0

    def add(self, tokens: int, requests: int) -> None:
        """Count one decode forward: tokens it generated, for so many requests."""
        self._forwards += 1
        self._tokens += tokens
        self._window_tokens += tokens
        self._window_verifies += requests
        self.total_tokens += tokens
        self.total_verifies += requests

    def window_full(self) -> bool:
        """True when the line is due."""
        return self._forwards >= self._interval

    def print_line(self, running: list[Req], queued: int, graph: bool) -> SchedulerStats:
        """Print the line and begin the next window."""
        elapsed = self._clock.now() - self._window_began
        held = sum(req.seq_len for req in running if not req.finished)
        self.latest = SchedulerStats(
            last_gen_throughput=self._tokens / elapsed if elapsed > 0 else 0.0,
            avg_spec_accept_length=self._average(),
            spec_accept_length=self._window_tokens / max(1, self._window_verifies),
            spec_accept_rate=self._rate(),
            running=len(running),
            queued=queued,
            token_usage=held / self._max_tokens,
        )
        self._log(held, graph)
        self._forwards = self._tokens = self._window_tokens = self._window_verifies = 0
        self._window_began = self._clock.now()
        return self.latest

    def _log(self, held: int, graph: bool) -> None:
        stats = self.latest
        speculation = ""
        if self.speculative:
            speculation = (
                f"accept len: {stats.spec_accept_length:.2f}, accept rate: {stats.spec_accept_rate:.2f}, "
            )
        logger.info(
            "Decode batch, #running-req: %d, #token: %d, token usage: %.2f, %scuda graph: %s, "
            "gen throughput (token/s): %.2f, #queue-req: %d",
            stats.running, held, stats.token_usage, speculation, graph, stats.last_gen_throughput,
            stats.queued,
        )  # fmt: skip

    def _average(self) -> float | None:
        if not self.speculative or not self.total_verifies:
            return None
        return self.total_tokens / self.total_verifies

    def _rate(self) -> float:
        drafts = self._window_tokens - self._window_verifies
        return drafts / max(1, self._window_verifies * (self._draft_tokens - 1))
