"""Control of servers on one host, as the session sees it."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from specttui.events import Gpu, Launch, LogSource, Manager, ServerReady
from specttui.host.gpus import sample_gpus
from specttui.host.managers import NO_COMMANDS, ManagerCommands
from specttui.host.managers.choose import Ways
from specttui.host.managers.overrides import UnitOverrides
from specttui.host.managers.way import Errand, Way, WayOptions
from specttui.host.readiness import DEFAULT_READY_LIMITS, Readiness, ReadyLimits
from specttui.host.ready import Endpoint, OnProgress, wait_alive, wait_ready
from specttui.host.remote import Remote
from specttui.host.start import OnStart, Started
from specttui.host.stop import DEFAULT_STOP_LIMITS, OnStop, StopLimits, Stoppable, StopReport
from specttui.host.sudo import Sudo


class Restart:
    """One restart: the old server stopped, another launch started, in the way that its manager needs.

    Args:
        way: How.
        errand: What.
        idle_mib: Used memory by GPU index while no server ran; learnt by stopping one.
    """

    def __init__(self, way: Way, errand: Errand, idle_mib: dict[int, int]) -> None:
        self._way = way
        self._errand = errand
        self._idle_mib = idle_mib

    async def prepare(self) -> None:
        """Do whatever may fail while the old server still serves; see `Way.prepare`."""
        await self._way.prepare(self._errand)

    async def stop(self, server: Stoppable, on_step: OnStop) -> StopReport:
        """Stop a server: the old one, or what is left of the new one."""
        report = await self._way.stop(server, on_step, idle_mib=self._idle_mib or None)
        self._idle_mib.update({gpu.index: gpu.memory_used_mib for gpu in report.gpus_after})
        return report

    async def start(self, log: LogSource | None, on_step: OnStart) -> Started:
        """Start the new one.

        Args:
            log: The log that was followed until now.
            on_step: Called once with the redacted launch.
        """
        return await self._way.start(replace(self._errand, log=log), on_step)


class ServerControl:
    """Stops, starts and awaits servers through one connection.

    Args:
        remote: The host.
        session_id: For the names of what is left in the host's cache folder.
        stop_limits: How long stopping may take.
        ready_limits: How long starting may take.
        commands: The host's own commands, which override everything.
        sudo: For what only root or another user may restart.
    """

    def __init__(
        self,
        remote: Remote,
        session_id: str,
        *,
        stop_limits: StopLimits = DEFAULT_STOP_LIMITS,
        ready_limits: ReadyLimits = DEFAULT_READY_LIMITS,
        commands: ManagerCommands = NO_COMMANDS,
        sudo: Sudo | None = None,
    ) -> None:
        self._remote = remote
        self._session_id = session_id
        self._ready_limits = ready_limits
        self._idle_mib: dict[int, int] = {}
        self.ways = Ways(remote, commands, WayOptions(stop_limits=stop_limits), sudo)

    @property
    def overrides(self) -> UnitOverrides:
        """The drop-ins of ours on this host."""
        return self.ways.overrides

    def restart(
        self, manager: Manager, launch: Launch, *, port: int, label: str, base: Launch | None
    ) -> Restart:
        """Begin a restart; nothing is done yet.

        Args:
            manager: Who manages the server that runs, or ran last.
            launch: The full launch to start, secrets included.
            port: The port that clients will use.
            label: The launch in short words.
            base: The launch that ran when the session met the server.
        """
        errand = Errand(launch, self._session_id, port=port, label=label, base=base)
        return Restart(self.ways.way(manager), errand, self._idle_mib)

    async def wait_ready(
        self, started: Started, endpoint: Endpoint, readiness: Readiness, on_step: OnProgress
    ) -> ServerReady:
        """Wait for a started server; see `specttui.host.ready.wait_ready`."""
        closer = await self.ways.rights.at_hand(started.user)
        return await wait_ready(
            self._remote, started, endpoint, readiness, on_step, limits=self._ready_limits, closer=closer
        )

    async def wait_alive(
        self, started: Started, readiness: Readiness, on_step: OnProgress, until: asyncio.Event
    ) -> ServerReady:
        """Look after a node until the server's head is ready; see `specttui.host.ready.wait_alive`."""
        closer = await self.ways.rights.at_hand(started.user)
        return await wait_alive(
            self._remote, started, readiness, on_step, until, limits=self._ready_limits, closer=closer
        )

    async def sample_gpus(self) -> tuple[Gpu, ...]:
        """The GPUs now; see `specttui.host.gpus.sample_gpus`."""
        return await sample_gpus(self._remote)
