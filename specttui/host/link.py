"""A Remote that comes back: one SSH connection at a time, made anew whenever it breaks."""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import random
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

from specttui.errors import (
    ConfigError,
    ConnectionLostError,
    HostKeyChangedError,
    HostKeyUnknownError,
    SpecttuiError,
)
from specttui.host.channels import NotStartedError
from specttui.host.connection import Connection, connect
from specttui.host.failures import LoginRefusedError
from specttui.host.login import LoginMemory
from specttui.host.prompts import Prompter
from specttui.host.remote import CommandResult
from specttui.host.target import ConnectOptions, Target

_STREAM_WAIT_S = 30.0
_MAX_REFUSALS = 3
# What another attempt cannot change, and what must not be tried over and over.
_FINAL = (ConfigError, HostKeyChangedError, HostKeyUnknownError)

OnUp = Callable[[], Awaitable[None] | None]
OnDown = Callable[[str], Awaitable[None] | None]
OnRetry = Callable[[int, float, str], Awaitable[None] | None]


@dataclass(frozen=True, slots=True)
class Backoff:
    """How long to wait before attempt n (from 1): between half and all of `first_s` x `factor` ^ (n - 1).

    The random part keeps many clients from coming back in the same moment.
    """

    first_s: float = 1.0
    factor: float = 2.0
    longest_s: float = 30.0

    def delay_s(self, attempt: int) -> float:
        """Seconds to wait before this attempt."""
        whole_s = min(self.longest_s, self.first_s * self.factor ** min(attempt - 1, 32))
        return whole_s * random.uniform(0.5, 1.0)  # noqa: S311 - spread, not secrecy


