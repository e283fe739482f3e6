"""What a session is to do, as the command line or a test says it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from specttui.config import SudoMode
from specttui.host.managers import NO_COMMANDS, ManagerCommands
from specttui.host.readiness import DEFAULT_READY_LIMITS, ReadyLimits
from specttui.host.stop import DEFAULT_STOP_LIMITS, StopLimits
from specttui.host.target import ConnectOptions, Target
from specttui.probe.targets import TARGETS
from specttui.probe.targets import Target as ProbeTarget


@dataclass(frozen=True, slots=True)
class SessionOptions:
    """What a session is to do.

    Attributes:
        target: The host.
        connect: How to connect.
        readonly: Refuse every command that changes the host.
        server_port: The server to look at, where several run.
        log_path: The server's log, where discovery cannot tell.
        mode: live, or demo for the simulated host.
        name: The host's name for people; the target's own when empty.
        via: The program on the host through which everything goes (`docker exec -i NAME`); none when empty.
        sudo: Whether files that the account may not write are written through sudo.
        targets: The workers that the probe knows, the user's own first.
        commands: The host's own commands to stop, start and follow the server.
        roll_back: Start the last good launch by itself when another one does not come up.
        ready_limits: How long a start may take.
        stop_limits: How long stopping may take.
    """

    target: Target
    connect: ConnectOptions = field(default_factory=ConnectOptions)
    readonly: bool = False
    server_port: int | None = None
    log_path: str | None = None
    mode: Literal["live", "demo"] = "live"
    name: str = ""
    via: tuple[str, ...] = ()
    sudo: SudoMode = "auto"
    targets: tuple[ProbeTarget, ...] = TARGETS
    commands: ManagerCommands = NO_COMMANDS
    roll_back: bool = False
    ready_limits: ReadyLimits = DEFAULT_READY_LIMITS
    stop_limits: StopLimits = DEFAULT_STOP_LIMITS

    @property
    def shown_name(self) -> str:
        """The host as people call it."""
        return self.name or str(self.target)
