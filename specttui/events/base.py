"""What every event is built on, and the words shared by all of them."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import BaseModel, ConfigDict, PlainSerializer


class Frozen(BaseModel):
    """An immutable value that refuses unknown fields; base of events and of what they carry."""

    model_config = ConfigDict(frozen=True, extra="forbid", ser_json_inf_nan="null")


class Event(Frozen):
    """Base of every event. Each subclass has a literal `kind`, which tells them apart in JSON."""


class Phase(StrEnum):
    """A part of the decode cycle, or of prefill, in the words of the field.

    `TARGET_FORWARD` and `ACCEPT` lie inside `VERIFY`; the prefill phases lie outside the cycle; `OTHER`
    is never measured but is the cycle minus its phases.
    """

    DRAFT = "draft"
    VERIFY = "verify"
    TARGET_FORWARD = "target_forward"
    ACCEPT = "accept"
    DRAFT_EXTEND = "draft_extend"
    KV = "kv"
    OTHER = "other"
    PREFILL_TARGET = "prefill_target"
    PREFILL_DRAFT = "prefill_draft"


#: The phases that add up, with `OTHER`, to the cycle.
CYCLE_PHASES = (Phase.DRAFT, Phase.VERIFY, Phase.DRAFT_EXTEND)
#: Parts of a phase, shown beneath it and never added to it.
PART_OF = {Phase.TARGET_FORWARD: Phase.VERIFY, Phase.ACCEPT: Phase.VERIFY}


class Clock(StrEnum):
    """How the probe measures: GPU events, the CPU's clock, CPU clock around synchronisations, or not."""

    EVENTS = "events"
    WALL = "wall"
    SYNC = "sync"
    OFF = "off"


class FileState(StrEnum):
    """What a worker file is: as installed, with our complete block, or changed by somebody else."""

    ORIGINAL = "original"
    PATCHED = "patched"
    FOREIGN = "foreign"
    UNKNOWN = "unknown"


class Severity(StrEnum):
    """How much an alert matters."""

    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


#: A time in milliseconds, written with a microsecond's precision so that recordings stay small.
Milliseconds = Annotated[float, PlainSerializer(lambda value: round(value, 3), return_type=float)]
