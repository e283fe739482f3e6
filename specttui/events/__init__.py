"""Events are the only truth: everything on the screen and in a report is a fold over them.

Parsers and commands make events; the session puts each into an `Envelope` with its times and host, appends
it to the recording and folds it into the state. Format version 1.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, TypeAdapter

from specttui.events.base import (
    CYCLE_PHASES,
    PART_OF,
    Clock,
    Event,
    FileState,
    Frozen,
    Phase,
    Severity,
)
from specttui.events.logs import (
    AdaptiveSwitch,
    ArgumentAdjusted,
    DecodeStats,
    FailureSeen,
    HttpSeen,
    LogEvent,
    LogLines,
    LogNotice,
    MemoryPressure,
    PrefillStats,
    ServerArguments,
    StartupStep,
)
from specttui.events.probe import (
    PROBE_PREFIX,
    PROBE_VERSION,
    ProbeClockChanged,
    ProbeCycles,
    ProbeError,
    ProbeEvent,
    ProbeInstalled,
    ProbePrefill,
    ProbeSummary,
)
from specttui.events.server import (
    Diagnosis,
    Gpu,
    GpuSampled,
    Launch,
    LogKind,
    LogSource,
    Manager,
    ManagerKind,
    ServerExited,
    ServerFailed,
    ServerFound,
    ServerInfo,
    ServerNotFound,
    ServerProgress,
    ServerReady,
    ServerStarting,
    ServerStopping,
    SpecSettings,
    Worker,
    WorkerFileChecked,
)
from specttui.events.session import (
    Alert,
    CommandFailed,
    CommandFinished,
    CommandStarted,
    ConnectionDown,
    ConnectionRetrying,
    ConnectionUp,
    DeviceTimersSampled,
    LoadFinished,
    LoadProgressed,
    LoadStarted,
    NodesArranged,
    NoteAdded,
    ProbeCostMeasured,
    RunEnded,
    RunStarted,
    SessionEnded,
    SessionStarted,
)

#: The version of the recording's format, in every envelope.
EVENTS_VERSION = 1

AnyEvent = Annotated[
    SessionStarted
    | SessionEnded
    | ConnectionUp
    | ConnectionDown
    | ConnectionRetrying
    | ServerFound
    | ServerNotFound
    | ServerStopping
    | ServerStarting
    | ServerProgress
    | ServerReady
    | ServerExited
    | ServerFailed
    | WorkerFileChecked
    | GpuSampled
    | DecodeStats
    | PrefillStats
    | ServerArguments
    | ArgumentAdjusted
    | StartupStep
    | AdaptiveSwitch
    | MemoryPressure
    | HttpSeen
    | FailureSeen
    | LogLines
    | LogNotice
    | ProbeInstalled
    | ProbeCycles
    | ProbePrefill
    | ProbeSummary
    | ProbeClockChanged
    | ProbeError
    | RunStarted
    | RunEnded
    | CommandStarted
    | CommandFinished
    | CommandFailed
    | NodesArranged
    | NoteAdded
    | Alert
    | LoadStarted
    | LoadProgressed
    | LoadFinished
    | ProbeCostMeasured
    | DeviceTimersSampled,
    Field(discriminator="kind"),
]


class Envelope(Frozen):
    """One event with its circumstances; one line of a recording.

    `at` is the wall time in seconds since 1970 UTC, `offset_s` the monotonic time since the session's
    start, `host` where it happened ("" for the session itself).
    """

    v: int = EVENTS_VERSION
    at: float
    offset_s: float
    host: str = ""
    event: AnyEvent


#: Validates and reads the events of our probe's lines.
PROBE_EVENT: TypeAdapter[
    ProbeInstalled | ProbeCycles | ProbePrefill | ProbeSummary | ProbeClockChanged | ProbeError
] = TypeAdapter(
    Annotated[
        ProbeInstalled | ProbeCycles | ProbePrefill | ProbeSummary | ProbeClockChanged | ProbeError,
        Field(discriminator="kind"),
    ]
)

__all__ = [
    "CYCLE_PHASES", "EVENTS_VERSION", "PART_OF", "PROBE_EVENT", "PROBE_PREFIX", "PROBE_VERSION",
    "AdaptiveSwitch", "Alert", "AnyEvent", "ArgumentAdjusted", "Clock", "CommandFailed", "CommandFinished",
    "CommandStarted", "ConnectionDown", "ConnectionRetrying", "ConnectionUp", "DecodeStats",
    "DeviceTimersSampled", "Diagnosis",
    "Envelope", "Event", "FailureSeen", "FileState", "Frozen", "Gpu", "GpuSampled", "HttpSeen", "Launch",
    "LoadFinished", "LoadProgressed", "LoadStarted", "LogEvent", "LogKind", "LogLines", "LogNotice",
    "LogSource", "Manager", "ManagerKind", "MemoryPressure", "NodesArranged", "NoteAdded", "Phase",
    "PrefillStats",
    "ProbeClockChanged", "ProbeCostMeasured", "ProbeCycles", "ProbeError", "ProbeEvent",
    "ProbeInstalled", "ProbePrefill",
    "ProbeSummary", "RunEnded", "RunStarted", "ServerArguments", "ServerExited", "ServerFailed",
    "ServerFound",
    "ServerInfo", "ServerNotFound", "ServerProgress", "ServerReady", "ServerStarting", "ServerStopping",
    "SessionEnded", "SessionStarted", "Severity", "SpecSettings", "StartupStep", "Worker",
    "WorkerFileChecked",
]  # fmt: skip
