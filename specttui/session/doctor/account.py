"""The account on the host: whether it runs commands, what its shell says, how many at a time, sftp."""

from __future__ import annotations

import asyncio

from specttui.host.connection import Connection
from specttui.session.doctor.findings import Findings

#: Names what a login is: its shell, and what /bin/sh is.
_SHELLS = (
    'u=$(id -un 2>/dev/null); s=$(getent passwd "$u" 2>/dev/null | cut -d: -f7); '
    'printf "%s\\n%s\\n" "${s:-$SHELL}" "$(readlink -f /bin/sh)"'
)
_HOLD_S = "0.5"
_OVERLAP_TIMEOUT_S = 60.0


async def account(connection: Connection, found: Findings) -> None:
    """Look at the account."""
    latency_ms = connection.latency_ms or 0.0
    found.ok("commands", f"run; the first took {latency_ms:.0f} ms")
    with found.trying("shells"):
        login, sh = ((await connection.run(["sh", "-c", _SHELLS])).text + "\n\n").splitlines()[:2]
        found.ok("shells", f"login shell {login or 'unknown'}, /bin/sh is {sh or 'unknown'}")
    _start_up(connection.start_up_text, found)
    with found.trying("sessions"):
        await _sessions(connection, found)
    complaint = await connection.try_sftp()
    state = f"does not work ({complaint})" if complaint else "works"
    found.info("sftp", f"{state}; it is not needed")


def _start_up(text: str, found: Findings) -> None:
    if not text:
        found.ok("start-up files", "print nothing")
        return
    found.warn(
        "start-up files",
        f"The login shell prints text on start: {' '.join(text.split())[:200]}",
        "Nothing for specttui; sftp and scp may break on it: print only where the shell is interactive.",
    )


async def _sessions(connection: Connection, found: Findings) -> None:
    """Use as many channels as a session ever does, all at a time."""
    wanted = connection.channel_limit
    waits = [connection.run(["sleep", _HOLD_S], timeout_s=_OVERLAP_TIMEOUT_S) for _ in range(wanted)]
    await asyncio.gather(*waits)
    allowed = connection.channel_limit
    if allowed == wanted:
        found.ok("sessions", f"{wanted} commands at a time")
    else:
        found.warn(
            "sessions",
            f"The server allows {allowed} commands at a time; specttui would use {wanted}.",
            "It works with 2, more slowly; raise MaxSessions in the server's sshd_config.",
        )
