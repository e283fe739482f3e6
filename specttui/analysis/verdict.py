"""The verdict on a run: does speculation pay at this load, what limits it, how sure are we."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from specttui.analysis.break_even import BreakEven, break_even
from specttui.analysis.breakdown import HOST_BOUND_SHARE
from specttui.analysis.compare import same_batch
from specttui.analysis.stats import Interval, differ
from specttui.events import CYCLE_PHASES, Clock, Phase

#: Without intervals, a speed-up this close to 1 is none.
_EVEN = 0.01
#: Accept lengths up to this are what random-token prompts give.
_NEAR_ONE = 1.4
_PHASE_WORDS = {Phase.DRAFT: "Draft", Phase.VERIFY: "Verify", Phase.DRAFT_EXTEND: "Draft extend"}


@dataclass(frozen=True, slots=True)
class VerdictInput:
    """What is known of a run and its baseline, both at one load. None is unknown.

    `batch` is the average number of requests decoding at once, `baseline_batch` the baseline's;
    `baseline_tpot_ms` its time per token and request. `throughput_tok_s` are server figures with intervals.
    `shares` are the parts of the mean cycle, `OTHER` included. `concurrency` is what a load test asks for,
    `max_running` what the server allows. `random_prompts` and `simulated` name loads that prove little.
    """

    speculative: bool = True
    accept_len: float | None = None
    cycle_ms: float | None = None
    num_steps: int | None = None
    draft_tokens: int | None = None
    throughput_tok_s: Interval | None = None
    batch: float | None = None
    context_tokens: int | None = None
    tensor_parallel: int = 1
    baseline_tpot_ms: float | None = None
    baseline_throughput_tok_s: Interval | None = None
    baseline_batch: float | None = None
    baseline_tensor_parallel: int | None = None
    shares: Mapping[Phase, float] = field(default_factory=dict)
    host_bound: bool = False
    clock: Clock | None = None
    concurrency: int | None = None
    max_running: int | None = None
    random_prompts: bool = False
    simulated: bool = False


@dataclass(frozen=True, slots=True)
class Verdict:
    """The answer. `outcome` is one of pays, costs, even, cannot_win, unknown; figures are None if unknown."""

    outcome: str
    text: str
    break_even_accept_len: float | None = None
    speed_up: float | None = None
    headroom: float | None = None
    limiting_phase: Phase | None = None
    caveats: tuple[str, ...] = ()


def verdict(figures: VerdictInput) -> Verdict:
    """Judge a run.

    Args:
        figures: What is known; anything may be missing, and then the verdict says what.

    Returns:
        The outcome with one or two sentences that name the load, and caveats.
    """
    if not figures.speculative:
        return _of_baseline(figures)
    limiting = _limiting_phase(figures)
    reason = _not_comparable(figures)
    found = break_even(
        figures.accept_len,
        figures.cycle_ms,
        figures.baseline_tpot_ms,
        num_steps=figures.num_steps,
        draft_tokens=figures.draft_tokens,
    )
    if reason or found is None:
        text = reason or _without_baseline(figures)
        return Verdict("unknown", text, limiting_phase=limiting, caveats=_caveats(figures))
    outcome = _outcome(figures, found)
    caveats = (*_contradiction(outcome, found), *_caveats(figures))
    return Verdict(
        outcome,
        " ".join(part for part in (_sentence(outcome, figures, found), _limit(figures, limiting)) if part),
        found.break_even_accept_len,
        found.speed_up,
        found.headroom,
        limiting,
        caveats,
    )


def _of_baseline(figures: VerdictInput) -> Verdict:
    text = f"This is the baseline{_at_load(figures)}"
    if figures.throughput_tok_s is not None:
        text += f": {figures.throughput_tok_s.value:.1f} tok/s"
    return Verdict(
        "unknown", f"{text}. Restart with r and choose steps to compare.", caveats=_caveats(figures)
    )


def _not_comparable(figures: VerdictInput) -> str:
    """Why the baseline must not be used, as a sentence; "" when it may."""
    if figures.baseline_tpot_ms is None:
        return ""
    if figures.baseline_tensor_parallel not in {None, figures.tensor_parallel}:
        return (
            f"Not comparable: the baseline ran with tensor parallelism {figures.baseline_tensor_parallel}, "
            f"this run with {figures.tensor_parallel}."
        )
    if figures.batch and figures.baseline_batch and not same_batch(figures.batch, figures.baseline_batch):
        return (
            f"Not comparable: the baseline ran at batch {figures.baseline_batch:.3g}, "
            f"this run at batch {figures.batch:.3g}."
        )
    return ""


def _without_baseline(figures: VerdictInput) -> str:
    if figures.accept_len is None or figures.cycle_ms is None:
        return "No figures yet: waiting for decode traffic."
    if figures.baseline_tpot_ms is None:
        return "No baseline yet: restart with r and choose baseline to compare."
    return "No figures yet: cycle time or accept length is not positive."


def _outcome(figures: VerdictInput, found: BreakEven) -> str:
    if found.cannot_win:
        return "cannot_win"
    mine, other = figures.throughput_tok_s, figures.baseline_throughput_tok_s
    if mine is not None and other is not None:
        if not differ(mine, other):
            return "even"
        return "pays" if mine.value > other.value else "costs"
    if abs(found.speed_up - 1) <= _EVEN:
        return "even"
    return "pays" if found.speed_up > 1 else "costs"


def _contradiction(outcome: str, found: BreakEven) -> tuple[str, ...]:
    if outcome == "cannot_win":
        return ("Look at the cycle itself: CUDA graphs off, or a draft that runs eagerly?",)
    if (outcome == "pays" and found.speed_up < 1 - _EVEN) or (
        outcome == "costs" and found.speed_up > 1 + _EVEN
    ):
        return (
            "Throughput and cycle time disagree: time is spent outside the cycles, or cycles were missed",
        )
    return ()


def _sentence(outcome: str, figures: VerdictInput, found: BreakEven) -> str:
    needed = f"{found.break_even_accept_len:.2f}"
    if outcome == "cannot_win":
        return (
            f"Cannot win at any acceptance: break-even {needed} is above {found.accept_len_max:.0f}, "
            f"the most this configuration can accept{_at_load(figures)}."
        )
    word = {"pays": "Pays", "costs": "Costs", "even": "Even"}[outcome]
    return f"{word}: accept length {found.accept_len:.2f} against break-even {needed}{_at_load(figures)}."


def _at_load(figures: VerdictInput) -> str:
    parts = []
    if figures.batch is not None:
        parts.append(f"batch {figures.batch:.3g}")
    if figures.context_tokens is not None:
        parts.append(f"context {figures.context_tokens}")
    return f" at {', '.join(parts)}" if parts else ""


def _limiting_phase(figures: VerdictInput) -> Phase | None:
    counted = {p: share for p, share in figures.shares.items() if p in (*CYCLE_PHASES, Phase.OTHER)}
    return max(counted, key=lambda phase: counted[phase], default=None)


def _limit(figures: VerdictInput, limiting: Phase | None) -> str:
    other = figures.shares.get(Phase.OTHER, 0.0)
    if other > HOST_BOUND_SHARE:
        return f"Host-bound: {100 * other:.0f} % of the cycle is in no phase."
    if figures.host_bound:
        return "Host-bound: launching takes as long as the GPU's work."
    if limiting is None or limiting not in _PHASE_WORDS:
        return ""
    return f"{_PHASE_WORDS[limiting]} is {100 * figures.shares[limiting]:.0f} % of the cycle."


def _caveats(figures: VerdictInput) -> tuple[str, ...]:
    found = []
    if figures.speculative and figures.baseline_tpot_ms is not None:
        found.append("Holds only for the load it was measured at")
    if figures.clock is Clock.SYNC:
        found.append("The sync clock slows the server: its figures are distorted")
    if figures.clock is Clock.WALL:
        found.append("The wall clock charges one phase's GPU time to another")
    if figures.simulated:
        found.append("Acceptance is simulated: timing only")
    elif figures.speculative and figures.accept_len is not None and figures.accept_len <= _NEAR_ONE:
        found.append(_near_one(figures))
    if figures.concurrency and figures.max_running and figures.concurrency > figures.max_running:
        found.append(
            f"Concurrency {figures.concurrency} is above the {figures.max_running} requests that this server "
            "runs at once: a baseline without that limit is at another load"
        )
    return tuple(found)


def _near_one(figures: VerdictInput) -> str:
    if figures.random_prompts:
        return "Random-token prompts ruin acceptance: use natural text"
    return "Hardly anything is accepted: check the draft model, and that the prompts are natural text"
