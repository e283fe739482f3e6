"""Control of servers on one host, as the session sees it."""

from __future__ import annotations

from collections.abc import Mapping

from specttui.events import Gpu, Launch, ServerReady
from specttui.host.gpus import sample_gpus
from specttui.host.readiness import DEFAULT_READY_LIMITS, Readiness, ReadyLimits
from specttui.host.ready import Endpoint, OnProgress, wait_ready
from specttui.host.remote import Remote
from specttui.host.start import OnStart, Started, start
from specttui.host.stop import DEFAULT_STOP_LIMITS, OnStop, StopLimits, Stoppable, StopReport, stop


class ServerControl:
    """Stops, starts and awaits servers through one connection.

    Args:
        remote: The host.
        session_id: For the names of what is left in the host's cache folder.
        stop_limits: How long stopping may take.
        ready_limits: How long starting may take.
    """

    def __init__(
        self,
        remote: Remote,
        session_id: str,
        *,
        stop_limits: StopLimits = DEFAULT_STOP_LIMITS,
        ready_limits: ReadyLimits = DEFAULT_READY_LIMITS,
    ) -> None:
        self._remote = remote
        self._session_id = session_id
        self._stop_limits = stop_limits
        self._ready_limits = ready_limits

    async def stop(
        self, server: Stoppable, on_step: OnStop, *, idle_mib: Mapping[int, int] | None = None
    ) -> StopReport:
        """Stop a server; see `specttui.host.stop.stop`."""
        return await stop(self._remote, server, on_step, limits=self._stop_limits, idle_mib=idle_mib)

    async def start(self, launch: Launch, on_step: OnStart, *, port: int = 0, label: str = "") -> Started:
        """Start a server; see `specttui.host.start.start`."""
        return await start(self._remote, launch, self._session_id, on_step, port=port, label=label)

    async def wait_ready(
        self, started: Started, endpoint: Endpoint, readiness: Readiness, on_step: OnProgress
    ) -> ServerReady:
        """Wait for a started server; see `specttui.host.ready.wait_ready`."""
        return await wait_ready(
            self._remote, started, endpoint, readiness, on_step, limits=self._ready_limits
        )

    async def sample_gpus(self) -> tuple[Gpu, ...]:
        """The GPUs now; see `specttui.host.gpus.sample_gpus`."""
        return await sample_gpus(self._remote)
