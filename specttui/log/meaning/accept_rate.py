"""Accept rate in its three meanings, always recomputed from accept length (CASES.md A21)."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class AcceptRates:
    """One accept length as each release would print it.

    `per_step` is 0.5.3 to 0.5.4: length / (steps + 1). `per_draft_token` is 0.5.5 to 0.5.10: length / d.
    `of_drafts` is 0.5.11 and later: (length - 1) / (d - 1), the share of drafts that were accepted; it is
    the only one that is 0 when nothing is accepted and 1 when everything is, so it is what we show.
    """

    per_step: float | None
    per_draft_token: float | None
    of_drafts: float | None


def accept_rates(accept_len: float, draft_tokens: int | None, steps: int | None = None) -> AcceptRates:
    """Recompute the accept rate.

    Args:
        accept_len: Tokens per cycle and request, bonus token included.
        draft_tokens: Tokens verified per cycle, d.
        steps: Draft steps; with top-k 1 it is d - 1, which is taken where it is not given.

    Returns:
        All three meanings, each None where it cannot be computed.
    """
    per_cycle = steps + 1 if steps is not None else draft_tokens
    return AcceptRates(
        per_step=accept_len / per_cycle if per_cycle else None,
        per_draft_token=accept_len / draft_tokens if draft_tokens else None,
        of_drafts=(accept_len - 1.0) / (draft_tokens - 1) if draft_tokens and draft_tokens > 1 else None,
    )


def implied_draft_tokens(accept_len: float, accept_rate: float) -> int | None:
    """The number of draft tokens that a line of 0.5.11 or later implies: d = (length - 1) / rate + 1."""
    if accept_rate <= 0.0 or accept_len <= 1.0:
        return None
    return round((accept_len - 1.0) / accept_rate) + 1
