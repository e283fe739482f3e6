"""A bare SSH client for the demo host's own tests, and waiting for its log."""

from __future__ import annotations

import asyncio
import json
import time
import urllib.request
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import asyncssh

from specttui.demo.host import DemoHost
from specttui.demo.processes import marked_pids

#: Generous: the machine may be busy with other things.
PATIENCE_S = 30.0


@asynccontextmanager
async def login(host: DemoHost, **options: object) -> AsyncIterator[asyncssh.SSHClientConnection]:
    """Log in to a demo host as its user."""
    target = host.demo_target()
    chosen = {
        "username": target.username,
        "client_keys": [str(target.client_key_path)],
        "known_hosts": str(target.known_hosts_path),
        "config": None,
        "agent_path": None,
        **options,
    }
    async with asyncssh.connect(target.host, port=target.port, **chosen) as connection:
        yield connection


async def sh(connection: asyncssh.SSHClientConnection, command: str) -> str:
    """Run a command; its output, stderr included."""
    result = await connection.run(f"{{ {command}\n}} 2>&1", encoding=None)
    assert isinstance(result.stdout, bytes)
    return result.stdout.decode()


async def log_with(host: DemoHost, text: str, *, after: int = 0) -> str:
    """The log from byte `after` on, once `text` is in it."""
    deadline = time.monotonic() + PATIENCE_S
    while True:
        log = host.log_path.read_bytes()[after:].decode() if host.log_path.exists() else ""
        if text in log:
            return log
        assert time.monotonic() < deadline, f"no {text!r} in:\n{log[-4000:]}"
        await asyncio.sleep(0.05)


async def all_gone(demo_id: str) -> bool:
    """True once no process of the demo host is left; False when that takes too long."""
    return await processes_of(demo_id, 0) == 0


async def processes_of(demo_id: str, expected: int) -> int:
    """How many processes the demo host has: the expected number as soon as there are so many.

    A look at one instant may meet one more, between fork and exec or about to end.
    """
    deadline = time.monotonic() + PATIENCE_S
    while True:
        count = len(marked_pids(demo_id))
        if count == expected or time.monotonic() > deadline:
            return count
        await asyncio.sleep(0.05)


async def main_pid(host: DemoHost, connection: asyncssh.SSHClientConnection) -> int:
    """The launcher's pid; the port tells it from other demo hosts' on this machine."""
    return int(
        await sh(connection, f"pgrep -xf 'python3 -m sglang.launch_server .*--port {host.server_port} .*'")
    )


async def fetch(host: DemoHost, path: str, body: dict[str, object] | None = None) -> str:
    """What the simulated server answers."""

    def ask() -> str:
        data = None if body is None else json.dumps(body).encode()
        url = f"http://127.0.0.1:{host.server_port}{path}"
        with urllib.request.urlopen(urllib.request.Request(url, data), timeout=PATIENCE_S) as answer:
            return answer.read().decode()

    return await asyncio.to_thread(ask)
