"""What drafting hands to verifying, and verifying to the rest."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(slots=True)
class EagleVerifyInput:
    """The drafted tokens of a batch."""

    draft_token_num: int
    spec_steps: int
    topk: int


@dataclass(slots=True)
class EagleVerifyOutput:
    """What was accepted; counts per request, bonus excluded."""

    verified_id: list[int] = field(default_factory=list)
    num_correct_drafts_per_req_cpu: list[int] = field(default_factory=list)
