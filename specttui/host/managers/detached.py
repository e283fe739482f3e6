"""The plain way: end the processes, start a new server detached from any terminal."""

from __future__ import annotations

from collections.abc import Mapping

from specttui.host.managers.way import Errand, WayOptions
from specttui.host.remote import Remote
from specttui.host.start import OnStart, Started, start
from specttui.host.stop import OnStop, Stoppable, StopReport, stop


class DetachedWay:
    """Servers that nobody brings back; implements `Way`.

    Args:
        remote: The host.
        options: Limits.
    """

    def __init__(self, remote: Remote, options: WayOptions) -> None:
        self._remote = remote
        self._options = options

    async def prepare(self, errand: Errand) -> None:
        """Nothing is needed beforehand."""

    async def stop(
        self, server: Stoppable, on_step: OnStop, *, idle_mib: Mapping[int, int] | None = None
    ) -> StopReport:
        """Stop a server by signals to its processes."""
        limits = self._options.stop_limits
        return await stop(self._remote, server, on_step, limits=limits, idle_mib=idle_mib)

    async def start(self, errand: Errand, on_step: OnStart) -> Started:
        """Start a server in a session of its own."""
        return await start(
            self._remote,
            errand.launch,
            errand.session_id,
            on_step,
            port=errand.port,
            label=errand.label,
        )
