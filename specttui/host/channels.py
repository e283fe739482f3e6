"""The channels of one SSH connection: few at a time, the rest wait, refusals are met with patience."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress

import asyncssh

from specttui.errors import ConnectionLostError, RemoteCommandError
from specttui.host import shell
from specttui.host.exchange import Process
from specttui.host.login import Login
from specttui.host.warm_shells import WarmShells

_RETRY_S = 0.25
_MAX_LONE_REFUSALS = 8
_CLOSE_S = 5.0
#: A host that was heard so lately is taken to be there: a command is sent without asking for a channel first.
#: Else a channel is opened, since then a broken connection is found before anything was sent. A followed log
#: shows a sign of life every 5 s.
_LATELY_S = 8.0
_ROUNDS = 4
#: What is done with a command that its caller gives up, before its channel is closed.
GiveUp = Callable[[Process], Awaitable[None]]
_SEND_FAILED = 0xFFFFFFFF  # asyncssh's code for a channel that opened and whose command was refused


class NotStartedError(ConnectionLostError):
    """The connection was gone before the command was sent: it did not run."""


class Channels:
    """Opens channels for commands.

    At most `limit` are open; one of them is kept free of commands that go on, so that short ones always get
    through. A server that allows fewer (MaxSessions) refuses: the limit is lowered, and the command waits.
    Room that is left holds shells that wait for the next commands.

    Args:
        ssh: The logged-in connection.
        login: Knows when and why the connection is lost.
        host: The host's name for messages.
        limit: Channels at a time.
    """

    def __init__(self, ssh: asyncssh.SSHClientConnection, login: Login, host: str, limit: int) -> None:
        self._ssh = ssh
        self._login = login
        self._host = host
        self._limit = limit
        self._taken = 0
        self._streams = 0
        self._open = 0
        self._changed = asyncio.Event()
        self._warm = WarmShells(self._open_warm)
        self._keeps_warm = False
        self._room = limit
        self._heard_s = time.time()

    @property
    def limit(self) -> int:
        """Channels that are opened at a time, as far as the server was found to allow them."""
        return self._limit

    def heard(self) -> None:
        """Something came from the host just now."""
        self._heard_s = time.time()

    def keep_warm(self) -> None:
        """Have shells ready for the next commands from now on: the account is known to run commands."""
        self._keeps_warm = True
        self._prepare()

    async def close(self) -> None:
        """Let go of the shells that wait; commands that run are their callers' to end."""
        self._keeps_warm = False
        await self._warm.close()

    @asynccontextmanager
    async def command(
        self, line: str, *, goes_on: bool = False, give_up: GiveUp | None = None
    ) -> AsyncIterator[Process]:
        """Run a login shell's line on a channel of its own; leaving closes the channel.

        Args:
            line: What the login shell is given.
            goes_on: The command does not end by itself.
            give_up: Called when the caller is cancelled, also where the command has just begun and the caller
                does not have it yet.

        Raises:
            ConnectionLostError: The connection is gone.
            RemoteCommandError: The server refuses to open a channel or to run commands.
        """
        async with self._slot(goes_on=goes_on):
            process = await self._begin(line, goes_on=goes_on, give_up=give_up)
            self._open += 1
            try:
                yield process
            except asyncio.CancelledError:
                if give_up is not None:
                    await give_up(process)
                raise
            finally:
                self._open -= 1
                process.close()
                await self._closed(process)

    @asynccontextmanager
    async def _slot(self, *, goes_on: bool) -> AsyncIterator[None]:
        while self._taken >= self._limit or (goes_on and self._streams >= max(1, self._limit - 1)):
            await self._wait_for_change(None)
        self._taken += 1
        self._streams += goes_on
        try:
            yield
        finally:
            self._taken -= 1
            self._streams -= goes_on
            self._changed.set()
            self._prepare()

    async def _wait_for_change(self, seconds: float | None) -> None:
        """Wait until a channel was given back, or for so long."""
        self._changed.clear()
        try:
            async with asyncio.timeout(seconds):
                await self._changed.wait()
        except TimeoutError:
            return

    async def _begin(self, line: str, *, goes_on: bool, give_up: GiveUp | None) -> Process:
        """Give the line to a shell that waits; else start one for it."""
        for _ in range(_ROUNDS):  # a break that is known by now is told to us before anything is sent
            await asyncio.sleep(0)
        process = await self._warm.take()
        if self._login.lost.is_set():
            raise self._not_started()
        # By the wall clock, which goes on while this machine sleeps.
        if process is not None and abs(time.time() - self._heard_s) > _LATELY_S:
            process.close()
            process = None
        if process is None:
            return await self._start(line, goes_on=goes_on, give_up=give_up)
        try:
            process.stdin.write(shell.warm_input(line))
        except (asyncssh.Error, OSError) as error:
            raise self.lost_error() from error
        self._prepare()
        return process

    def _prepare(self) -> None:
        """Start shells for the commands to come, as far as there is room."""
        if self._keeps_warm and not self._login.lost.is_set():
            self._warm.prepare(min(self._limit, self._room) - self._taken - self._warm.count)

    async def _open_warm(self) -> Process | None:
        try:
            return await self._ssh.create_process(
                shell.WARM_LINE, encoding=None, request_pty=False, stderr=asyncssh.PIPE
            )
        except asyncssh.ChannelOpenError:
            # The server allows no more than there are: commands find that out by themselves.
            self._room = min(self._room, self._taken + self._warm.count - 1)
            return None
        except (asyncssh.Error, OSError):
            return None

    async def _start(self, line: str, *, goes_on: bool, give_up: GiveUp | None) -> Process:
        lone_refusals = 0
        while True:
            if self._login.lost.is_set():
                raise self._not_started()
            try:
                return await self._create(line, asyncssh.DEVNULL if goes_on else asyncssh.PIPE, give_up)
            except asyncssh.ChannelOpenError as error:
                lone_refusals += self._open == 0
                self._judge_refusal(error, lone_refusals)
            except (asyncssh.Error, OSError) as error:
                raise self.lost_error() from error  # while the command was sent: nobody knows whether it ran
            await self._wait_for_change(_RETRY_S)

    async def _create(self, line: str, stderr: int, give_up: GiveUp | None) -> Process:
        """Start a command; when it is given up meanwhile, see what became of it before letting go."""

        async def start() -> Process:
            return await self._ssh.create_process(line, encoding=None, request_pty=False, stderr=stderr)

        starting = asyncio.create_task(start())
        try:
            return await asyncio.shield(starting)
        except asyncio.CancelledError:
            with suppress(TimeoutError, asyncssh.Error, OSError):
                async with asyncio.timeout(_CLOSE_S):
                    process = await starting
                    if give_up is not None:
                        await give_up(process)
                    process.close()
            raise

    def _judge_refusal(self, error: asyncssh.ChannelOpenError, lone_refusals: int) -> None:
        """Decide whether to wait after a refusal, or to give up by raising."""
        if self._login.lost.is_set():
            # Before the channel was confirmed nothing was sent.
            raise self.lost_error() if error.code == _SEND_FAILED else self._not_started()
        if error.code == _SEND_FAILED:
            raise RemoteCommandError(
                f"{self._host} does not run commands for this account",
                cause=error.reason,
                remedy="Ask for an account with a shell; one for file transfer alone is not enough.",
            ) from error
        if lone_refusals > _MAX_LONE_REFUSALS:
            raise RemoteCommandError(
                f"{self._host} refuses to open a session",
                cause=error.reason,
                remedy="Check MaxSessions in the server's sshd_config (2 or more), and its load.",
            ) from error
        if self._open >= 2:
            self._limit = min(self._limit, self._open)

    async def _closed(self, process: Process) -> None:
        """Wait for the server's word that the channel is closed: only then does it count as free there."""
        try:
            async with asyncio.timeout(_CLOSE_S):
                await process.wait_closed()
        except TimeoutError:
            return

    def _not_started(self) -> NotStartedError:
        return NotStartedError(
            f"There is no connection to {self._host}",
            cause=f"{self._login.lost_cause} The command was not started.",
            remedy="Wait for the reconnect, or connect again.",
        )

    def lost_error(self) -> ConnectionLostError:
        """The error for a command that was under way when the connection broke."""
        return ConnectionLostError(
            f"The connection to {self._host} was lost",
            cause=f"{self._login.lost_cause} The command may or may not have run.",
            remedy="Wait for the reconnect, then look at what the command left.",
        )
