"""asyncssh's server on loopback, with a scratch home, running real commands through a chosen shell."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

import asyncssh


@dataclass
class SshServer:
    """A running server; `async with SshServer(folder, ...) as server:`.

    Args:
        folder: Where its scratch home goes.
        authorized_keys: Public key files of who may log in; any user name will do.
        password: Also lets in whoever knows it.
        challenges: Rounds of keyboard-interactive login: each a tuple of (prompt, echo, right answer).
        shell: Program that plays the login shell.
        exec_allowed: False for an account that may only transfer files: commands end at once, unrun.
        start_up_text: What the shell's start-up files print, on both outputs, before every command.
        environment: Variables that its logins find, besides HOME, PATH and SHELL.
        host_key: Its host key; a new one unless given.
        port: Where to listen on 127.0.0.1; 0 for any.

    `logins` counts those that succeeded; `most_commands` is how many channels were open at a time, at most.
    """

    folder: Path
    authorized_keys: tuple[Path, ...] = ()
    password: str | None = None
    challenges: tuple[tuple[tuple[str, bool, str], ...], ...] = ()
    shell: str = "/bin/sh"
    exec_allowed: bool = True
    start_up_text: bytes = b""
    environment: dict[str, str] = field(default_factory=dict)
    host_key: asyncssh.SSHKey = field(default_factory=lambda: asyncssh.generate_private_key("ssh-ed25519"))
    port: int = 0
    logins: int = 0
    most_commands: int = 0
    connections: list[asyncssh.SSHServerConnection] = field(default_factory=list)
    _processes: list[asyncssh.SSHServerProcess[bytes]] = field(default_factory=list)
    _serving: set[asyncio.Task[None]] = field(default_factory=set)
    _children: set[asyncio.subprocess.Process] = field(default_factory=set)

    @property
    def home(self) -> Path:
        """The scratch home of those who log in."""
        return self.folder / "home"

    def known_hosts_line(self) -> str:
        """The line of known_hosts that trusts it."""
        return f"[127.0.0.1]:{self.port} {self.host_key.export_public_key().decode()}"

    async def __aenter__(self) -> Self:
        self.home.mkdir(parents=True, exist_ok=True)
        await self.listen()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    async def listen(self) -> None:
        """Start to listen, on the same port as before if there was one."""
        keys = [asyncssh.read_public_key(path) for path in self.authorized_keys]
        self._acceptor = await asyncssh.create_server(
            lambda: _Server(self),
            "127.0.0.1",
            self.port,
            server_host_keys=[self.host_key],
            authorized_client_keys=asyncssh.import_authorized_keys(
                "".join(key.export_public_key().decode() for key in keys)
            )
            if keys
            else None,
            process_factory=self._serve,
            encoding=None,
        )
        self.port = self._acceptor.get_port()

    async def stop(self) -> None:
        """Stop listening, break every connection and end every command, as a host that goes down."""
        self._acceptor.close()
        self.drop()
        await self._acceptor.wait_closed()
        for child in self._children:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGKILL)
        if self._serving:
            await asyncio.wait(self._serving)

    def drop(self) -> None:
        """Break every connection; new ones are taken."""
        for connection in self.connections:
            connection.abort()
        self.connections.clear()

    async def _serve(self, process: asyncssh.SSHServerProcess[bytes]) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._serving.add(task)
        self._processes.append(process)
        open_now = sum(not each.is_closing() for each in self._processes)
        self.most_commands = max(self.most_commands, open_now)
        try:
            await self._run(process)
        finally:
            self._serving.discard(task)

    async def _run(self, process: asyncssh.SSHServerProcess[bytes]) -> None:
        if not self.exec_allowed:
            process.exit(1)
            return
        if self.start_up_text:
            process.stdout.write(self.start_up_text)
            process.stderr.write(self.start_up_text)
        child = await asyncio.create_subprocess_exec(
            self.shell,
            "-c",
            process.command or "",
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            cwd=self.home,
            env={"HOME": str(self.home), "PATH": os.environ["PATH"], "SHELL": self.shell, **self.environment},
            start_new_session=True,
        )
        self._children.add(child)
        feeder = asyncio.create_task(_feed(process, child.stdin))
        try:
            await asyncio.gather(_pump(child.stdout, process.stdout), _pump(child.stderr, process.stderr))
            status = await child.wait()
        finally:
            self._children.discard(child)
            feeder.cancel()
            await asyncio.wait([feeder])
        if status < 0:
            process.exit_with_signal(signal.Signals(-status).name.removeprefix("SIG"))
        else:
            process.exit(status)


async def _feed(process: asyncssh.SSHServerProcess[bytes], child: asyncio.StreamWriter) -> None:
    """Until the client closes its side; a command's input is closed also when the channel breaks."""
    try:
        while data := await process.stdin.read(65536):
            child.write(data)
            await child.drain()
    except (asyncssh.Error, OSError):
        pass
    finally:
        child.close()


async def _pump(source: asyncio.StreamReader, sink: asyncssh.SSHWriter[bytes]) -> None:
    """All of an output; one that nobody takes any more is read to its end all the same."""
    while data := await source.read(65536):
        with contextlib.suppress(asyncssh.Error, OSError):
            sink.write(data)
            await sink.drain()


class _Server(asyncssh.SSHServer):
    def __init__(self, server: SshServer) -> None:
        self._server = server
        self._round = 0

    def connection_made(self, conn: asyncssh.SSHServerConnection) -> None:
        self._server.connections.append(conn)

    def auth_completed(self) -> None:
        self._server.logins += 1

    def begin_auth(self, username: str) -> bool:
        return True

    def password_auth_supported(self) -> bool:
        return self._server.password is not None

    def validate_password(self, username: str, password: str) -> bool:
        return password == self._server.password

    def kbdint_auth_supported(self) -> bool:
        return bool(self._server.challenges)

    def get_kbdint_challenge(self, username: str, lang: str, submethods: str):
        self._round = 0
        return self._challenge()

    def validate_kbdint_response(self, username: str, responses):
        expected = [answer for _, _, answer in self._server.challenges[self._round]]
        if list(responses) != expected:
            return False
        self._round += 1
        return True if self._round == len(self._server.challenges) else self._challenge()

    def _challenge(self):
        prompts = [(prompt, echo) for prompt, echo, _ in self._server.challenges[self._round]]
        return f"Round {self._round + 1}", "Second factor", "", prompts
