"""A distant host: how many round trips do connecting, discovery, the first log line and a patch take?

Run: `python benchmarks/ssh.py [--delays 0,20,100] [--repeat N] [--json]`. A proxy on loopback delays every
byte so many ms each way.

`commands` is how many commands a step ran on the host. `round_trips` are those one waits for, one after the
other: how much longer the step took per ms of delay, from the times at the smallest and the greatest delay. A
command on a channel of its own costs up to three of them (open the channel, start a shell, its answer); one
given to a shell that waits (host/warm_shells.py) costs one; what need not wait runs at once.
Aims: discovery at most 3 round trips after login, a patch at most 6.
"""

# Counting and stopping what goes on by itself reach into the parts measured.

from __future__ import annotations

import argparse
import asyncio
import json
import os
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self

from specttui.demo.host import DemoHost
from specttui.events import DecodeStats, Envelope, LogLines
from specttui.host.connection import Connection
from specttui.host.link import Link
from specttui.host.remote import CommandResult
from specttui.host.target import ConnectOptions, Target
from specttui.session.console import ConsolePrompter
from specttui.session.folders import HOME_VARIABLE
from specttui.session.options import SessionOptions
from specttui.session.session import Session

_CHUNK_BYTES = 65536
_WAIT_S = 120.0
STEPS = ("login", "discover", "first_line", "patch_preview", "patch", "restore")


@dataclass(frozen=True)
class Step:
    """One step at one delay."""

    delay_ms: float
    step: str
    seconds: float
    commands: int


class CountingConnections:
    """Counts the commands that connections run to their end; a followed log is none of them."""

    def __init__(self) -> None:
        self.commands: list[tuple[str, ...]] = []
        self._run = Connection.run

    def __enter__(self) -> Self:
        count = self

        async def run(connection: Connection, argv: Sequence[str], **options: Any) -> CommandResult:
            count.commands.append(tuple(argv))
            return await count._run(connection, argv, **options)

        Connection.run = run  # type: ignore[method-assign]
        return self

    def __exit__(self, *_: object) -> None:
        Connection.run = self._run  # type: ignore[method-assign]


