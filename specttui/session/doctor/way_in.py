"""From here into the host: this machine, the ssh configuration, name, port, host key, login."""

from __future__ import annotations

import asyncio
import socket
import sys
import time

from specttui.errors import (
    ConfigError,
    ConnectionFailedError,
    HostKeyChangedError,
    HostKeyUnknownError,
    SpecttuiError,
)
from specttui.host import ssh_config
from specttui.host.connection import Connection, NoCommandsError, connect
from specttui.host.failures import LoginRefusedError
from specttui.host.prompts import Prompter
from specttui.host.ssh_config import Route
from specttui.session.doctor.findings import Findings
from specttui.session.options import SessionOptions

_BANNER_BYTES = 255
_BANNER_S = 5.0


async def way_in(options: SessionOptions, prompter: Prompter, found: Findings) -> Connection | None:
    """Connect, noting every step; None when one of them failed."""
    this_machine(sys.platform, found)
    route = await _configuration(options, found)
    if route is None or not await _reachable(route, options, found):
        return None
    return await _log_in(options, prompter, found)


def this_machine(platform: str, found: Findings) -> None:
    """What is not supported on this machine (D19).

    Args:
        platform: As `sys.platform` names it.
        found: Takes the findings.
    """
    if platform == "win32":
        found.warn(
            "this machine",
            "Windows: ProxyCommand does not work here, the demo needs Linux, and the ssh agent is used only "
            "when SSH_AUTH_SOCK names its pipe.",
            "Run specttui in WSL, where all of it works; docs/configuration.md has the list.",
        )
    elif platform == "darwin":
        found.info("this machine", "macOS: everything works but the demo, which needs Linux")


async def _configuration(options: SessionOptions, found: Findings) -> Route | None:
    try:
        route = await ssh_config.route(options.target, options.connect)
    except ConfigError as error:
        found.failed("ssh configuration", error)
        return None
    files = ssh_config.config_paths(options.connect)
    read = ", ".join(str(path) for path in files) if files else "none read"
    found.ok("ssh configuration", f"{route.user} at {route.host}, port {route.port} ({read})")
    for notice in ssh_config.notices(options.target, options.connect):
        found.warn("ssh configuration", notice, "Nothing, if it works without; else take the line out.")
    return route


async def _reachable(route: Route, options: SessionOptions, found: Findings) -> bool:
    if route.proxy_jump:
        found.info("name and port", f"reached through {route.proxy_jump}, which looks the name up")
        return True
    if route.proxy_command:
        found.info("name and port", f"reached by ProxyCommand: {route.proxy_command}")
        return True
    return await _name(route, found) and await _port(route, options, found)


async def _name(route: Route, found: Findings) -> bool:
    loop = asyncio.get_running_loop()
    try:
        addresses = await loop.getaddrinfo(route.host, route.port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        found.fail(
            "name",
            f"{route.host} is not known: {getattr(error, 'strerror', None) or error}",
            "Check its spelling, the ssh configuration, and that a VPN it needs is up.",
        )
        return False
    found.ok("name", ", ".join(dict.fromkeys(str(address[4][0]) for address in addresses)))
    return True


async def _port(route: Route, options: SessionOptions, found: Findings) -> bool:
    patience_s = route.connect_timeout_s or options.connect.connect_timeout_s
    started_s = time.monotonic()
    try:
        async with asyncio.timeout(patience_s):
            reader, writer = await asyncio.open_connection(route.host, route.port)
    except (OSError, TimeoutError) as error:
        said = getattr(error, "strerror", None) or str(error) or f"no answer within {patience_s:g} s"
        remedy = (
            "Check that the host is up, its SSH port, and that network, VPN and firewall let you through."
        )
        found.fail("port", f"{route.host}, port {route.port}: {said}", remedy)
        return False
    connected_ms = (time.monotonic() - started_s) * 1000
    banner = await _banner(reader, writer)
    found.ok("port", f"{route.port} open after {connected_ms:.0f} ms; {banner or 'it says nothing'}")
    if "Windows" in banner:
        remedy = (
            "Connect to the Linux host that has the GPUs; on Windows that is often WSL, with its own sshd."
        )
        found.warn("port", "The host runs Windows.", remedy)
    return True


async def _banner(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> str:
    """How the server introduces itself (RFC 4253, section 4.2), "" when it does not."""
    try:
        async with asyncio.timeout(_BANNER_S):
            line = (await reader.read(_BANNER_BYTES)).partition(b"\n")[0]
    except (OSError, TimeoutError):
        line = b""
    writer.close()
    return line.decode("utf-8", "replace").strip()


async def _log_in(options: SessionOptions, prompter: Prompter, found: Findings) -> Connection | None:
    try:
        connection = await connect(options.target, prompter, options.connect)
    except (HostKeyUnknownError, HostKeyChangedError) as error:
        found.failed("host key", error)
    except LoginRefusedError as error:
        found.ok("host key", "the one on record")
        found.failed("authentication", error)
    except NoCommandsError as error:
        found.ok("host key", "the one on record")
        found.ok("authentication", "let in")
        found.failed("commands", error)
    except (ConnectionFailedError, SpecttuiError) as error:
        found.failed("connection", error)
    else:
        found.ok("host key", "the one on record")
        found.ok("authentication", _tried(connection))
        return connection
    return None


def _tried(connection: Connection) -> str:
    if not connection.tried:
        return "let in without proof"
    *before, last = connection.tried
    return f"{last} (refused before: {', '.join(before)})" if before else last
