"""Requests, and the batches of them that go through the workers."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Any


class ForwardMode(Enum):
    """What a forward does."""

    EXTEND = auto()
    DECODE = auto()
    IDLE = auto()

    def is_extend(self) -> bool:
        """True for prefill."""
        return self is ForwardMode.EXTEND

    def is_decode(self) -> bool:
        """True for decode."""
        return self is ForwardMode.DECODE

    def is_idle(self) -> bool:
        """True for a rank that only takes part."""
        return self is ForwardMode.IDLE


@dataclass(slots=True)
class Req:
    """One request. `arrived_at` and `decode_began_at` are in the scheduler's process's monotonic seconds."""

    rid: str
    prompt_tokens: int
    max_new_tokens: int
    stream: bool = False
    output_tokens: int = 0
    verify_ct: int = 0
    correct_drafts: int = 0
    drafts_histogram: list[int] = field(default_factory=list)
    aborted: bool = False
    arrived_at: float = field(default_factory=time.monotonic)
    decode_began_at: float | None = None

    @property
    def finished(self) -> bool:
        """True when nothing more will be generated."""
        return self.aborted or self.output_tokens >= self.max_new_tokens

    @property
    def seq_len(self) -> int:
        """Tokens it holds in the KV cache."""
        return self.prompt_tokens + self.output_tokens

    def take(self, tokens: int) -> int:
        """Append so many generated tokens, cut at the limit; returns how many were taken."""
        taken = min(tokens, self.max_new_tokens - self.output_tokens)
        self.output_tokens += taken
        return taken

    def take_verified(self, correct_drafts: int) -> int:
        """Append what one verify gave: the accepted drafts and the bonus token."""
        self.verify_ct += 1
        self.correct_drafts += correct_drafts
        missing = correct_drafts + 1 - len(self.drafts_histogram)
        self.drafts_histogram.extend([0] * missing)
        self.drafts_histogram[correct_drafts] += 1
        return self.take(correct_drafts + 1)


@dataclass(slots=True)
class ScheduleBatch:
    """What one forward works on."""

    reqs: list[Req]
    forward_mode: ForwardMode
    spec_info: Any = None
    is_extend_in_batch: bool = False

    @property
    def seq_lens(self) -> list[int]:
        """Each request's length."""
        return [req.seq_len for req in self.reqs]

    @property
    def extend_num_tokens(self) -> int:
        """New tokens of a prefill."""
        return sum(req.prompt_tokens for req in self.reqs)

    def batch_size(self) -> int:
        """How many requests it holds."""
        return len(self.reqs)


@dataclass(slots=True)
class GenerationBatchResult:
    """What a forward gave. Counts per request: accepted drafts, bonus excluded; None without drafts."""

    next_token_ids: list[int]
    can_run_cuda_graph: bool = True
    num_correct_drafts: int = 0
    num_correct_drafts_per_req_cpu: list[int] | None = None
    accept_lens: list[int] | None = None
    new_seq_lens: list[int] = field(default_factory=list)