@asynccontextmanager
async def delaying_proxy(port: int, delay_s: float) -> AsyncIterator[int]:
    """A TCP relay to a port on loopback that delays every byte in both directions; gives its own port."""
    tasks: set[asyncio.Task[None]] = set()

    async def relay(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        inner_reader, inner_writer = await asyncio.open_connection("127.0.0.1", port)
        for source, sink in ((reader, inner_writer), (inner_reader, writer)):
            task = asyncio.create_task(_delayed(source, sink, delay_s))
            tasks.add(task)
            task.add_done_callback(tasks.discard)

    server = await asyncio.start_server(relay, "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        for task in list(tasks):
            task.cancel()


async def _delayed(source: asyncio.StreamReader, sink: asyncio.StreamWriter, delay_s: float) -> None:
    """Pass bytes on so much later, in order, however many are on their way."""
    loop = asyncio.get_running_loop()
    with suppress(ConnectionError, asyncio.CancelledError):
        while data := await source.read(_CHUNK_BYTES):
            loop.call_later(delay_s, sink.write, data)
    loop.call_later(delay_s, sink.close)


def _options(demo: DemoHost, port: int, known_hosts: Path) -> SessionOptions:
    target = demo.demo_target()
    host_key = target.known_hosts_path.read_text(encoding="utf-8").split(" ", 1)[1]
    known_hosts.write_text(f"[127.0.0.1]:{port} {host_key}", encoding="utf-8")
    return SessionOptions(
        target=Target(host="127.0.0.1", user=target.username, port=port),
        connect=ConnectOptions(
            use_ssh_config=False,
            use_agent=False,
            client_keys=(target.client_key_path,),
            known_hosts_paths=(known_hosts,),
        ),
        server_port=demo.server_port,
        name="benchmark",
    )


class Visit:
    """One whole visit to the host at one delay."""

    def __init__(self, demo: DemoHost, counter: CountingConnections, delay_ms: float) -> None:
        self._demo = demo
        self._counter = counter
        self._delay_ms = delay_ms
        self.steps: list[Step] = []

    async def _timed(self, name: str, work: Callable[[], Awaitable[object]]) -> None:
        before, began_s = len(self._counter.commands), time.monotonic()
        async with asyncio.timeout(_WAIT_S):
            await work()
        seconds = time.monotonic() - began_s
        self.steps.append(Step(self._delay_ms, name, seconds, len(self._counter.commands) - before))

    async def make(self, folder: Path) -> None:
        """Log in, discover, read the log, patch, restore."""
        async with delaying_proxy(self._demo.port, self._delay_ms / 1000.0) as port:
            session = Session(_options(self._demo, port, folder / "known_hosts"), ConsolePrompter())
            line = asyncio.Event()

            def seen(envelope: Envelope) -> None:
                if isinstance(envelope.event, LogLines | DecodeStats):
                    line.set()

            session.emitter.listen(seen)
            link = session.head.link
            assert isinstance(link, Link)
            try:
                await self._timed("login", link.start)
                await self._timed("discover", session.start)
                await self._timed("first_line", line.wait)
                await session.head.watch.stop()  # its looks at the server would be counted with the commands
                await self._timed("patch_preview", session.preview_patch)
                await self._timed("patch", session.patch)
                await self._timed("restore", session.restore)
            finally:
                await session.close()


async def measure(delays_ms: list[float], repeat: int) -> list[Step]:
    """Visits at every delay."""
    steps: list[Step] = []
    with (
        CountingConnections() as counter,
        tempfile.TemporaryDirectory(prefix="specttui-benchmark-") as folder,
    ):
        os.environ[HOME_VARIABLE] = str(Path(folder) / "home")
        async with DemoHost(profile="h200", speed=20, traffic=1, steps=3) as demo:
            await demo.wait_ready(60)
            for _ in range(repeat):
                for delay_ms in delays_ms:
                    visit = Visit(demo, counter, delay_ms)
                    await visit.make(Path(folder))
                    steps += visit.steps
    return steps


def summary(steps: list[Step]) -> dict[str, dict[str, object]]:
    """By step: the quickest visit's seconds per delay, commands, and round trips one waits for."""
    found: dict[str, dict[str, object]] = {}
    delays = sorted({step.delay_ms for step in steps})
    for name in STEPS:
        rows = [step for step in steps if step.step == name]
        seconds = {delay: min(row.seconds for row in rows if row.delay_ms == delay) for delay in delays}
        extra_ms = 2.0 * (delays[-1] - delays[0])
        trips = (seconds[delays[-1]] - seconds[delays[0]]) * 1000.0 / extra_ms if extra_ms else None
        found[name] = {
            "seconds": {f"{delay:g}": round(value, 3) for delay, value in seconds.items()},
            "commands": max(row.commands for row in rows),
            "round_trips": None if trips is None else round(trips, 1),
        }
    return found


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--delays", default="0,20,100", help="added delays each way in ms")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    delays_ms = [float(text) for text in arguments.delays.split(",")]
    steps = asyncio.run(measure(delays_ms, arguments.repeat))
    if arguments.json:
        print(json.dumps({"steps": [asdict(step) for step in steps], "summary": summary(steps)}))
        return
    print(f"{'step':<14} {'commands':>8} {'round trips':>12}   seconds at added delay each way (ms)")
    for name, row in summary(steps).items():
        seconds = "  ".join(f"{delay}: {value}" for delay, value in dict(row["seconds"]).items())  # type: ignore[call-overload]
        print(f"{name:<14} {row['commands']:>8} {row['round_trips']!s:>12}   {seconds}")


if __name__ == "__main__":
    main()
