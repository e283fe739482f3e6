"""Compare runs: which may be compared at all, what changed, what tied, and which figures contradict."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from specttui.analysis.stats import Interval, differ, mean

#: Average batch sizes may differ by this much and still be the same load.
BATCH_TOLERANCE = 0.10
#: Accept lengths this close are the same.
_SAME_ACCEPTANCE = 0.05
#: A cycle this many times longer at the same acceptance points at the machine, not the configuration.
_LINK_FACTOR = 3.0
#: Measured cycle times may contradict by this much before it is said.
_NOISE = 0.01


class Metric(StrEnum):
    """What a throughput figure is. Figures of different metrics are never mixed."""

    SERVER_DECODE = "server steady decode"
    CLIENT_WALL = "client wall"


@dataclass(frozen=True, slots=True)
class RunFigures:
    """A run's figures for comparing. None is unknown.

    `throughput_tok_s` is of the whole server; `batch` the requests decoding at once, on average;
    `context_tokens` the typical context length; `num_steps` is None without speculation.
    """

    label: str
    throughput_tok_s: Interval
    accept_len: float | None = None
    cycle_ms: float | None = None
    batch: float | None = None
    context_tokens: int | None = None
    tensor_parallel: int = 1
    metric: Metric = Metric.SERVER_DECODE
    num_steps: int | None = None
    eagle_topk: int = 1
    num_draft_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Change:
    """A change of throughput between two runs: `ratio` minus 1 is the gain; `significant` if intervals part.

    `from_cycle` and `from_acceptance` are the parts of it (they sum to 1; of opposite sign when the two work
    against each other), None where cycle time and acceptance are not both known or nothing changed.
    """

    ratio: float
    significant: bool
    from_cycle: float | None = None
    from_acceptance: float | None = None
    note: str = ""


def obstacles(a: RunFigures, b: RunFigures) -> tuple[str, ...]:
    """Why two runs must not be compared, in words; empty when they may."""
    found = []
    if a.tensor_parallel != b.tensor_parallel:
        found.append(f"different tensor parallelism: {a.tensor_parallel} and {b.tensor_parallel}")
    if a.metric is not b.metric:
        found.append(f"different metrics: {a.metric} and {b.metric}")
    if a.batch and b.batch and not same_batch(a.batch, b.batch):
        found.append(f"different load: batch {a.batch:.3g} and {b.batch:.3g}")
    if a.context_tokens and b.context_tokens and not same_batch(a.context_tokens, b.context_tokens):
        found.append(f"different context: {a.context_tokens} and {b.context_tokens} tokens")
    return tuple(found)


def same_batch(a: float, b: float) -> bool:
    """True when two average batch sizes (or context lengths) are the same load."""
    return abs(a - b) <= BATCH_TOLERANCE * max(a, b)


def change(before: RunFigures, after: RunFigures) -> Change | None:
    """What changed between two comparable runs, and whether cycle time or acceptance did it.

    ln(throughput ratio) = ln(accept length ratio) - ln(cycle ratio) at one load, so each one's logarithm
    over their sum is its part.

    Returns:
        The change, or None when the runs must not be compared.
    """
    if obstacles(before, after) or before.throughput_tok_s.value <= 0:
        return None
    ratio = after.throughput_tok_s.value / before.throughput_tok_s.value
    significant = differ(before.throughput_tok_s, after.throughput_tok_s)
    if None in {before.accept_len, after.accept_len} or None in {before.cycle_ms, after.cycle_ms}:
        return Change(ratio, significant)
    acceptance = math.log((after.accept_len or 1) / (before.accept_len or 1))
    cycle = -math.log((after.cycle_ms or 1) / (before.cycle_ms or 1))
    total = acceptance + cycle
    note = _link_note(acceptance, cycle)
    if abs(total) < 1e-9:
        return Change(ratio, significant, note=note)
    return Change(ratio, significant, cycle / total, acceptance / total, note)


def _link_note(acceptance: float, cycle: float) -> str:
    """A warning when the cycle grew manifold at the same acceptance."""
    if abs(acceptance) < _SAME_ACCEPTANCE and -cycle >= math.log(_LINK_FACTOR):
        return (
            f"the cycle grew {math.exp(-cycle):.1f} times at the same acceptance: "
            "suspect the link between the GPUs (lane width, P2P), not the configuration"
        )
    return ""


def repeat_noise(values: Sequence[float]) -> float:
    """The relative spread of repeated measurements: (max - min) / mean; 0 for a single one."""
    return (max(values) - min(values)) / mean(values)


def tied_with_best(throughput_tok_s: Mapping[str, float], noise: float = _NOISE) -> tuple[str, ...]:
    """The configurations within the noise of the fastest, fastest first."""
    if not throughput_tok_s:
        return ()
    ordered = sorted(throughput_tok_s, key=lambda name: -throughput_tok_s[name])
    best = throughput_tok_s[ordered[0]]
    return tuple(name for name in ordered if throughput_tok_s[name] >= best * (1 - noise))


def contradictions(runs: Sequence[RunFigures], noise: float = _NOISE) -> tuple[tuple[str, str], ...]:
    """Pairs of runs (cheaper asked, dearer asked) whose cycle times contradict any model of costs.

    A cycle with at least as many steps, as large a top-k and as many draft tokens cannot be shorter. Where
    one is by more than the noise, at one load, the figures are noisy or another thing changed: measure again.
    """
    return tuple(
        (less.label, more.label)
        for less in runs
        for more in runs
        if _asks_more(less, more) and (more.cycle_ms or 0) < (less.cycle_ms or 0) * (1 - noise)
    )


def _asks_more(less: RunFigures, more: RunFigures) -> bool:
    if None in {less.cycle_ms, more.cycle_ms, less.num_steps, more.num_steps} or obstacles(less, more):
        return False
    a, b = _asked(less), _asked(more)
    return a != b and all(x <= y for x, y in zip(a, b, strict=True))


def _asked(run: RunFigures) -> tuple[int, int, int]:
    steps = run.num_steps or 0
    return steps, run.eagle_topk, run.num_draft_tokens or steps + 1
