"""What a restart needs of whoever manages the server: get ready, stop, start."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from specttui.events import Launch, LogSource
from specttui.host.start import OnStart, Started
from specttui.host.stop import DEFAULT_STOP_LIMITS, OnStop, StopLimits, Stoppable, StopReport


@dataclass(frozen=True, slots=True)
class Errand:
    """What a session's restart is about.

    Attributes:
        launch: The full launch to start, secrets included.
        session_id: For titles and names on the host.
        port: The port that clients will use.
        label: The launch in short words.
        base: The launch that ran when the session met the server; None when none did.
        log: The log that is followed now.
    """

    launch: Launch
    session_id: str
    port: int = 0
    label: str = ""
    base: Launch | None = None
    log: LogSource | None = None


class Way(Protocol):
    """How servers are stopped and started on a host."""

    async def prepare(self, errand: Errand) -> None:
        """Do whatever may fail while the old server still serves.

        Raises:
            ServerManagedError: This server cannot be restarted by us; the remedy says who can.
            LaunchError: This account has not the rights for it.
        """
        ...

    async def stop(
        self, server: Stoppable, on_step: OnStop, *, idle_mib: Mapping[int, int] | None = None
    ) -> StopReport:
        """Stop a server and wait for its ports and memory; see `specttui.host.stop.stop`."""
        ...

    async def start(self, errand: Errand, on_step: OnStart) -> Started:
        """Start a server and return once its process is there; see `specttui.host.start.start`."""
        ...


@dataclass(frozen=True, slots=True)
class WayOptions:
    """What all ways are given.

    Attributes:
        stop_limits: How long stopping may take.
        appear_s: How long a server may take to appear after a command that starts it.
        poll_s: Between two looks for it.
    """

    stop_limits: StopLimits = DEFAULT_STOP_LIMITS
    appear_s: float = 180.0
    poll_s: float = 1.0