class Link:
    """Implements `Remote` over connections that are renewed by themselves.

    A command that was under way when the connection broke raises ConnectionLostError and is never run again
    unasked; one that is asked for during an outage waits for the connection, within its own time limit.

    Args:
        target: Where to.
        prompter: Asked about unknown host keys and for secrets.
        options: How to connect.
        backoff: Waiting times between attempts.
        on_up: Called when connected, for the first time and after every outage.
        on_down: Called with the cause when the connection is lost.
        on_retry: Called before waiting for an attempt, with its number (from 1), the seconds until it, and
            why it is needed.
        on_failed: Called with the error when there will be no further attempt; `retry_now` makes one.

    Attributes:
        failure: The error that ended the attempts, if they ended.
    """

    def __init__(
        self,
        target: Target,
        prompter: Prompter,
        options: ConnectOptions | None = None,
        *,
        backoff: Backoff | None = None,
        on_up: OnUp | None = None,
        on_down: OnDown | None = None,
        on_retry: OnRetry | None = None,
        on_failed: Callable[[SpecttuiError], Awaitable[None] | None] | None = None,
    ) -> None:
        self._target = target
        self._prompter = prompter
        self._options = options or ConnectOptions()
        self._backoff = backoff or Backoff()
        self._on_up = on_up
        self._on_down = on_down
        self._on_retry = on_retry
        self._on_failed = on_failed
        self._memory = LoginMemory()
        self._connection: Connection | None = None
        self._changed = asyncio.Condition()
        self._hurry = asyncio.Event()
        self._keeper: asyncio.Task[None] | None = None
        self.failure: SpecttuiError | None = None

    @property
    def name(self) -> str:
        """The host as the user wrote it."""
        return str(self._target)

    @property
    def up(self) -> bool:
        """True while there is a connection."""
        return self._connection is not None and not self._connection.lost

    @property
    def connection(self) -> Connection | None:
        """The connection in use, or the last one during an outage; None before the first."""
        return self._connection

    async def start(self) -> None:
        """Connect for the first time, and keep connected from then on.

        Raises:
            ConfigError: The ssh configuration cannot be used.
            ConnectionFailedError: The host cannot be reached or does not let us in; no other attempt follows.
        """
        connection = await connect(self._target, self._prompter, self._options, self._memory)
        await self._use(connection)
        self._keeper = asyncio.create_task(self._keep(connection))
        self._keeper.add_done_callback(_report)

    async def close(self) -> None:
        """End the attempts and the connection; what waits raises ConnectionLostError."""
        if self._keeper:
            self._keeper.cancel()
            await asyncio.wait([self._keeper])
        connection, self._connection = self._connection, None
        if connection:
            await connection.close()
        self.failure = ConnectionLostError(f"The connection to {self.name} was closed")
        async with self._changed:
            self._changed.notify_all()

    def retry_now(self) -> None:
        """Make the next attempt at once, also after the attempts had ended."""
        self._hurry.set()

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
        clock = asyncio.get_running_loop().time
        deadline = clock() + timeout_s
        while True:
            connection = await self._connected(deadline - clock())
            with contextlib.suppress(NotStartedError):
                return await connection.run(
                    argv, stdin=stdin, env=env, cwd=cwd, timeout_s=max(0.1, deadline - clock()), check=check
                )

    @asynccontextmanager
    async def stream(
        self, argv: Sequence[str], *, env: Mapping[str, str] | None = None
    ) -> AsyncIterator[AsyncIterator[bytes]]:
        """Run a command that goes on; see `Remote.stream`. Waits up to 30 s for a connection."""
        connection = await self._connected(_STREAM_WAIT_S)
        async with connection.stream(argv, env=env) as chunks:
            yield chunks

    async def _connected(self, seconds: float) -> Connection:
        """The connection, waited for if need be.

        Raises:
            ConnectionLostError: There is none in time.
            SpecttuiError: There will be none; the error that ended the attempts.
        """
        try:
            async with asyncio.timeout(seconds), self._changed:
                await self._changed.wait_for(lambda: self.up or self.failure is not None)
        except TimeoutError:
            raise ConnectionLostError(
                f"There is no connection to {self.name}",
                cause=f"None came up within {max(0.0, seconds):.0f} s. The command was not started.",
                remedy="It is tried again by itself; check the network if it lasts.",
            ) from None
        if self._connection is None or self.failure is not None:
            raise self.failure or ConnectionLostError(f"The connection to {self.name} was closed")
        return self._connection

    async def _use(self, connection: Connection) -> None:
        async with self._changed:
            self._connection = connection
            self.failure = None
            self._changed.notify_all()
        await _call(self._on_up)

    async def _keep(self, connection: Connection) -> None:
        """Wait for the loss of each connection and make the next one, one attempt at a time."""
        while True:
            cause = await connection.wait_lost()
            await _call(self._on_down, cause)
            await connection.close()
            connection = await self._again(cause)
            await self._use(connection)

    async def _again(self, cause: str) -> Connection:
        attempt, refusals = 1, 0
        while True:
            delay_s = self._backoff.delay_s(attempt)
            await _call(self._on_retry, attempt, delay_s, cause)
            await self._wait(delay_s)
            try:
                return await connect(self._target, self._prompter, self._options, self._memory)
            except SpecttuiError as error:
                cause = error.title
                refusals += isinstance(error, LoginRefusedError)
                if isinstance(error, _FINAL) or refusals >= _MAX_REFUSALS:
                    await self._give_up(error)
                    attempt, refusals = 0, 0
            attempt += 1

    async def _wait(self, seconds: float | None) -> None:
        """Wait so long, or until somebody is in a hurry."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._hurry.wait()
        self._hurry.clear()

    async def _give_up(self, error: SpecttuiError) -> None:
        """Tell whoever waits, and make no attempt until asked to."""
        async with self._changed:
            self.failure = error
            self._changed.notify_all()
        await _call(self._on_failed, error)
        await self._wait(None)
        self._hurry.set()


def _report(keeper: asyncio.Task[None]) -> None:
    """A callback that raised ends the reconnects: asyncio's handler is to hear of it."""
    if not keeper.cancelled():
        keeper.result()


async def _call(callback: Callable[..., Awaitable[None] | None] | None, *arguments: object) -> None:
    result = callback(*arguments) if callback else None
    if inspect.isawaitable(result):
        await result
