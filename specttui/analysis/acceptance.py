"""Accept length, acceptance rates and what turns one into the other.

Accept length counts emitted tokens, the bonus token included. SGLang printed three different figures as
"accept rate", so rates are recomputed here and never compared as printed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from enum import StrEnum


class RateMeaning(StrEnum):
    """What SGLang's printed accept rate is; A is the accept length, d the draft tokens, k the steps."""

    OF_STEPS = "A / (k + 1)"  # 0.5.3.post3 to 0.5.4
    OF_DRAFT_TOKENS = "A / d"  # 0.5.5 to 0.5.10
    OF_DRAFTS = "(A - 1) / (d - 1)"  # 0.5.11 and newer


def accept_rate(accept_len: float, draft_tokens: int, meaning: RateMeaning = RateMeaning.OF_DRAFTS) -> float:
    """The accept rate in one of its meanings, from accept length and draft tokens (k + 1 with top-k 1).

    Raises:
        ValueError: There are too few draft tokens for a rate.
    """
    if draft_tokens < 2:
        raise ValueError("a rate needs at least two draft tokens")
    if meaning is RateMeaning.OF_DRAFTS:
        return (accept_len - 1) / (draft_tokens - 1)
    return accept_len / draft_tokens


def accept_len_from_rate(rate: float, drafts: int) -> float:
    """The accept length when a share `rate` of `drafts` draft tokens is accepted: 1 + rate * drafts."""
    return 1 + rate * drafts


def accept_len_max(num_steps: int | None, draft_tokens: int | None = None) -> float | None:
    """The most a cycle can emit per request: steps + 1, or all draft tokens where steps are unknown."""
    if num_steps is not None:
        return float(num_steps + 1)
    return float(draft_tokens) if draft_tokens is not None else None


def accept_len_of(position_rate: float, num_steps: int) -> float:
    """Accept length at one rate a per position: (1 - a^(k+1)) / (1 - a), which is k + 1 for a = 1."""
    return math.fsum(position_rate**position for position in range(num_steps + 1))


def position_rate(accept_len: float, num_steps: int) -> float:
    """The rate a per position that gives an accept length at k steps, found by bisection to 1e-12.

    Returns:
        0 to 1; 0 for an accept length of 1 or less, 1 for k + 1 or more.
    """
    low, high = 0.0, 1.0
    if accept_len <= 1 or num_steps < 1:
        return low
    if accept_len >= num_steps + 1:
        return high
    while high - low > 1e-12:
        middle = (low + high) / 2
        low, high = (middle, high) if accept_len_of(middle, num_steps) < accept_len else (low, middle)
    return (low + high) / 2


def accept_len_by_histogram(histogram: Sequence[int], num_steps: int) -> float | None:
    """Accept length at fewer steps, from how many requests had 0, 1, 2, ... drafts accepted.

    What is accepted at a position does not depend on how many positions follow, so a histogram measured at k
    steps gives the accept length at any smaller count.

    Args:
        histogram: `histogram[i]` requests had i drafts accepted.
        num_steps: The step count asked about.

    Returns:
        The accept length, or None when the histogram is empty or was measured at fewer steps.
    """
    total = sum(histogram)
    if not total or num_steps > len(histogram) - 1:
        return None
    return 1 + math.fsum(min(drafts, num_steps) * count for drafts, count in enumerate(histogram)) / total
