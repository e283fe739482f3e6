"""Options and files for logging in to a test server, with nothing of the machine's own."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Protocol

from specttui.host.connection import Connection, connect
from specttui.host.target import ConnectOptions, Target
from support.prompters import ScriptedPrompter


class Server(Protocol):
    """What Sshd and SshServer have in common."""

    @property
    def port(self) -> int:
        """Where it listens on 127.0.0.1."""
        ...

    def known_hosts_line(self) -> str:
        """The line of known_hosts that trusts it."""
        ...


def target_of(server: Server, user: str = "engineer") -> Target:
    """The server as a target."""
    return Target("127.0.0.1", user, server.port)


def options_for(server: Server, folder: Path, *keys: Path, **changes: object) -> ConnectOptions:
    """Options that know the server's host key and these client keys, and nothing else."""
    known_hosts = folder / "known_hosts"
    folder.mkdir(parents=True, exist_ok=True)
    known_hosts.write_text(server.known_hosts_line())
    options = ConnectOptions(
        use_ssh_config=False, client_keys=keys, use_agent=False, known_hosts_paths=(known_hosts,)
    )
    return replace(options, **changes)


@asynccontextmanager
async def connected(
    server: Server, options: ConnectOptions, prompter: ScriptedPrompter | None = None
) -> AsyncIterator[Connection]:
    """A connection as `engineer`, closed at the end."""
    connection = await connect(target_of(server), prompter or ScriptedPrompter(), options)
    try:
        yield connection
    finally:
        await connection.close()
