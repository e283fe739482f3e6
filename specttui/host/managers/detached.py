"""The plain way: end the processes, start a new server detached from any terminal."""

from __future__ import annotations

from collections.abc import Mapping

from specttui.host.managers.way import Errand, WayOptions
from specttui.host.other_user import OtherUser
from specttui.host.remote import Remote
from specttui.host.rights import Rights
from specttui.host.start import OnStart, Started, before_start, start
from specttui.host.stop import OnStop, Stoppable, StopReport, stop


class DetachedWay:
    """Servers that nobody brings back; implements `Way`.

    Args:
        remote: The host.
        options: Limits.
        rights: For servers of other users.
    """

    def __init__(self, remote: Remote, options: WayOptions, rights: Rights) -> None:
        self._remote = remote
        self._options = options
        self._rights = rights
        self._through: OtherUser | None = None

    async def prepare(self, errand: Errand) -> None:
        """See that another user's server can be stopped and started; our own needs nothing beforehand.

        Raises:
            LaunchError: It cannot; nothing was done.
        """
        self._through = await before_start(self._remote, errand.launch, self._rights)

    async def stop(
        self, server: Stoppable, on_step: OnStop, *, idle_mib: Mapping[int, int] | None = None
    ) -> StopReport:
        """Stop a server by signals to its processes.

        Raises:
            LaunchError: This account may not signal them, and cannot become their user.
        """
        return await stop(
            self._remote,
            server,
            on_step,
            limits=self._options.stop_limits,
            idle_mib=idle_mib,
            through=await self._rights.of(server.user),
        )

    async def start(self, errand: Errand, on_step: OnStart) -> Started:
        """Start a server in a session of its own."""
        return await start(
            self._remote,
            errand.launch,
            errand.session_id,
            on_step,
            port=errand.port,
            label=errand.label,
            through=self._through,
        )
