"""An SSH connection as a Remote: commands in, bytes out."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager

import asyncssh

from specttui.errors import ConnectionFailedError, RemoteCommandError, SpecttuiError
from specttui.host import shell, ssh_config
from specttui.host.channels import Channels
from specttui.host.dial import Dialed, Dialer
from specttui.host.exchange import Exchange, Process, Stream, in_words
from specttui.host.frame import FrameReader, FrameToken
from specttui.host.login import LoginMemory
from specttui.host.prompts import Prompter
from specttui.host.remote import CommandResult
from specttui.host.target import ConnectOptions, Target

_END_S = 10.0


class NoCommandsError(ConnectionFailedError):
    """The login works, but the account cannot run commands."""


async def connect(
    target: Target,
    prompter: Prompter,
    options: ConnectOptions | None = None,
    memory: LoginMemory | None = None,
) -> Connection:
    """Connect, log in, and make sure that the account can run commands.

    Args:
        target: Where to.
        prompter: Asked about unknown host keys and for secrets.
        options: How to connect; the defaults follow the user's ssh configuration.
        memory: What was answered before, for a reconnect that asks nothing again.

    Raises:
        ConfigError: The ssh configuration cannot be used; names file and line.
        HostKeyUnknownError: The host's key is not on record and was not accepted.
        HostKeyChangedError: The host's key is not the one on record.
        ConnectionFailedError: The host cannot be reached, does not let us in, or runs no commands.
    """
    options = options or ConnectOptions()
    dialed = await Dialer(prompter, options, memory or LoginMemory()).dial(target)
    connection = Connection(dialed, target, options)
    try:
        await connection.probe()
    except BaseException:
        await connection.close()
        raise
    return connection


class Connection:
    """A logged-in host; implements `Remote`. Once lost it stays lost: `Link` makes a new one.

    Attributes:
        user: The account logged in to.
        address: The host name or address connected to, after the ssh configuration.
        port: The SSH port connected to.
        latency_ms: What the first command took, channel included, in milliseconds; None before it.
        start_up_text: What the login shell prints before a command's own output, as far as it was seen.
        notices: What the ssh configuration asks for and does not get, for the user to read once.
    """

    def __init__(self, dialed: Dialed, target: Target, options: ConnectOptions) -> None:
        self._dialed = dialed
        self._name = str(target)
        self._options = options
        self._channels = Channels(dialed.ssh, dialed.login, self._name, options.max_channels)
        self._endings: set[asyncio.Task[None]] = set()
        self.user = dialed.route.user
        self.address = dialed.route.host
        self.port = dialed.route.port
        self.latency_ms: float | None = None
        self.start_up_text = ""
        self.notices = ssh_config.notices(target, options)

    @property
    def name(self) -> str:
        """The host as the user wrote it."""
        return self._name

    @property
    def tried(self) -> tuple[str, ...]:
        """The ways of proving who we are that the login tried, in words; the last one worked."""
        return tuple(self._dialed.login.tried)

    @property
    def channel_limit(self) -> int:
        """Commands that run at a time, as far as the server was found to allow them."""
        return self._channels.limit

    async def try_sftp(self, timeout_s: float = 10.0) -> str:
        """Open and leave a file transfer; gives what kept it from working, "" where it works."""
        try:
            async with asyncio.timeout(timeout_s):
                client = await self._dialed.ssh.start_sftp_client()
                client.exit()
                await client.wait_closed()
        except (asyncssh.Error, OSError, ValueError) as error:
            return str(error) or type(error).__name__
        return ""

    @property
    def lost(self) -> bool:
        """True when the connection is gone, closed by us or not."""
        return self._dialed.login.lost.is_set()

    async def wait_lost(self) -> str:
        """Wait until the connection is gone; gives the cause as far as known."""
        await self._dialed.login.lost.wait()
        return self._dialed.login.lost_cause

    async def close(self) -> None:
        """End running commands, close the connection and what carried it."""
        for task in list(self._endings):
            await task
        await self._channels.close()
        await self._dialed.close()

    async def probe(self) -> None:
        """Run one command that does nothing.

        Raises:
            NoCommandsError: The account cannot run commands; says what came instead.
        """
        started_s = time.monotonic()
        try:
            await self.run(["true"], timeout_s=self._options.probe_timeout_s, check=True)
        except RemoteCommandError as error:
            raise NoCommandsError(
                f"This account cannot run commands on {self._name}",
                cause=error.cause or error.title,
                remedy="Ask for an account with a shell; one for file transfer alone is not enough.",
            ) from error
        self.latency_ms = (time.monotonic() - started_s) * 1000
        self._channels.keep_warm()

    async def run(
        self,
        argv: Sequence[str],
        *,
        stdin: bytes = b"",
        env: Mapping[str, str] | None = None,
        cwd: str | None = None,
        timeout_s: float = 30.0,
        check: bool = False,
    ) -> CommandResult:
        """Run one command to its end; see `Remote.run`."""
        token = FrameToken()
        line = shell.run_line(argv, token, env=env, cwd=cwd)
        exchange = Exchange(argv, token, self._name, self._channels.lost_error)

        async def give_up(process: Process) -> None:
            await exchange.hear_begin(process)
            self._end_in_background(exchange.pid)

        try:
            async with (
                asyncio.timeout(timeout_s),
                self._channels.command(line, give_up=give_up) as process,
            ):
                result = await exchange.run(process, stdin)
                self._channels.heard()
                self.start_up_text = self.start_up_text or exchange.start_up_text
        except TimeoutError:
            raise RemoteCommandError(
                f"A command on {self._name} took longer than {timeout_s:g} s",
                cause=in_words(argv),
                remedy="Check the load of the host and its network drives, then try again.",
            ) from None
        if check and not result.ok:
            raise RemoteCommandError(
                f"A command on {self._name} failed with exit status {result.exit_status}",
                cause=result.stderr.decode("utf-8", "replace").strip() or in_words(argv),
                remedy="Run it by hand on the host to see more.",
            )
        return result

    @asynccontextmanager
    async def stream(
        self, argv: Sequence[str], *, env: Mapping[str, str] | None = None
    ) -> AsyncIterator[AsyncIterator[bytes]]:
        """Run a command that goes on; see `Remote.stream`."""
        token = FrameToken()
        line = shell.stream_line(argv, token, env=env)
        async with self._channels.command(line, goes_on=True) as process:
            stream = Stream(
                process, FrameReader(token), self._name, self._channels.lost_error, self._channels.heard
            )
            try:
                yield stream
            finally:
                await stream.leave()

    def _end_in_background(self, process_group: int | None) -> None:
        """End what a command that we gave up has left running."""
        if process_group is not None and not self.lost:
            task = asyncio.create_task(self._end(process_group))
            self._endings.add(task)
            task.add_done_callback(self._endings.discard)

    async def _end(self, process_group: int) -> None:
        # Nobody waits for this any more; a connection that breaks meanwhile is reported where it is used.
        with contextlib.suppress(SpecttuiError):
            await self.run(shell.end_argv(process_group), timeout_s=_END_S)
