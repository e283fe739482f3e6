"""The one immutable value that crosses from the state to the screen on each tick.

Panels, `--once --json` and tests read only this. Every figure carries its unit in its name; windows and
clocks are stated beside the figures. None is "unknown", never zero.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from specttui.events import (
    Alert,
    Clock,
    FileState,
    Gpu,
    Launch,
    Phase,
    ServerInfo,
    SpecSettings,
    WorkerFileChecked,
)


@dataclass(frozen=True, slots=True)
class Series:
    """A metric over time for a sparkline. Oldest first; a None value is a gap.

    `values[i]` was seen at `offsets_s[i]` seconds after the session's start.
    """

    offsets_s: tuple[float, ...] = ()
    values: tuple[float | None, ...] = ()
    window_s: float = 60.0

    @property
    def last(self) -> float | None:
        """The newest known value, or None."""
        return next((value for value in reversed(self.values) if value is not None), None)


@dataclass(frozen=True, slots=True)
class Interval:
    """An estimate with its confidence interval (95 % unless said otherwise)."""

    value: float
    low: float
    high: float

    @property
    def half_width(self) -> float:
        """Half of the interval's width, for "88.8 ±0.4"."""
        return (self.high - self.low) / 2


@dataclass(frozen=True, slots=True)
class PhaseRow:
    """One row of the cycle breakdown.

    `share` is the phase's part of the mean cycle, 0 to 1; rows that are not parts of another sum to 1.
    `available` is False when this worker cannot show the phase: then the figures are None and `reason`
    says why.
    """

    phase: Phase
    share: float | None
    median_ms: float | None
    p95_ms: float | None
    cpu_median_ms: float | None = None
    part_of: Phase | None = None
    series: Series = field(default_factory=Series)
    available: bool = True
    reason: str = ""


@dataclass(frozen=True, slots=True)
class CycleView:
    """The decode cycle, over the last `cycles` cycles of the current run."""

    clock: Clock | None
    cycles: int
    cycle_ms: float | None
    mean_cycle_ms: float | None
    rows: tuple[PhaseRow, ...]
    batch: float | None = None
    host_bound: bool = False
    note: str = ""


@dataclass(frozen=True, slots=True)
class RunRow:
    """One run in the comparison table. Medians over its steady part.

    `accept_len` and `cycle_ms` are None for a run without speculation where only the log speaks, except
    that a baseline's `cycle_ms` is its time per token and request (TPOT). `change_vs_baseline` is a ratio
    minus 1 (0.06 is +6 %), None without a comparable baseline; `significant` says whether the intervals part.
    `source` names where cycle_ms comes from: "probe" or "log". A run whose steps adaptive speculation changed
    has a row per step count, `segment` counting from 1; 0 is a whole run.
    """

    run_id: int
    label: str
    settings: SpecSettings
    current: bool
    is_baseline: bool
    throughput_tok_s: Interval | None = None
    per_request_tok_s: float | None = None
    accept_len: float | None = None
    cycle_ms: float | None = None
    source: str = ""
    phase_ms: dict[Phase, float] = field(default_factory=dict)
    phase_share: dict[Phase, float] = field(default_factory=dict)
    batch: float | None = None
    samples: int = 0
    cycles: int = 0
    change_vs_baseline: float | None = None
    significant: bool | None = None
    started_s: float = 0.0
    ended_s: float | None = None
    clock: Clock | None = None
    changes: tuple[str, ...] = ()
    launch: Launch | None = None
    warming_up: bool = False
    notes: tuple[str, ...] = ()
    segment: int = 0


@dataclass(frozen=True, slots=True)
class VerdictView:
    """What the figures mean, in words that name their load and what is missing.

    `outcome` is one of pays, costs, even, cannot_win, unknown.
    """

    outcome: str
    text: str
    break_even_accept_len: float | None = None
    speed_up: float | None = None
    headroom: float | None = None
    limiting_phase: Phase | None = None
    caveats: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ProgressView:
    """A start-up in progress. `done` of `total` items of the phase (shards, graphs) where it has a bar.

    `fraction` and `eta_s` are about the whole start-up, None without earlier starts to learn from.
    """

    phase: str
    detail: str
    fraction: float | None
    elapsed_s: float
    eta_s: float | None
    last_output_s: float | None
    done: int | None = None
    total: int | None = None


