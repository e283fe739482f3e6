"""Ways to stop and start a server: by ourselves, through its service manager, by the user's commands."""

from __future__ import annotations

from specttui.host.managers.commands import NO_COMMANDS, ManagerCommands

__all__ = ["NO_COMMANDS", "ManagerCommands"]
