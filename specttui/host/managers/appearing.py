"""Find the server that a manager or a command of the user's has just started."""

from __future__ import annotations

import asyncio
from collections.abc import Collection

from specttui.errors import ServerStartError
from specttui.host.discovery import discover
from specttui.host.found import FoundServer
from specttui.host.managers.log_mark import LogMark
from specttui.host.managers.way import WayOptions
from specttui.host.processes import ProcessId
from specttui.host.remote import Remote
from specttui.host.rights import Rights
from specttui.host.start import Started


async def launchers(remote: Remote, port: int, rights: Rights) -> frozenset[tuple[int, int]]:
    """The servers of a port that are there now, as pairs of pid and start ticks."""
    discovery = await discover(remote, port=port or None, sudo=rights.sudo)
    return frozenset((found.pid, found.info.start_ticks) for found in discovery.servers)


async def new_server(
    remote: Remote,
    port: int,
    known: Collection[tuple[int, int]],
    options: WayOptions,
    started_by: str,
    rights: Rights,
) -> FoundServer:
    """Wait for a server that was not there before.

    Args:
        remote: The host.
        port: The port that clients will use; 0 for any.
        known: Those that were there before.
        options: How long to wait.
        started_by: What was to start it, for the message.
        rights: For a server of another user.

    Raises:
        ServerStartError: None appears.
        ConnectionLostError: The connection broke; the server may have started.
    """
    clock = asyncio.get_running_loop().time
    deadline = clock() + options.appear_s
    while True:
        for found in (await discover(remote, port=port or None, sudo=rights.sudo)).servers:
            if (found.pid, found.info.start_ticks) not in known:
                return found
        if clock() > deadline:
            raise ServerStartError(
                "No server appeared",
                cause=f"{started_by} succeeded, but no SGLang server for port {port} came within "
                f"{options.appear_s:.0f} s.",
                remedy="Check what the command starts, and that it takes the arguments it is given.",
            )
        await asyncio.sleep(options.poll_s)


def as_started(found: FoundServer, mark: LogMark) -> Started:
    """A server that a manager started, as one that is waited for until it is ready.

    Args:
        found: The server.
        mark: Where the logs were before it was started.
    """
    launcher: ProcessId = found.tree[0]
    log = found.info.log
    return Started(
        pid=launcher.pid,
        start_ticks=launcher.start_ticks,
        session=found.session,
        port=found.port,
        manager=found.manager,
        user=found.user,
        other_log=(log, mark.start_in(log)),
    )