@dataclass(frozen=True, slots=True)
class ProbeView:
    """The probe as seen from here. `status` is one of absent, waiting, live, silent, failed, off.

    `cost` is the measured change of the cycle time with the probe on, as a ratio minus 1. `cross_check`
    compares the target forward with SGLang's own device timer, in words; "" where it keeps none.
    `draft_step_ms[i]` is the newest mean of the i-th draft forward, empty unless single steps are timed.
    `timed_share` is the share of the time (0 to 1) in which cycles are timed, below 1 where the probe rests.
    """

    status: str
    clock: Clock | None = None
    way: str = ""
    worker_class: str = ""
    hooked: dict[str, str] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)
    message: str = ""
    dropped_cycles: int = 0
    dropped_lines: int = 0
    self_us: float | None = None
    timed_share: float = 1.0
    cost: Interval | None = None
    cross_check: str = ""
    draft_step_ms: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class CommandView:
    """The user's command in progress or the last one that ended."""

    name: str
    detail: str
    status: str  # running, finished, failed
    title: str = ""
    cause: str = ""
    remedy: str = ""


@dataclass(frozen=True, slots=True)
class RankRow:
    """One rank's medians, to name the slowest and the spread."""

    rank: str
    cycle_ms: float | None
    phase_ms: dict[Phase, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class GroupRow:
    """One data-parallel group's newest decode line, and its throughput; the server's figures sum them up."""

    group: str
    throughput_tok_s: float | None
    accept_len: float | None
    running: int | None
    queue: int | None
    series: Series = field(default_factory=Series)


@dataclass(frozen=True, slots=True)
class NodeRow:
    """One host of a server that spans several.

    `rank` is its `--node-rank`, None until it is known. `connection` and `server_phase` use the words of
    `Snapshot`, `probe` those of `ProbeView.status`. `slowest_cycle_ms` is the largest median cycle among its
    ranks; `detail` says what it is doing or what went wrong. While it starts, `startup_phase` names the step
    it is at, "" before the first, with `startup_done` of `startup_total` items where it has a bar.
    """

    name: str
    rank: int | None = None
    connection: str = "connecting"
    server_phase: str = "unknown"
    detail: str = ""
    file_state: FileState | None = None
    probe: str = "absent"
    gpus: tuple[Gpu, ...] = ()
    slowest_cycle_ms: float | None = None
    startup_phase: str = ""
    startup_done: int | None = None
    startup_total: int | None = None


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Everything the screen shows, at one moment.

    `changed_settings` names what the server changed of the request, with the words of `chips` where there
    is one ("steps", "topk", "draft"); `setting_changes` says each in words, with the server's reason.
    `nodes` is empty for a server on a single host; with several, `gpus` and `ranks` are those of all of them,
    and `worker_file` is patched only when it is on every one. `groups` is empty without data parallelism.
    `http_client_errors` and `http_server_errors` count 4xx and 5xx answers in the log.

    `connection` is one of connecting, up, retrying, down, none (a log or replay). `server_phase` is one of
    unknown, none, starting, serving, stopping, exited, failed.
    """

    session_id: str = ""
    target: str = ""
    mode: str = "live"
    at: float = 0.0
    offset_s: float = 0.0
    connection: str = "connecting"
    connection_detail: str = ""
    latency_ms: float | None = None
    server: ServerInfo | None = None
    server_phase: str = "unknown"
    server_detail: str = ""
    progress: ProgressView | None = None
    worker_file: WorkerFileChecked | None = None
    probe: ProbeView = field(default_factory=lambda: ProbeView(status="absent"))
    settings: SpecSettings = field(default_factory=SpecSettings)
    changed_settings: tuple[str, ...] = ()
    setting_changes: tuple[str, ...] = ()
    chips: tuple[str, ...] = ()
    throughput: Series = field(default_factory=Series)
    throughput_now: float | None = None
    throughput_note: str = ""
    accept_len: Series = field(default_factory=Series)
    accept_len_now: float | None = None
    accept_rate_now: float | None = None
    accept_histogram: tuple[int, ...] = ()
    running: int | None = None
    queue: int | None = None
    computed_tok_s: float | None = None
    cycle: CycleView | None = None
    verdict: VerdictView = field(default_factory=lambda: VerdictView("unknown", "No figures yet."))
    runs: tuple[RunRow, ...] = ()
    ranks: tuple[RankRow, ...] = ()
    groups: tuple[GroupRow, ...] = ()
    nodes: tuple[NodeRow, ...] = ()
    gpus: tuple[Gpu, ...] = ()
    log_lines: tuple[str, ...] = ()
    log_total: int = 0
    alerts: tuple[Alert, ...] = ()
    notes: tuple[str, ...] = ()
    command: CommandView | None = None
    load: str = ""
    http_client_errors: int = 0
    http_server_errors: int = 0
