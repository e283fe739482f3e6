"""The server: how it was launched, what was found out about it, and what happens to it."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

from pydantic import Field

from specttui.events.base import Event, FileState, Frozen


class Launch(Frozen):
    """Everything needed to start a server again: the unit that `specttui.launch` reads and changes.

    `env` holds the variables that matter or that were changed (never the whole environment in an event).
    In events, secrets in `argv` and `env` are already redacted.
    """

    argv: tuple[str, ...]
    env: dict[str, str] = Field(default_factory=dict)
    cwd: str = ""
    user: str = ""
    log_path: str = ""


class SpecSettings(Frozen):
    """Speculative settings as asked for or as the server resolved them; None is "not given"."""

    algorithm: str | None = None
    num_steps: int | None = None
    eagle_topk: int | None = None
    num_draft_tokens: int | None = None
    draft_model_path: str | None = None
    overlap: bool | None = None

    @property
    def is_baseline(self) -> bool:
        """True when the server decodes without speculation."""
        return self.algorithm is None


class ManagerKind(StrEnum):
    """Who brought the server up, and so who would bring it back."""

    BARE = "bare"
    TMUX = "tmux"
    SYSTEMD = "systemd"
    DOCKER = "docker"
    KUBERNETES = "kubernetes"
    SLURM = "slurm"
    SUPERVISOR = "supervisor"


class Manager(Frozen):
    """The process manager of a server; `name` is its unit, container or job."""

    kind: ManagerKind = ManagerKind.BARE
    name: str = ""
    detail: str = ""

    @property
    def restarts_by_itself(self) -> bool:
        """True when killing the server's processes would bring it back with the old arguments."""
        return self.kind not in {ManagerKind.BARE, ManagerKind.TMUX}


class LogKind(StrEnum):
    """Where the server's output goes."""

    FILE = "file"
    PIPE = "pipe"
    TERMINAL = "terminal"
    DOCKER = "docker"
    JOURNAL = "journal"
    NULL = "null"
    UNKNOWN = "unknown"


class LogSource(Frozen):
    """Where a server's output goes: a path for files, a container or unit name otherwise."""

    kind: LogKind
    path: str = ""
    detail: str = ""


class Worker(Frozen):
    """The speculative worker that runs (or would run) and the file that holds its cycle."""

    family: str = ""
    class_name: str = ""
    path: str = ""
    state: FileState = FileState.UNKNOWN
    sha256: str = ""
    size_bytes: int = 0
    writable: bool = False


class Gpu(Frozen):
    """One GPU as nvidia-smi names it. Memory in MiB, utilisation in percent, power in watts."""

    index: int
    name: str = ""
    memory_total_mib: int = 0
    memory_used_mib: int = 0
    utilisation_percent: float | None = None
    power_w: float | None = None
    temperature_c: float | None = None


class ServerInfo(Frozen):
    """A running SGLang server, as discovered. `start_ticks` with `pid` names the process for good.

    A server that spans hosts has `node_count` launchers, one per host; this one is number `node_rank` from 0.
    """

    pid: int
    start_ticks: int = 0
    launch: Launch
    requested: SpecSettings = Field(default_factory=SpecSettings)
    effective: SpecSettings = Field(default_factory=SpecSettings)
    model_path: str = ""
    host: str = "127.0.0.1"
    port: int = 30000
    tensor_parallel: int = 1
    data_parallel: int = 1
    pipeline_parallel: int = 1
    node_rank: int = 0
    node_count: int = 1
    interpreter: str = ""
    sglang_version: str = ""
    sglang_path: str = ""
    worker: Worker = Field(default_factory=Worker)
    other_workers: tuple[Worker, ...] = ()
    log: LogSource = Field(default_factory=lambda: LogSource(kind=LogKind.UNKNOWN))
    manager: Manager = Field(default_factory=Manager)
    gpus: tuple[Gpu, ...] = ()
    child_pids: tuple[int, ...] = ()


class Diagnosis(Frozen):
    """Why a server failed. `category` is a stable word (oom, bad_flag, port_in_use, nccl, ...)."""

    category: str
    title: str
    cause_lines: tuple[str, ...] = ()
    remedy: str = ""
    rank: str = ""
    in_probe: bool = False


class ServerFound(Event):
    """A running server was discovered."""

    kind: Literal["server_found"] = "server_found"
    server: ServerInfo


class ServerNotFound(Event):
    """The host runs no server that we recognise."""

    kind: Literal["server_not_found"] = "server_not_found"
    reason: str
    remedy: str = ""


class ServerStopping(Event):
    """A step of stopping: `terminate`, `kill`, `port`, `memory`, `stopped`."""

    kind: Literal["server_stopping"] = "server_stopping"
    step: str
    detail: str = ""


class ServerStarting(Event):
    """A server was started by us."""

    kind: Literal["server_starting"] = "server_starting"
    pid: int
    launch: Launch
    label: str = ""


class ServerProgress(Event):
    """A step of start-up. `done` of `total` items of the phase where known.

    `fraction` (0 to 1) and `eta_s` are about the whole start-up, None without earlier starts to learn from.
    """

    kind: Literal["server_progress"] = "server_progress"
    phase: str
    detail: str = ""
    fraction: float | None = None
    done: int | None = None
    total: int | None = None
    elapsed_s: float | None = None
    eta_s: float | None = None
    rank: str = ""


class ServerReady(Event):
    """The server serves: its line was seen, its endpoint answers, and the listener is our process."""

    kind: Literal["server_ready"] = "server_ready"
    pid: int = 0
    elapsed_s: float | None = None


class ServerExited(Event):
    """The server is gone."""

    kind: Literal["server_exited"] = "server_exited"
    pid: int = 0
    exit_code: int | None = None
    expected: bool = False
    detail: str = ""


class ServerFailed(Event):
    """A start failed or a running server broke, with the reason found in its log."""

    kind: Literal["server_failed"] = "server_failed"
    diagnosis: Diagnosis


class WorkerFileChecked(Event):
    """The worker file's state was read or changed."""

    kind: Literal["worker_file"] = "worker_file"
    path: str
    state: FileState
    sha256: str = ""
    original_sha256: str = ""
    backup_path: str = ""
    local_backup_path: str = ""
    size_bytes: int = 0


class GpuSampled(Event):
    """The GPUs' state at one moment."""

    kind: Literal["gpus"] = "gpus"
    gpus: tuple[Gpu, ...]
