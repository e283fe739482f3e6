"""The timing model of the demo: what every phase costs, and how many drafts are accepted.

Pure functions of a profile and a launch's settings; all times in milliseconds. The mission's figures come
from DESIGN.md section 10, those of `h200` from measurements on a real H200 (SGLang 0.5.12, EAGLE-3).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

#: The target's layers whose hidden states the draft was trained on; any others ruin its acceptance.
RIGHT_LAYER_IDS = [1, 29, 57]
#: NCCL's own names for its protocols, in lower case.
NCCL_PROTOCOLS = ("ll", "ll128", "simple")
#: A start-up's slowness: so much on top of the first cycle, gone by this many cycles times e.
_WARM_UP_EXCESS = 0.15
_WARM_UP_CYCLES = 60.0
#: Each candidate beyond the first of a position saves so many of its rejections.
_TOPK_RESCUE = 0.15
#: Drafting several candidates per position costs so much more per additional one.
_TOPK_COST = 0.05


@dataclass(frozen=True, slots=True)
class PhaseCosts:
    """Costs in ms at batch 1: a base and a part per draft step or verified token; noise is relative."""

    draft_base: float
    draft_step: float
    verify_base: float
    verify_token: float
    accept: float
    extend: float
    other: float
    noise: float


@dataclass(frozen=True, slots=True)
class Profile:
    """A machine with its model.

    `acceptance` is the chance of each draft position to be accepted, given that all before it were;
    `broken_acceptance` the same with wrong draft layers. `low_latency_*` describe NCCL_PROTO=LL as a
    factor on verify: a base, and a slope for each verified token beyond `low_latency_tokens`.
    """

    name: str
    gpu_name: str
    gpu_count: int
    gpu_memory_mib: int
    overlapped: PhaseCosts
    synchronous: PhaseCosts
    baseline: float
    acceptance: float
    broken_acceptance: float
    batch_growth: float
    baseline_growth: float
    prefill_base: float
    prefill_token: float
    low_latency_base: float = 1.0
    low_latency_slope: float = 0.0
    low_latency_tokens: int = 3
    simple_factor: float = 1.0


_MISSION_COSTS = PhaseCosts(
    draft_base=0.0,
    draft_step=0.174,
    verify_base=21.86,
    verify_token=1.14,
    accept=0.3,
    extend=0.29,
    other=0.0,
    noise=0.03,
)
MISSION = Profile(
    name="mission",
    gpu_name="NVIDIA H20-like PCIe",
    gpu_count=8,
    gpu_memory_mib=97871,
    overlapped=_MISSION_COSTS,
    synchronous=_MISSION_COSTS,
    baseline=11.26,
    acceptance=0.54,
    broken_acceptance=0.19,
    batch_growth=0.03,
    baseline_growth=0.03,
    prefill_base=18.0,
    prefill_token=0.04,
    low_latency_base=0.745,
    low_latency_slope=0.04,
)
H200 = Profile(
    name="h200",
    gpu_name="NVIDIA H200",
    gpu_count=1,
    gpu_memory_mib=143771,
    overlapped=PhaseCosts(0.33, 0.23, 5.11, 0.0, 0.1, 0.36, 0.54, 0.01),
    synchronous=PhaseCosts(0.45, 0.21, 5.88, 0.0, 0.8, 0.97, 0.67, 0.05),
    baseline=4.81,
    acceptance=0.72,
    broken_acceptance=0.19,
    batch_growth=0.007,
    baseline_growth=0.024,
    prefill_base=45.0,
    prefill_token=0.02,
    simple_factor=1.25,
)
PROFILES = {profile.name: profile for profile in (MISSION, H200)}


def is_known_protocol(value: str) -> bool:
    """True when NCCL would take `value` as NCCL_PROTO: a list of its protocols, `^` to exclude them."""
    names = value.removeprefix("^").lower().split(",")
    return all(name in NCCL_PROTOCOLS for name in names)


def accept_length(acceptance: float, steps: int) -> float:
    """Mean tokens per cycle, bonus included: (1 - a^(k+1)) / (1 - a)."""
    return sum(acceptance**position for position in range(steps + 1))


def warm_up_factor(cycles: int) -> float:
    """How much slower than steady the cycle after `cycles` cycles since the start is."""
    return 1.0 + _WARM_UP_EXCESS * math.exp(-cycles / _WARM_UP_CYCLES)


@dataclass(frozen=True, slots=True)
class TimingModel:
    """The means of one launch. `steps` 0 is the baseline; `protocol` is NCCL_PROTO as given.

    `draft_tokens` counts the verified tokens per request, the bonus's root included.
    """

    profile: Profile
    steps: int = 0
    topk: int = 1
    draft_tokens: int = 1
    protocol: str = ""
    tensor_parallel: int = 8
    overlapped: bool = True
    layers_right: bool = True

    @property
    def costs(self) -> PhaseCosts:
        """The phases' costs under the worker that runs."""
        return self.profile.overlapped if self.overlapped else self.profile.synchronous

    @property
    def acceptance(self) -> float:
        """The chance of each draft position; a tree's further candidates rescue some rejections."""
        profile = self.profile
        rate = profile.acceptance if self.layers_right else profile.broken_acceptance
        return rate + (1.0 - rate) * (1.0 - (1.0 - _TOPK_RESCUE) ** (self.topk - 1))

    @property
    def accept_length(self) -> float:
        """Mean tokens per cycle and request, bonus included."""
        return accept_length(self.acceptance, self.steps)

    def nccl_factor(self) -> float:
        """What NCCL_PROTO does to verify; nothing on one GPU, nor for a list of protocols."""
        profile, protocol = self.profile, self.protocol.lower()
        if self.tensor_parallel < 2:
            return 1.0
        if protocol == "ll":
            beyond = max(0, self.draft_tokens - profile.low_latency_tokens)
            return profile.low_latency_base + profile.low_latency_slope * beyond
        return profile.simple_factor if protocol == "simple" else 1.0

    def draft_ms(self) -> float:
        """All draft steps of one cycle."""
        tree = 1.0 + _TOPK_COST * (self.topk - 1)
        return (self.costs.draft_base + self.costs.draft_step * self.steps) * tree

    def verify_ms(self, batch: int = 1) -> float:
        """Target forward over the drafts, acceptance included."""
        alone = self.costs.verify_base + self.costs.verify_token * self.draft_tokens
        return self.nccl_factor() * alone * (1.0 + self.profile.batch_growth * (batch - 1))

    def extend_ms(self) -> float:
        """Draft extend after verify."""
        return self.costs.extend

    def decode_ms(self, batch: int = 1) -> float:
        """One plain decode forward, without speculation."""
        return self.profile.baseline * (1.0 + self.profile.baseline_growth * (batch - 1))

    def prefill_ms(self, tokens: int) -> float:
        """One prefill forward of the target over `tokens` new tokens."""
        return self.profile.prefill_base + self.profile.prefill_token * tokens

    def cycle_ms(self, batch: int = 1) -> float:
        """One cycle: the phases and what lies between them."""
        if self.steps == 0:
            return self.decode_ms(batch)
        return self.draft_ms() + self.verify_ms(batch) + self.extend_ms() + self.costs.other

    def throughput_tok_s(self, batch: int = 1) -> float:
        """Tokens per second of the whole server in steady decode."""
        return 1000.0 * batch * self.accept_length / self.cycle_ms(batch)
