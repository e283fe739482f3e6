"""What a saved log says, as one immutable tree; every figure has its unit in its name."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class LoadFigures:
    """Decode figures at one number of running requests (over all DP groups), from steady lines only.

    `throughput_tok_s` is the median, the server's steady decode; `mean_throughput_tok_s` includes the
    dips of prefills in between and is nearer to what a client sees. `cycle_ms` is the median of
    1000 x running x accept length / throughput; without speculation, the time per token.
    """

    running: int
    lines: int
    throughput_tok_s: float
    mean_throughput_tok_s: float
    accept_len: float | None
    cycle_ms: float


@dataclass(frozen=True, slots=True)
class PhaseFigures:
    """One phase of the cycle as the probe measured it. `share` is its part of the cycles' sum, 0 to 1."""

    phase: str
    median_ms: float
    p95_ms: float
    share: float | None


@dataclass(frozen=True, slots=True)
class ProbeFigures:
    """What one rank's probe wrote under one clock."""

    rank: str
    clock: str
    cycles: int
    cycle_ms: float | None
    accept_len: float | None
    phases: tuple[PhaseFigures, ...] = ()


@dataclass(frozen=True, slots=True)
class RunFigures:
    """A stretch under one configuration: a server's life, cut where adaptive speculation switched.

    `excluded` counts decode lines left out, by reason. `interval_cycles` is the log interval found in
    the lines, `missing_lines` how many of its lines are not in the log.
    """

    label: str
    steps: int | None
    draft_tokens: int | None
    decode_lines: int
    loads: tuple[LoadFigures, ...] = ()
    accept_rate: float | None = None
    excluded: dict[str, int] = field(default_factory=dict)
    interval_cycles: int | None = None
    missing_lines: int = 0
    probe: tuple[ProbeFigures, ...] = ()


@dataclass(frozen=True, slots=True)
class StartupPhase:
    """One stretch of a start-up. `printed_s` is the time that the log itself states for it."""

    phase: str
    started_s: float
    duration_s: float
    printed_s: float | None = None


@dataclass(frozen=True, slots=True)
class FailureFigures:
    """A failure with its cause and what to do about it."""

    category: str
    title: str
    rank: str
    stamp: str
    lines: tuple[str, ...]
    remedy: str
    fatal: bool
    in_probe: bool
    details: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ServerFigures:
    """One server's life in the log.

    `outcome` is one of serving, failed, stopped, loading, unknown (the log tells neither a start nor an
    end). `settings` are the effective ones; `adjusted` are the server's own words on what it changed.
    """

    started: str
    outcome: str
    ready: bool
    startup_s: float | None
    settings: dict[str, str] = field(default_factory=dict)
    adjusted: tuple[str, ...] = ()
    startup: tuple[StartupPhase, ...] = ()
    runs: tuple[RunFigures, ...] = ()
    failures: tuple[FailureFigures, ...] = ()
    retracted_requests: int = 0
    prefills: int = 0
    http_ok: int = 0
    http_client_errors: int = 0
    http_server_errors: int = 0
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LogSummary:
    """Everything a log says; one entry per server that was started in it."""

    servers: tuple[ServerFigures, ...]
