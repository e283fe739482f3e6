"""What SGLang's own log lines say."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from specttui.events.base import Event


class LogEvent(Event):
    """Base of what was read from one log line.

    `rank` is the line's rank label as printed ("TP0", "DP1 TP2", "" when the line carries none);
    `stamp` is the line's own time as printed, which may lack a date or be empty.
    """

    rank: str = ""
    stamp: str = ""


class DecodeStats(LogEvent):
    """A "Decode batch" line. Throughput is tokens per second over all of that rank's requests.

    `accept_len` includes the bonus token. `accept_rate` is as printed: its meaning changed three times,
    so it is kept for show and never compared. None is "not in the line", which is not zero.
    """

    kind: Literal["decode"] = "decode"
    running: int | None = None
    tokens: int | None = None
    token_usage: float | None = None
    accept_len: float | None = None
    accept_rate: float | None = None
    throughput_tok_s: float | None = None
    queue: int | None = None
    graph: bool | None = None
    iteration: int | None = None
    extra: dict[str, str] = Field(default_factory=dict)


class PrefillStats(LogEvent):
    """A "Prefill batch" line; never feeds the decode figures."""

    kind: Literal["prefill"] = "prefill"
    new_sequences: int | None = None
    new_tokens: int | None = None
    cached_tokens: int | None = None
    token_usage: float | None = None
    running: int | None = None
    queue: int | None = None
    input_throughput_tok_s: float | None = None
    extra: dict[str, str] = Field(default_factory=dict)


class ServerArguments(LogEvent):
    """The `server_args=` line: every argument after the server resolved it, values as text."""

    kind: Literal["server_arguments"] = "server_arguments"
    arguments: dict[str, str]


class ArgumentAdjusted(LogEvent):
    """The server changed or interpreted a requested setting, in its own words.

    `values` holds what can be read from the words (for instance {"speculative_num_draft_tokens": "4"}).
    """

    kind: Literal["argument_adjusted"] = "argument_adjusted"
    text: str
    values: dict[str, str] = Field(default_factory=dict)


class StartupStep(LogEvent):
    """A milestone or progress bar of start-up.

    `phase` is one of init, distributed, weights, draft_weights, kv_cache, graphs, draft_graphs,
    extend_graphs, warmup, ready. Progress in items; times in seconds; memory in GB as printed.
    """

    kind: Literal["startup"] = "startup"
    phase: str
    edge: Literal["begin", "progress", "end"] = "progress"
    detail: str = ""
    done: int | None = None
    total: int | None = None
    elapsed_s: float | None = None
    eta_s: float | None = None


class AdaptiveSwitch(LogEvent):
    """Adaptive speculation changed the step count: samples before and after are different settings."""

    kind: Literal["adaptive_switch"] = "adaptive_switch"
    steps_before: int
    steps_after: int
    draft_tokens_before: int | None = None
    draft_tokens_after: int | None = None


class MemoryPressure(LogEvent):
    """Requests were retracted because the KV pool is full."""

    kind: Literal["memory_pressure"] = "memory_pressure"
    retracted: int | None = None
    text: str = ""


class HttpSeen(LogEvent):
    """Access-log lines since the last such event, by status class; the lines themselves are noise."""

    kind: Literal["http"] = "http"
    ok: int = 0
    client_errors: int = 0
    server_errors: int = 0


class FailureSeen(LogEvent):
    """A failure in the log, gathered from all lines that belong to it."""

    kind: Literal["failure"] = "failure"
    category: str
    title: str
    lines: tuple[str, ...] = ()
    remedy: str = ""
    fatal: bool = True
    in_probe: bool = False
    details: dict[str, str] = Field(default_factory=dict)


class LogLines(LogEvent):
    """Raw lines for the log view, cleaned of control bytes, cut to a bounded length.

    `dropped` counts lines left out of this event because a burst was larger than the view.
    """

    kind: Literal["lines"] = "lines"
    lines: tuple[str, ...]
    dropped: int = 0


class LogNotice(LogEvent):
    """What happened to the log itself: truncated, rotated, vanished, reopened, suppressed lines."""

    kind: Literal["log_notice"] = "log_notice"
    what: str
    detail: str = ""
