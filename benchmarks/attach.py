"""Attach to a huge log over SSH on loopback: how soon are there figures, and how much is transferred?

Run: `python benchmarks/attach.py [--gigabytes N] [--sparse] [--repeat N] [--json]`. The log is written, or
made as a sparse file with real lines in its last megabytes, and deleted afterwards. Nine of ten lines are
access-log noise, as on a busy server.

A whole session connects, finds the server and follows the log; a proxy on loopback counts every byte in
both directions. `figures_s` is from the connection's being up to a throughput in the snapshot that the
screen draws; the host runs in a process of its own.
Aims: figures within 1 s of connecting, less than 5 MB transferred.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import tempfile
import time
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Self

from hosts import HostFacts, separate_host

from specttui.errors import SpecttuiError
from specttui.events import ConnectionUp, DecodeStats, Envelope, ServerFound
from specttui.session.console import ConsolePrompter
from specttui.session.folders import HOME_VARIABLE
from specttui.session.session import Session

_BLOCK_BYTES = 8 * 1024 * 1024
_WAIT_S = 60.0


@dataclass(frozen=True)
class Result:
    """One attach. Times in seconds after the connection was up."""

    log_gigabytes: float
    connect_s: float
    server_found_s: float
    first_line_s: float
    figures_s: float
    received_megabytes: float
    sent_megabytes: float
    decode_lines: int
    throughput_tok_s: float


class CountingProxy:
    """A TCP relay that counts bytes in both directions."""

    def __init__(self, port: int) -> None:
        self._port = port
        self.received = self.sent = 0
        self._relays: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._relay, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        await asyncio.gather(*self._relays)

    async def _relay(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._relays.add(asyncio.current_task())  # type: ignore[arg-type]
        there, back = await asyncio.open_connection("127.0.0.1", self._port)
        await asyncio.gather(self._copy(reader, back, sent=True), self._copy(there, writer, sent=False))

    async def _copy(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter, *, sent: bool) -> None:
        with suppress(ConnectionError):
            while data := await source.read(65536):
                self.sent += len(data) * sent
                self.received += len(data) * (not sent)
                sink.write(data)
                await sink.drain()
        with suppress(OSError):  # the other side may be gone by now
            sink.write_eof()


def block() -> bytes:
    """Lines of a busy server, a few megabytes."""
    noise = '[2026-11-29 13:23:{:02d}] INFO:     127.0.0.1:{} - "POST /v1/chat/completions HTTP/1.1" 200 OK\n'
    decode = (
        "[2026-11-29 13:23:{:02d} TP0] Decode batch, #running-req: 1, #token: {}, token usage: 0.00, "
        "accept len: 2.00, accept rate: 0.33, cuda graph: True, gen throughput (token/s): {:.2f}, "
        "#queue-req: 0\n"
    )
    lines = []
    for number in range(_BLOCK_BYTES // 100):
        second = number // 10 % 60
        if number % 10:
            lines.append(noise.format(second, 1024 + number % 60000))
        else:
            lines.append(decode.format(second, 100 + 8 * number, 300 + number // 10 % 7))
    return "".join(lines).encode()


def write_log(path: Path, size: int, *, sparse: bool) -> None:
    """A log of about so many bytes, ending with real lines."""
    data = block()
    with path.open("wb", buffering=0) as file:
        if sparse:
            file.truncate(max(0, size - 2 * len(data)))
            file.seek(0, os.SEEK_END)
            file.write(b"\n" + data + data)
            return
        while file.tell() < size:
            file.write(data)


async def attach(facts: HostFacts, log: Path) -> Result:
    """One session from nothing to figures."""
    seen: dict[type, float] = {}
    async with CountingProxy(facts.port) as proxy:
        known_hosts = _trust(facts, proxy.port, log.parent)
        options = facts.options(port=proxy.port, known_hosts=known_hosts, log_path=str(log))
        session = Session(options, ConsolePrompter())

        def note(envelope: Envelope) -> None:
            seen.setdefault(type(envelope.event), time.perf_counter())

        session.emitter.listen(note)
        began = time.perf_counter()
        starting = asyncio.create_task(session.start())
        try:
            figures = await _figures(session, began)
            await starting
        finally:
            with suppress(SpecttuiError):
                await session.close()
    up = seen[ConnectionUp]
    run = session.state.runs[-1]
    return Result(
        log_gigabytes=_size(log),
        connect_s=round(up - began, 3),
        server_found_s=round(seen[ServerFound] - up, 3),
        first_line_s=round(seen[DecodeStats] - up, 3),
        figures_s=round(figures[0] - up, 3),
        received_megabytes=round(proxy.received / 1e6, 2),
        sent_megabytes=round(proxy.sent / 1e6, 2),
        decode_lines=run.lines_seen,
        throughput_tok_s=figures[1],
    )


def _trust(facts: HostFacts, port: int, folder: Path) -> Path:
    """A known_hosts file in which the host is known at the proxy's port."""
    known_hosts = folder / "known_hosts"
    known_hosts.write_text(Path(facts.known_hosts_path).read_text().replace(f":{facts.port} ", f":{port} "))
    return known_hosts


def _size(log: Path) -> float:
    return round(log.stat().st_size / 1e9, 2)


async def _figures(session: Session, began: float) -> tuple[float, float]:
    """When a snapshot first has a throughput, and what it is."""
    while time.perf_counter() - began < _WAIT_S:
        value = session.snapshot().throughput_now
        if value is not None:
            return time.perf_counter(), value
        await asyncio.sleep(0.005)
    raise SystemExit("There were no figures within a minute.")


def main() -> None:
    """Attach a few times and print each."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--gigabytes", type=float, default=5.0, help="size of the log")
    options.add_argument("--sparse", action="store_true", help="a sparse file with real lines at its end")
    options.add_argument("--repeat", type=int, default=3, help="attaches")
    options.add_argument("--json", action="store_true", help="print JSON")
    asked = options.parse_args()
    with tempfile.TemporaryDirectory(prefix="specttui-attach-") as folder, separate_host() as facts:
        os.environ[HOME_VARIABLE] = folder
        log = Path(folder) / "server.log"
        write_log(log, int(asked.gigabytes * 1e9), sparse=asked.sparse)
        results = [asyncio.run(attach(facts, log)) for _ in range(asked.repeat)]
    if asked.json:
        print(json.dumps([asdict(result) for result in results], indent=2))
        return
    for result in results:
        print(
            f"{result.log_gigabytes} GB log, connected in {result.connect_s} s; after that: server found "
            f"{result.server_found_s} s, first line {result.first_line_s} s, figures {result.figures_s} s; "
            f"received {result.received_megabytes} MB, sent {result.sent_megabytes} MB; "
            f"{result.decode_lines} decode lines, {result.throughput_tok_s:.0f} tok/s"
        )


if __name__ == "__main__":
    main()
