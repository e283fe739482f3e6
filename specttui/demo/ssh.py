"""The demo host's SSH server: one user, one key, real subprocesses."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import time
from collections.abc import Mapping
from pathlib import Path

import asyncssh

from specttui.demo.processes import kill

_CHUNK_BYTES = 65536
#: How long a killed command may still hold its output open before its channel is closed regardless.
_CLOSE_GRACE_S = 1.0


class DemoSSHServer:
    """Listens on loopback; runs each command with `/bin/sh -c` in its own process group.

    Args:
        username: The only user who may log in.
        client_key: The only key that may log in.
        environment: Every command's environment.
        home: Every command's working folder.
    """

    def __init__(
        self, username: str, client_key: asyncssh.SSHKey, environment: Mapping[str, str], home: Path
    ) -> None:
        self.username = username
        self.client_key = client_key
        self.host_key = asyncssh.generate_private_key("ssh-ed25519")
        self.connections: set[asyncssh.SSHServerConnection] = set()
        self._environment, self._home = dict(environment), home
        self._refuse_until = 0.0
        self._acceptor: asyncssh.SSHAcceptor | None = None

    @property
    def port(self) -> int:
        """The port it listens on."""
        assert self._acceptor is not None
        return self._acceptor.get_port()

    @property
    def refusing(self) -> bool:
        """True while new connections are dropped at once."""
        return time.monotonic() < self._refuse_until

    async def start(self) -> None:
        """Begin to listen on a free port."""
        self._acceptor = await asyncssh.create_server(
            lambda: _Login(self),
            "127.0.0.1",
            0,
            server_host_keys=[self.host_key],
            process_factory=self._serve,
            encoding=None,
            allow_scp=False,
        )

    async def stop(self) -> None:
        """Stop listening and drop all connections."""
        if self._acceptor is not None:
            self._acceptor.close()
            self.kill_connections()
            await self._acceptor.wait_closed()

    def refuse(self, duration_s: float) -> None:
        """Drop new connections for so many seconds; 0 lets them in again."""
        self._refuse_until = time.monotonic() + duration_s

    def kill_connections(self) -> None:
        """Cut every connection at once, as a pulled cable would."""
        for connection in list(self.connections):
            connection.abort()

    async def _serve(self, process: asyncssh.SSHServerProcess[bytes]) -> None:
        command = process.command
        argv = ["/bin/sh"] if command is None else ["/bin/sh", "-c", command]
        child = await asyncio.create_subprocess_exec(
            *argv,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env={**self._environment, **dict(process.env)},
            cwd=self._home,
            start_new_session=True,
        )
        closed = asyncio.ensure_future(process.channel.wait_closed())
        ran = asyncio.ensure_future(_carry(process, child))
        try:
            await asyncio.wait({closed, ran}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            # A command outlives neither its channel nor the server; what it detached is in another group.
            if child.returncode is None:
                kill(child.pid, signal.SIGKILL, group=True)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(asyncio.gather(ran, return_exceptions=True), _CLOSE_GRACE_S)
            closed.cancel()
        _report(process, await child.wait())


class _Login(asyncssh.SSHServer):
    """One connection's authentication."""

    def __init__(self, server: DemoSSHServer) -> None:
        self._server = server
        self._connection: asyncssh.SSHServerConnection | None = None

    def connection_made(self, conn: asyncssh.SSHServerConnection) -> None:
        """Note the connection, or drop it while refusing."""
        self._connection = conn
        self._server.connections.add(conn)
        if self._server.refusing:
            conn.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        del exc
        if self._connection is not None:
            self._server.connections.discard(self._connection)

    def begin_auth(self, username: str) -> bool:
        """Everybody must authenticate."""
        del username
        return True

    def public_key_auth_supported(self) -> bool:
        """Keys are the only way in."""
        return True

    def validate_public_key(self, username: str, key: asyncssh.SSHKey) -> bool:
        """True for the demo's user with the demo's key."""
        ours = self._server.client_key.export_public_key()
        return username == self._server.username and key.export_public_key() == ours


async def _carry(process: asyncssh.SSHServerProcess[bytes], child: asyncio.subprocess.Process) -> None:
    """Carry bytes both ways until the command's output ends."""
    assert child.stdout is not None
    assert child.stderr is not None
    feeding = asyncio.ensure_future(_feed(process, child))
    try:
        await asyncio.gather(_drain(child.stdout, process.stdout), _drain(child.stderr, process.stderr))
        await child.wait()
    finally:
        feeding.cancel()


async def _feed(process: asyncssh.SSHServerProcess[bytes], child: asyncio.subprocess.Process) -> None:
    """The client's input into the command; signals to its process group."""
    assert child.stdin is not None
    with contextlib.suppress(ConnectionError, asyncssh.Error):
        while True:
            try:
                data = await process.stdin.read(_CHUNK_BYTES)
            except asyncssh.SignalReceived as received:
                kill(child.pid, _signal_number(received.signal), group=True)
                continue
            except (asyncssh.BreakReceived, asyncssh.TerminalSizeChanged):
                continue
            if not data:
                break
            child.stdin.write(data)
            await child.stdin.drain()
    child.stdin.close()


async def _drain(source: asyncio.StreamReader, sink: asyncssh.SSHWriter[bytes]) -> None:
    """One output of the command to the client."""
    with contextlib.suppress(ConnectionError, asyncssh.Error):
        while data := await source.read(_CHUNK_BYTES):
            sink.write(data)
            await sink.drain()


def _signal_number(name: str) -> int:
    return signal.Signals[f"SIG{name.removeprefix('SIG')}"].value


def _report(process: asyncssh.SSHServerProcess[bytes], returncode: int) -> None:
    """Tell the client how the command ended."""
    if returncode < 0:
        process.exit_with_signal(signal.Signals(-returncode).name.removeprefix("SIG"))
    else:
        process.exit(returncode)
