"""Where a session looks for its server, and how."""

from __future__ import annotations

from functools import partial

from specttui.host.discovery import discover
from specttui.host.found import Discovery
from specttui.host.remote import Remote
from specttui.host.sudo import Sudo
from specttui.probe.inspection import inspect
from specttui.session.options import SessionOptions


class Finder:
    """Discovery with one host's options.

    Args:
        remote: The host.
        options: Which server and which log, where the user said so.
        sudo: For servers of other users.
    """

    def __init__(self, remote: Remote, options: SessionOptions, sudo: Sudo | None = None) -> None:
        self._options = options
        self._discover = partial(
            discover, remote, inspect_source=partial(inspect, targets=options.targets), sudo=sudo
        )

    async def wanted(self, *, ask: bool) -> Discovery:
        """The servers that the session may be about.

        Args:
            ask: Ask for sudo's password where another user's server cannot be read without it.
        """
        return await self._discover(port=self._options.server_port, log_path=self._options.log_path, ask=ask)

    async def started(self, port: int, log_path: str | None) -> Discovery:
        """The server that was started for this port, whose log is followed already; asks nobody."""
        return await self._discover(port=port, log_path=log_path)
