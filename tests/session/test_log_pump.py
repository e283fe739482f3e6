"""The log of a real file through tail, parser and state: every decode line counts once, whatever happens."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from support.envelopes import envelope, run_started
from support.local_remote import LocalRemote
from support.waiting import eventually

from specttui.errors import ConnectionLostError, RemoteCommandError
from specttui.events import Alert, DecodeStats, Event, LogKind, LogNotice, LogSource, Severity
from specttui.host.tail import FromEnd, FromOffset, WholeFile
from specttui.log.parser import LogParser
from specttui.session import log_pump
from specttui.session.emitter import Emitter
from specttui.session.log_pump import LogPump
from specttui.state.build import SnapshotBuilder
from specttui.state.session_state import SessionState


def decode_line(number: int) -> bytes:
    """A decode line that no other equals: its iteration is its number."""
    return (
        f"[2026-11-29 12:{number // 60 % 60:02d}:{number % 60:02d} TP0] Decode batch [{number}], "
        f"#running-req: 1, #token: {100 + number * 80}, token usage: 0.01, accept len: 2.00, "
        f"accept rate: 0.50, cuda graph: True, gen throughput (token/s): 80.00, #queue-req: 0\n"
    ).encode()


def decode_lines(numbers: range) -> bytes:
    return b"".join(map(decode_line, numbers))


class BreakableRemote(LocalRemote):
    """A connection that can be cut in the middle of a stream, and that can refuse to run anything."""

    def __init__(self, home: Path) -> None:
        super().__init__(home)
        self.cut = False
        self.refusals = 0

    @asynccontextmanager
    async def stream(
        self, argv: Sequence[str], *, env: Mapping[str, str] | None = None
    ) -> AsyncIterator[AsyncIterator[bytes]]:
        if self.refusals:
            self.refusals -= 1
            raise RemoteCommandError("No more processes", remedy="Log out elsewhere.")
        async with super().stream(argv, env=env) as chunks:
            yield self._until_cut(chunks)

    async def _until_cut(self, chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        waiting = asyncio.ensure_future(anext(chunks, b""))
        try:
            while True:
                done, _ = await asyncio.wait({waiting}, timeout=0.02)
                if self.cut:
                    self.cut = False
                    raise ConnectionLostError("The connection is gone")
                if not done:
                    continue
                chunk = waiting.result()
                if not chunk:
                    return
                half = len(chunk) // 2
                yield chunk[:half]
                yield chunk[half:]
                waiting = asyncio.ensure_future(anext(chunks, b""))
        finally:
            waiting.cancel()


class Pumped:
    """A pump on a log, and what it made of it."""

    def __init__(self, remote: LocalRemote, log: Path) -> None:
        self.remote = remote
        self.log = log
        self.source = LogSource(kind=LogKind.FILE, path=str(log))
        self.state = SessionState()
        self.events: list[Event] = []
        self.pump = LogPump(remote, Emitter(self.state), self.events.append)

    @property
    def numbers(self) -> list[int | None]:
        """The iterations of the decode lines seen, in order."""
        return [event.iteration for event in self.events if isinstance(event, DecodeStats)]

    @property
    def notices(self) -> list[str]:
        return [event.what for event in self.events if isinstance(event, LogNotice)]

    async def until(self, last: int) -> None:
        """Wait for the decode line with this number."""
        await eventually(lambda: self.numbers[-1:] == [last])

    def append(self, data: bytes) -> None:
        with self.log.open("ab") as file:
            file.write(data)


@pytest.fixture
async def pumped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Pumped]:
    monkeypatch.setattr(log_pump, "RETRY_S", 0.05)
    monkeypatch.setattr(log_pump, "REFUSED_RETRY_S", 0.05)
    found = Pumped(BreakableRemote(tmp_path), tmp_path / "server.log")
    yield found
    await found.pump.stop()


async def test_reconnects_lose_and_repeat_nothing(pumped: Pumped) -> None:
    pumped.log.write_bytes(decode_lines(range(10)))
    await pumped.pump.begin(pumped.source, WholeFile())
    await pumped.until(9)
    written = 10
    for size in (1, 700, 40, 3000):
        pumped.append(
            decode_lines(range(written, written + size // 2)) + decode_line(written + size // 2)[:60]
        )
        pumped.remote.cut = True
        await asyncio.sleep(0.1)
        pumped.append(
            decode_line(written + size // 2)[60:]
            + decode_lines(range(written + size // 2 + 1, written + size + 1))
        )
        written += size + 1
        await pumped.until(written - 1)
    assert pumped.numbers == list(range(written))
    assert pumped.notices == []


async def test_e01_truncated_in_place_and_grown_again(pumped: Pumped) -> None:
    pumped.log.write_bytes(decode_lines(range(5)))
    await pumped.pump.begin(pumped.source, WholeFile())
    await pumped.until(4)
    os.truncate(pumped.log, 0)
    pumped.append(decode_lines(range(5, 20)))
    await pumped.until(19)
    assert pumped.numbers == list(range(20))
    assert pumped.notices == ["truncated"]


async def test_e01_a_file_cut_in_the_middle_of_a_line_makes_no_figure_of_the_halves(pumped: Pumped) -> None:
    pumped.log.write_bytes(decode_line(1) + decode_line(2)[:-20])
    await pumped.pump.begin(pumped.source, WholeFile())
    await pumped.until(1)
    pumped.log.write_bytes(b"")
    await eventually(lambda: pumped.notices == ["truncated"])
    pumped.append(b"9.99, #queue-req: 0\n" + decode_line(3))
    await pumped.until(3)
    assert pumped.numbers == [1, 3]


async def test_e02_a_hole_of_nul_bytes(pumped: Pumped) -> None:
    pumped.log.write_bytes(decode_line(1))
    await pumped.pump.begin(pumped.source, WholeFile())
    await pumped.until(1)
    with pumped.log.open("r+b") as file:
        file.truncate(0)
        file.seek(64 * 1024 * 1024)
        file.write(decode_line(2))
    await pumped.until(2)
    assert pumped.numbers == [1, 2]
    assert pumped.notices == ["truncated", "hole"]


async def test_rotation_goes_on_with_the_new_file(pumped: Pumped) -> None:
    pumped.log.write_bytes(decode_lines(range(3)))
    await pumped.pump.begin(pumped.source, WholeFile())
    await pumped.until(2)
    pumped.log.rename(pumped.log.with_suffix(".log.1"))
    pumped.log.write_bytes(decode_lines(range(3, 6)))
    await pumped.until(5)
    assert pumped.numbers == list(range(6))


async def test_e05_e06_e07_e08_bytes_that_are_no_lines(pumped: Pumped) -> None:
    bar = "Capturing batches:  50%|█████     | 1/2 [00:01<00:01,  1.00s/it]"
    pumped.log.write_bytes(
        b"\xff\xfe bad bytes\n"
        + decode_line(1)
        + b"x" * 3_000_000
        + b"\n"
        + decode_line(2)
        + bar.encode()
        + b"\r"
        + decode_line(3)
    )
    await pumped.pump.begin(pumped.source, WholeFile())
    await pumped.until(3)
    assert pumped.numbers == [1, 2, 3]


async def test_e10_a_last_line_without_its_end_is_no_figure(pumped: Pumped) -> None:
    pumped.log.write_bytes(decode_line(1) + decode_line(2).partition(b"80.00")[0] + b"12")
    await pumped.pump.begin(pumped.source, WholeFile())
    await pumped.until(1)
    await pumped.pump.stop()
    assert pumped.numbers == [1]
    assert pumped.state.log[-1].endswith("gen throughput (token/s): 12")


async def test_e11_a_follow_process_that_ends_is_no_dead_server(pumped: Pumped) -> None:
    pumped.remote.refusals = 1
    pumped.log.write_bytes(decode_lines(range(3)))
    await pumped.pump.begin(pumped.source, WholeFile())
    await pumped.until(2)
    assert pumped.numbers == [0, 1, 2]
    (alert,) = pumped.state.alerts
    assert (alert.severity, alert.message, alert.remedy) == (
        Severity.ERROR,
        "No more processes",
        "Log out elsewhere.",
    )


async def test_the_backlog_at_attach_is_bounded(pumped: Pumped) -> None:
    pumped.log.write_bytes(decode_lines(range(5000)))
    await pumped.pump.begin(pumped.source, FromEnd(20 * len(decode_line(4000))))
    await pumped.until(4999)
    assert pumped.numbers == list(range(4980, 5000))


async def test_a_started_server_begins_at_its_offset(pumped: Pumped) -> None:
    earlier = decode_lines(range(7))
    pumped.log.write_bytes(earlier)
    pumped.append(decode_lines(range(7, 9)))
    await pumped.pump.begin(pumped.source, FromOffset(len(earlier)))
    await pumped.until(8)
    assert pumped.numbers == [7, 8]


async def test_resuming_reads_on_and_nothing_twice(pumped: Pumped) -> None:
    pumped.log.write_bytes(decode_lines(range(3)))
    await pumped.pump.begin(pumped.source, WholeFile())
    await pumped.until(2)
    await pumped.pump.resume()
    pumped.append(decode_lines(range(3, 5)))
    await pumped.until(4)
    assert pumped.numbers == [0, 1, 2, 3, 4]


_JOURNALCTL = """\
import time
print(open({log!r}).read(), end="", flush=True)
time.sleep(60)
"""


async def test_e04_lines_that_the_journal_dropped(
    pumped: Pumped, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    messages = [decode_line(number).decode().rstrip("\n") for number in (*range(12), *range(15, 20))]
    messages.insert(12, "Suppressed 3 messages from /system.slice/sglang.service")
    entries = [{"__CURSOR": f"c{index:03d}", "MESSAGE": text} for index, text in enumerate(messages)]
    pumped.log.write_text("".join(json.dumps(entry) + "\n" for entry in entries))
    tool = tmp_path / "journalctl"
    tool.write_text(f"#!{sys.executable}\n" + _JOURNALCTL.format(log=str(pumped.log)))
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    pumped.state.apply(envelope(0.0, run_started(1, "steps 2", steps=2)))
    await pumped.pump.begin(
        LogSource(kind=LogKind.JOURNAL, path="sglang.service", detail="system"), WholeFile()
    )
    await pumped.until(19)
    assert pumped.numbers == [*range(12), *range(15, 20)]
    assert [alert.message for alert in pumped.state.alerts] == [
        "The journal dropped lines of the server's log",
        "Decode lines are missing from the log",
    ]
    (row,) = SnapshotBuilder().build(pumped.state, 1.0).runs
    assert row.notes == (
        "at least 3 decode lines are missing from the log: figures are incomplete",
        "lines of the log were dropped on the way: figures are incomplete",
    )


async def test_a_dead_reader_is_told(pumped: Pumped, monkeypatch: pytest.MonkeyPatch) -> None:
    """CASES E06: a reader that died must not look alive."""

    def broken(_: LogParser, data: bytes) -> list[Event]:
        raise ValueError(f"{len(data)} bytes too many")

    pumped.log.write_bytes(b"four\n")
    monkeypatch.setattr(LogParser, "feed", broken)
    await pumped.pump.begin(pumped.source, WholeFile())
    await eventually(lambda: not pumped.pump.following)
    assert list(pumped.state.alerts) == [
        Alert(
            severity=Severity.ERROR,
            message="Reading the log stopped: 5 bytes too many",
            remedy="Press f5 to look again.",
        )
    ]
    monkeypatch.undo()
    await pumped.pump.resume()
    await eventually(lambda: pumped.state.log_total == 1)


async def test_a_log_that_cannot_be_followed_says_so_where_the_figures_would_be(pumped: Pumped) -> None:
    await pumped.pump.begin(LogSource(kind=LogKind.PIPE, path="pipe:[1]", detail="pipe:[1]"), FromEnd())
    await eventually(lambda: bool(pumped.state.alerts))
    assert pumped.state.alerts[0].message == "The server's log cannot be followed"
    pumped.state.server_phase = "serving"
    note = SnapshotBuilder().build(pumped.state, 1.0).throughput_note
    assert note.startswith("Restart the server through specttui, which appends its output to a file")


async def test_e09_a_burst_leaves_room_for_others(pumped: Pumped) -> None:
    pumped.log.write_bytes(decode_lines(range(3000)))
    turns = 0

    async def somebody_else() -> None:
        nonlocal turns
        while True:
            await asyncio.sleep(0)
            turns += bool(pumped.numbers) and pumped.numbers[-1] != 2999

    other = asyncio.create_task(somebody_else())
    await pumped.pump.begin(pumped.source, WholeFile())
    await pumped.until(2999)
    other.cancel()
    assert pumped.numbers == list(range(3000))
    assert turns >= 10
