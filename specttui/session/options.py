"""What a session is to do, as the command line or a test says it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from specttui.host.target import ConnectOptions, Target


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
    """

    target: Target
    connect: ConnectOptions = field(default_factory=ConnectOptions)
    readonly: bool = False
    server_port: int | None = None
    log_path: str | None = None
    mode: Literal["live", "demo"] = "live"
    name: str = ""
