"""systemd: the unit keeps its server, with another command by a drop-in that restoring takes back."""

from __future__ import annotations

from collections.abc import Mapping

from specttui.errors import ServerManagedError
from specttui.events import Launch, ServerStarting
from specttui.host.managers.appearing import as_started, launchers, new_server
from specttui.host.managers.log_mark import LogMark, mark
from specttui.host.managers.overrides import Unit, UnitOverrides, UnitState
from specttui.host.managers.way import Errand, WayOptions
from specttui.host.remote import Remote
from specttui.host.remote_scripts.systemd_unit import LIVE_VARIABLES
from specttui.host.rights import Rights
from specttui.host.start import OnStart, Started
from specttui.host.stop import EndBy, OnStop, Stoppable, StopReport, stop
from specttui.launch.redact import redact


class SystemdWay:
    """A server that is a unit; implements `Way`.

    Killing it would bring it back with its old arguments, and starting another beside it would make two. So
    the unit is stopped and started by systemd, with our command in a drop-in and `Restart=no`: a start that
    fails is told once, not every ten seconds.

    Args:
        remote: The host.
        unit: The unit.
        overrides: The host's overrides.
        options: Limits.
        rights: For what is left of a server of another user.
    """

    def __init__(
        self, remote: Remote, unit: Unit, overrides: UnitOverrides, options: WayOptions, rights: Rights
    ) -> None:
        self._remote = remote
        self._rights = rights
        self._unit = unit
        self._overrides = overrides
        self._options = options
        self._own = False
        self._found_ours: bool | None = None

    async def prepare(self, errand: Errand) -> None:
        """Put the drop-in in place, or take it back for the launch that the unit itself starts.

        Raises:
            ServerManagedError: This account may not change the unit, or it is none that can be changed.
        """
        state = await self._overrides.look(self._unit)
        self._check(state)
        if self._found_ours is None:
            self._found_ours = state.ours
        self._own = not self._found_ours and _same(errand.launch, errand.base)
        if self._own:
            await self._overrides.undo(self._unit)
        else:
            await self._overrides.write(self._unit, errand.launch, errand.session_id)

    def _check(self, state: UnitState) -> None:
        name, control = self._unit.name, self._unit.control
        by_hand = (
            f"Run `{control} edit {name}` to change its ExecStart and `{control} restart {name}`; or log in "
            "as root, or let this account run sudo without a password."
        )
        if not state.folder:
            raise ServerManagedError(
                f"systemd does not answer for the unit {name}",
                cause=state.complaint or "Its search path has no volatile folder.",
                remedy=by_hand,
            )
        if not state.allowed:
            raise ServerManagedError(
                f"This account may not change the unit {name}",
                cause=f"{state.drop_in} cannot be written.",
                remedy=by_hand,
            )
        if state.properties.get("Transient") == "yes":
            raise ServerManagedError(
                f"The unit {name} is gone once it stops",
                cause="It was made by systemd-run, so there is nothing that could start it again.",
                remedy=f"Run `{control} stop {name}`, start the server in tmux, and look again (f5).",
            )

    async def stop(
        self, server: Stoppable, on_step: OnStop, *, idle_mib: Mapping[int, int] | None = None
    ) -> StopReport:
        """Let systemd stop the unit, and wait for its processes, ports and memory."""
        by = EndBy(f"systemctl stop {self._unit.name}", lambda: self._overrides.stop(self._unit))
        return await stop(
            self._remote,
            server,
            on_step,
            limits=self._options.stop_limits,
            idle_mib=idle_mib,
            by=by,
            through=await self._rights.at_hand(server.user),
        )

    async def start(self, errand: Errand, on_step: OnStart) -> Started:
        """Let systemd start the unit with our command, or with its own."""
        known = await launchers(self._remote, errand.port, self._rights) if self._own else frozenset()
        before = await mark(self._remote, errand.log)
        pid, start_ticks = await self._overrides.start(self._unit)
        if self._own:
            words = f"systemctl start {self._unit.name}"
            found = await new_server(self._remote, errand.port, known, self._options, words, self._rights)
            started = as_started(found, before)
        else:
            started = self._started(pid, start_ticks, errand, before)
        on_step(ServerStarting(pid=started.pid, launch=redact(errand.launch), label=errand.label))
        return started

    def _started(self, pid: int, start_ticks: int, errand: Errand, before: LogMark) -> Started:
        return Started(
            pid=pid,
            start_ticks=start_ticks,
            port=errand.port,
            manager=self._unit.manager,
            user=errand.launch.user,
            other_log=(before.source, before.start),
        )


def _same(launch: Launch, base: Launch | None) -> bool:
    """True for the launch that the session met: what the unit starts by itself."""
    return base is not None and _essence(launch) == _essence(base)


def _essence(launch: Launch) -> tuple[object, ...]:
    """A launch without what systemd says anew at each start."""
    env = {name: value for name, value in launch.env.items() if name not in LIVE_VARIABLES}
    return launch.argv, env, launch.cwd
