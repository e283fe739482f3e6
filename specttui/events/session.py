"""The session itself: its life, its connection, its commands, its runs."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from specttui.events.base import Clock, Event, Severity
from specttui.events.server import Launch, SpecSettings


class SessionStarted(Event):
    """A session begins. `mode` is live or demo; a replay plays the original's events.

    `nodes` names the hosts of a server that spans several, in the order of the command line; the events of
    each carry its name, those of the session as a whole `target`. It is empty for a single host.
    """

    kind: Literal["session_started"] = "session_started"
    session_id: str
    target: str
    specttui_version: str
    mode: Literal["live", "demo", "log"] = "live"
    nodes: tuple[str, ...] = ()


class NodesArranged(Event):
    """Which node of the server each host is: `nodes[i]` runs `--node-rank` i; the first answers clients."""

    kind: Literal["nodes_arranged"] = "nodes_arranged"
    nodes: tuple[str, ...]


class SessionEnded(Event):
    """A session ends."""

    kind: Literal["session_ended"] = "session_ended"
    reason: str = ""


class ConnectionUp(Event):
    """The connection to the host stands."""

    kind: Literal["connection_up"] = "connection_up"
    user: str = ""
    address: str = ""
    port: int = 22
    latency_ms: float | None = None
    reconnected: bool = False


class ConnectionDown(Event):
    """The connection to the host is gone."""

    kind: Literal["connection_down"] = "connection_down"
    reason: str


class ConnectionRetrying(Event):
    """Another attempt follows after `delay_s` seconds."""

    kind: Literal["connection_retrying"] = "connection_retrying"
    attempt: int
    delay_s: float
    reason: str = ""


class RunStarted(Event):
    """A configuration begins to serve: everything until RunEnded belongs to it.

    `label` is short ("baseline", "steps 2, LL"); `changes` are the edits against the run before, in words.
    """

    kind: Literal["run_started"] = "run_started"
    run_id: int
    label: str
    launch: Launch
    settings: SpecSettings = Field(default_factory=SpecSettings)
    changes: tuple[str, ...] = ()


class RunEnded(Event):
    """The configuration stopped serving."""

    kind: Literal["run_ended"] = "run_ended"
    run_id: int
    reason: str = ""


class CommandStarted(Event):
    """A command of the user's began. `detail` says what it does to the host, in words or as a command."""

    kind: Literal["command_started"] = "command_started"
    command_id: int
    name: str
    detail: str = ""


class CommandFinished(Event):
    """A command ended well."""

    kind: Literal["command_finished"] = "command_finished"
    command_id: int
    name: str
    detail: str = ""


class CommandFailed(Event):
    """A command failed; nothing is lost, and `remedy` says what to do."""

    kind: Literal["command_failed"] = "command_failed"
    command_id: int
    name: str
    title: str
    cause: str = ""
    remedy: str = ""


class NoteAdded(Event):
    """A note of the user's, for the report."""

    kind: Literal["note"] = "note"
    text: str


class Alert(Event):
    """Something the user should know, with what to do about it."""

    kind: Literal["alert"] = "alert"
    severity: Severity
    message: str
    remedy: str = ""


class ProbeCostMeasured(Event):
    """What the probe costs: cycle times with it on and off in turn, from SGLang's own log lines.

    `change` is on / off - 1 over `pairs` pairs, `low` and `high` its 95 % interval; times in ms.
    """

    kind: Literal["probe_cost"] = "probe_cost"
    clock: Clock
    pairs: int
    cycle_on_ms: float
    cycle_off_ms: float
    change: float
    low: float
    high: float


class DeviceTimersSampled(Event):
    """SGLang's own device timers (0.5.11 and newer, where switched on), since the run's start.

    `gpu_s` maps a category (target_verify, eagle_draft, ...) to GPU seconds, `cycles` counts the decode
    cycles that the probe saw in the same time.
    """

    kind: Literal["device_timers"] = "device_timers"
    gpu_s: dict[str, float]
    cycles: int


class LoadStarted(Event):
    """The load driver begins to send requests."""

    kind: Literal["load_started"] = "load_started"
    load_id: int
    concurrency: int
    requests: int
    max_new_tokens: int
    prompts: str = "bundled"


class LoadProgressed(Event):
    """So many of the load's requests are done."""

    kind: Literal["load_progress"] = "load_progress"
    load_id: int
    done: int
    failed: int = 0


class LoadFinished(Event):
    """The load ended. Times in ms over requests; throughput is client wall-clock, not the server's."""

    kind: Literal["load_finished"] = "load_finished"
    load_id: int
    concurrency: int
    done: int
    failed: int
    elapsed_s: float
    client_tok_s: float | None = None
    median_ttft_ms: float | None = None
    median_tpot_ms: float | None = None
    mean_accept_length: float | None = None
    error: str = ""
