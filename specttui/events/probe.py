"""What our probe writes into the server's log. These models are the wire format, version 1.

Each line is `[specttui] ` followed by one JSON object on one line, under 4096 bytes in all, whose `kind`
selects one of the models below. Field names on the wire are the field names here.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from specttui.events.base import Clock, Event, Phase

#: What a probe line starts with; the parser accepts text before it (docker, journald, a rank's bar).
PROBE_PREFIX = "[specttui] "
#: The wire format's version, in every probe line as "v".
PROBE_VERSION = 1


class ProbeEvent(Event):
    """Base of probe lines. `rank` is the worker's rank label ("TP0", "DP1 TP2"), "" if unknown."""

    v: int = PROBE_VERSION
    pid: int = 0
    rank: str = ""


class ProbeInstalled(ProbeEvent):
    """First line of a worker: what was hooked on the live instance and what was not found.

    `hooked` maps a phase (or "accept_counts") to the attribute path; `missing` maps one to the reason.
    """

    kind: Literal["probe_installed"] = "probe_installed"
    worker_class: str
    cycle_method: str
    clock: Clock
    hooked: dict[str, str] = Field(default_factory=dict)
    missing: dict[str, str] = Field(default_factory=dict)
    way: Literal["file", "import_hook"] = "file"
    session_id: str = ""


class ProbeCycles(ProbeEvent):
    """Per-cycle figures of consecutive cycles, about twice a second; all arrays have one length.

    None in an array: that cycle did not have the phase or the value is unknown; 0.0 is a measured zero.
    The parts of phases (target_forward, accept, kv) may be timed in every few cycles only, and are None in
    between: a part's mean and share are over the cycles that have it. A phase's None means that it did not
    happen and counts as nothing.
    `cycle_ms` is start to start while decoding goes on, None for the first cycle after a pause.
    `phase_ms` follows `clock`; `cpu_ms` is the CPU's time in the same calls. `accepted` counts accepted
    drafts of all requests of the cycle, bonus tokens excluded, so accept length is
    sum(accepted) / sum(batch) + 1 over cycles where it is known. `accept_histogram[i]` counts requests
    that had i drafts accepted in these cycles.
    `self_us` is the probe's own CPU time per timed cycle, in microseconds. Where that would be more than half
    a percent of the time, the probe rests in between: `timed_share` is the share of the time (0 to 1) in
    which it times cycles, and the cycles of one line need not follow each other directly.
    """

    kind: Literal["probe_cycles"] = "probe_cycles"
    clock: Clock
    sequence: int = 0
    time_s: float = 0.0
    steps: list[int | None] = Field(default_factory=list)
    batch: list[int] = Field(default_factory=list)
    cycle_ms: list[float | None] = Field(default_factory=list)
    phase_ms: dict[Phase, list[float | None]] = Field(default_factory=dict)
    cpu_ms: dict[Phase, list[float | None]] = Field(default_factory=dict)
    accepted: list[int | None] = Field(default_factory=list)
    accept_histogram: list[int] = Field(default_factory=list)
    draft_step_ms: list[float] = Field(default_factory=list)
    dropped_cycles: int = 0
    dropped_lines: int = 0
    self_us: float | None = None
    timed_share: float = 1.0


class ProbePrefill(ProbeEvent):
    """Prefill times, outside the cycle; one entry per prefill forward."""

    kind: Literal["probe_prefill"] = "probe_prefill"
    clock: Clock
    time_s: float = 0.0
    batch: list[int] = Field(default_factory=list)
    tokens: list[int | None] = Field(default_factory=list)
    phase_ms: dict[Phase, list[float | None]] = Field(default_factory=dict)


class ProbeSummary(ProbeEvent):
    """What the ranks that do not write every cycle say about once a second: medians in ms."""

    kind: Literal["probe_summary"] = "probe_summary"
    clock: Clock
    time_s: float = 0.0
    cycles: int = 0
    median_cycle_ms: float | None = None
    median_phase_ms: dict[Phase, float] = Field(default_factory=dict)


class ProbeClockChanged(ProbeEvent):
    """The probe took another clock (or was switched off or on) through its control file."""

    kind: Literal["probe_clock"] = "probe_clock"
    clock: Clock
    previous: Clock


class ProbeError(ProbeEvent):
    """The probe met an error and took itself out; the server goes on without it."""

    kind: Literal["probe_error"] = "probe_error"
    message: str
    where: str = ""
