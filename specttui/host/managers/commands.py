"""The user's own commands for a server's life, from the host's profile: they override everything else."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ManagerCommands:
    """Commands as argv, run on the host as they are; an empty one is not given.

    Attributes:
        stop: Ends the server; it is waited for.
        start: Starts the server and returns. It is told what to run by the variables
            SPECTTUI_ARGV_JSON and SPECTTUI_ENV_FILE; see docs/restarting.md.
        log: Prints the server's log for ever, new lines only.
    """

    stop: tuple[str, ...] = ()
    start: tuple[str, ...] = ()
    log: tuple[str, ...] = ()


#: A host whose servers are stopped and started by us.
NO_COMMANDS = ManagerCommands()
