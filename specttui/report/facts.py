"""What a report is made of: the final snapshot, and what only the sequence of events tells."""

from __future__ import annotations

from dataclasses import dataclass, field

from specttui.events import (
    Clock,
    FileState,
    Gpu,
    Launch,
    LoadFinished,
    LoadStarted,
    ServerInfo,
    Severity,
)
from specttui.state.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class Moment:
    """When: seconds since the session's start, and wall time in seconds since 1970 UTC."""

    offset_s: float
    at: float


@dataclass(frozen=True, slots=True)
class CommandFact:
    """A command of the user's. `outcome` is finished, failed, or unfinished (the recording ends before).

    `result` says what came of it: the finished command's detail, or the failure's title and cause.
    """

    command_id: int
    name: str
    detail: str
    started: Moment
    outcome: str = "unfinished"
    seconds: float | None = None
    result: str = ""
    remedy: str = ""


@dataclass(frozen=True, slots=True)
class NoteFact:
    """A note of the user's."""

    moment: Moment
    text: str


@dataclass(frozen=True, slots=True)
class AlertFact:
    """An alert, the first time it came, and how often it came; `node` as in `WorkerFact`."""

    moment: Moment
    severity: Severity
    message: str
    remedy: str = ""
    count: int = 1
    node: str = ""


@dataclass(frozen=True, slots=True)
class StartUpFact:
    """A start of the server. `outcome` is ready, failed, or unfinished; `reason` says why it failed.

    `phases` are the steps of start-up in order with their seconds, as the log showed them.
    """

    moment: Moment
    label: str
    outcome: str = "unfinished"
    seconds: float | None = None
    reason: str = ""
    phases: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True, slots=True)
class WorkerStep:
    """The worker file as seen at one moment."""

    moment: Moment
    state: FileState
    sha256: str


@dataclass(frozen=True, slots=True)
class WorkerFact:
    """The history of one worker file on a host; steps are changes only, oldest first.

    `node` is the host's name among several, "" where there is just one.
    """

    path: str
    steps: tuple[WorkerStep, ...]
    original_sha256: str = ""
    backup_path: str = ""
    local_backup_path: str = ""
    node: str = ""

    @property
    def final(self) -> WorkerStep:
        """The file as last seen."""
        return self.steps[-1]

    @property
    def ever_patched(self) -> bool:
        """True when the file held our block at some moment."""
        return any(step.state is FileState.PATCHED for step in self.steps)

    @property
    def is_original(self) -> bool:
        """True when the file, as last seen, is byte for byte the original: the hashes are equal."""
        return bool(self.original_sha256) and self.final.sha256 == self.original_sha256


@dataclass(frozen=True, slots=True)
class NodeFact:
    """One host of a server that spans several, as last seen.

    `rank` is its `--node-rank`, None when it was never known; the worker file is the one that changed last,
    its state None when none is known. `slowest_cycle_ms` is the largest median cycle among its ranks, that of
    `slowest_rank`, when the probe spoke last.
    """

    name: str
    rank: int | None = None
    worker_path: str = ""
    worker_state: FileState | None = None
    worker_sha256: str = ""
    gpus: tuple[Gpu, ...] = ()
    slowest_rank: str = ""
    slowest_cycle_ms: float | None = None
    connection_losses: int = 0


@dataclass(frozen=True, slots=True)
class LoadFact:
    """A load of ours and the run it went to. `finished` is None when the recording ends before it does."""

    moment: Moment
    run_id: int | None
    started: LoadStarted
    finished: LoadFinished | None = None


@dataclass(frozen=True, slots=True)
class TimelineEntry:
    """Something that happened; `count` times in a row, the last time at `last_offset_s`.

    `node` names the host it happened on, "" for what concerns the session or the server as a whole.
    """

    moment: Moment
    text: str
    count: int = 1
    last_offset_s: float = 0.0
    node: str = ""


@dataclass(frozen=True, slots=True)
class ReportInput:
    """Everything a report says, as one value: reports are pure functions of it.

    `found_launch` is the launch the session found, `last_launch` the last one that served. `arguments`
    are the last server's settings as it resolved them, `adjustments` what it changed or interpreted, in
    its words.
    `complete` is False when the recording has no end: it was cut, or the session goes on.
    `nodes` are the hosts of a server that spans several, by rank where that is known, empty for a single
    host; the server, its launches, arguments, starts and loads are then as the first of them tells.
    """

    snapshot: Snapshot
    session_id: str = ""
    target: str = ""
    mode: str = "live"
    specttui_version: str = ""
    started_at: float = 0.0
    duration_s: float = 0.0
    complete: bool = False
    server: ServerInfo | None = None
    found_launch: Launch | None = None
    last_launch: Launch | None = None
    arguments: dict[str, str] = field(default_factory=dict)
    adjustments: tuple[str, ...] = ()
    clocks: tuple[Clock, ...] = ()
    probe_way: str = ""
    phases_missing: dict[str, str] = field(default_factory=dict)
    connection_losses: int = 0
    nodes: tuple[NodeFact, ...] = ()
    commands: tuple[CommandFact, ...] = ()
    notes: tuple[NoteFact, ...] = ()
    alerts: tuple[AlertFact, ...] = ()
    start_ups: tuple[StartUpFact, ...] = ()
    workers: tuple[WorkerFact, ...] = ()
    loads: tuple[LoadFact, ...] = ()
    timeline: tuple[TimelineEntry, ...] = ()
