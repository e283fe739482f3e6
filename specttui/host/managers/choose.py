"""Which way a server is restarted: the profile's commands override all, then its manager decides."""

from __future__ import annotations

from specttui.events import Manager, ManagerKind
from specttui.host import manager as managers
from specttui.host.managers.by_command import CommandsWay
from specttui.host.managers.commands import ManagerCommands
from specttui.host.managers.detached import DetachedWay
from specttui.host.managers.overrides import Unit, UnitOverrides
from specttui.host.managers.refused import RefusedWay
from specttui.host.managers.systemd import SystemdWay
from specttui.host.managers.way import Way, WayOptions
from specttui.host.remote import Remote
from specttui.host.rights import Rights
from specttui.host.sudo import Sudo


class Ways:
    """Chooses, and remembers a manager's way from one restart to the next.

    Args:
        remote: The host.
        commands: The profile's own commands.
        options: Limits.
        sudo: For the system's units and for servers of other users.
    """

    def __init__(
        self, remote: Remote, commands: ManagerCommands, options: WayOptions, sudo: Sudo | None = None
    ) -> None:
        self._remote = remote
        self._commands = commands
        self._options = options
        self._units: dict[Unit, SystemdWay] = {}
        self.rights = Rights(remote, sudo)
        self.overrides = UnitOverrides(remote, sudo)

    def way(self, manager: Manager) -> Way:
        """The way for servers of a manager."""
        if self._commands.stop or self._commands.start:
            return CommandsWay(self._remote, self._commands, self._options, self.rights)
        if manager.kind is ManagerKind.SYSTEMD:
            unit = Unit.of(manager)
            if unit not in self._units:
                self._units[unit] = SystemdWay(self._remote, unit, self.overrides, self._options, self.rights)
            return self._units[unit]
        if manager.restarts_by_itself:
            return RefusedWay(self._remote, manager)
        return DetachedWay(self._remote, self._options, self.rights)

    @property
    def starts_by_command(self) -> bool:
        """True where the profile's own command starts the server, whatever is known of it."""
        return bool(self._commands.start)

    def refusal(self, manager: Manager) -> str:
        """Why a restart will be refused, for showing beforehand; "" when it will not."""
        refused = isinstance(self.way(manager), RefusedWay)
        return f"The server is run by {manager.kind.value}. {managers.remedy(manager)}" if refused else ""

    def words(self, manager: Manager) -> tuple[str, ...]:
        """What the user should know beforehand of how a restart goes."""
        if self._commands.stop or self._commands.start:
            parts = [name for name in ("stop", "start") if getattr(self._commands, name)]
            return (f"By the profile's own {' and '.join(parts)} command",)
        if manager.kind is ManagerKind.SYSTEMD:
            return (
                f"The unit {manager.name} gets this command by a drop-in that x or a reboot takes back",
                "While the drop-in is in place, systemd does not restart the server by itself",
            )
        if manager.kind is ManagerKind.TMUX:
            pane = manager.detail or "tmux"
            where = f"{pane} pane {manager.name}".strip() if manager.name else f"a {pane} pane"
            return (f"The server in {where} ends, and with it perhaps the pane; the new one runs detached",)
        return ()
