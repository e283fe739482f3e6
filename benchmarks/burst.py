"""A burst of log lines into the running program: how long does a key press take meanwhile?

Run: `python benchmarks/burst.py [--lines N] [--kind decode|mixed|access] [--undisturbed] [--json]`.

The real program runs in a terminal of its own (a pty), connected over SSH on loopback to a host in another
process. Its server's log gets the burst in one go; all through it a key is pressed again and again (space:
pause, go on), and timed until the terminal shows what it does. `before` is the same without a burst. On a
machine that others keep busy too, times are theirs as much as ours: `--undisturbed` (Linux, root) lets the
program and this benchmark go before them.
Aim: every key press within the burst is answered within 100 ms.
"""

from __future__ import annotations

import argparse
import asyncio
import fcntl
import json
import os
import pty
import re
import select
import statistics
import struct
import subprocess
import sys
import tempfile
import termios
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Self

from hosts import HostFacts, separate_host

from specttui.events import DecodeStats
from specttui.session.folders import HOME_VARIABLE
from specttui.session.recording import read

_COLUMNS, _ROWS = 120, 40
_ANSWER_LIMIT_S = 10.0
_BETWEEN_KEYS_S = 0.05
_KEYS_BEFORE = 20
_STYLES = re.compile(rb"\x1b\[[0-9;?]*[ -/]*[@-~]")


@dataclass(frozen=True)
class Result:
    """Answer times of key presses in ms; `burst_s` is how long the program worked on the burst."""

    kind: str
    lines: int
    burst_s: float
    lines_per_s: int
    keys: int
    median_ms: float
    p95_ms: float
    worst_ms: float
    within_100_ms: float
    before_median_ms: float
    before_worst_ms: float


class Terminal:
    """The program in a pty."""

    def __init__(self, facts: HostFacts, home: str, *, undisturbed: bool) -> None:
        self._master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", _ROWS, _COLUMNS, 0, 0))
        env = {**os.environ, HOME_VARIABLE: home, "TERM": "xterm-256color", "COLORTERM": "truecolor"}
        self.process = subprocess.Popen(
            [sys.executable, __file__, "--program", json.dumps(asdict(facts))],
            stdin=slave, stdout=slave, stderr=slave, env=env, start_new_session=True,
            preexec_fn=_take_terminal,  # noqa: PLW1509 - there are no threads
        )  # fmt: skip
        os.close(slave)
        for session in ("self", self.process.pid) if undisturbed else ():
            # The scheduler shares time out between process sessions first.
            Path(f"/proc/{session}/autogroup").write_text("-10")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Whatever happens, no program stays behind."""
        self.process.kill()
        self.process.wait()
        os.close(self._master)

    def press(self, key: bytes, answer: bytes) -> float:
        """Press a key and wait until the screen shows the answer; how long that took, in seconds."""
        self.read_for(0.0)
        began = time.perf_counter()
        os.write(self._master, key)
        self.wait_for(answer)
        return time.perf_counter() - began

    def wait_for(self, text: bytes, limit_s: float = _ANSWER_LIMIT_S) -> None:
        """Read until the terminal was sent this text, colours aside."""
        seen = b""
        deadline = time.perf_counter() + limit_s
        while text not in _STYLES.sub(b"", seen):
            if time.perf_counter() > deadline:
                raise SystemExit(f"The program did not show {text!r}; its last output: {seen[-2000:]!r}")
            seen += self.read_for(0.005)

    def read_for(self, seconds: float) -> bytes:
        """What the terminal is sent within so many seconds, at once where something is there."""
        data = b""
        while select.select([self._master], [], [], 0.0 if data else seconds)[0]:
            try:
                data += os.read(self._master, 65536)
            except OSError:
                raise SystemExit(f"The program ended: {data[-2000:]!r}") from None
        return data

    def quit(self) -> None:
        """Leave the program."""
        os.write(self._master, b"q")
        deadline = time.perf_counter() + 20.0
        while self.process.poll() is None and time.perf_counter() < deadline:
            if select.select([self._master], [], [], 0.1)[0]:
                try:
                    os.read(self._master, 65536)
                except OSError:
                    break
        if self.process.wait(timeout=20) != 0:
            raise SystemExit(f"The program ended with {self.process.returncode}")


def _take_terminal() -> None:
    """Make the pty the program's own terminal, so that it hears of its end as of a closed window's."""
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


def burst_lines(kind: str, count: int) -> bytes:
    """Lines as they come: all decode lines (the dearest), nine of ten access lines, or access lines only."""
    decode = (
        "[2026-11-29 13:{:02d}:{:02d} TP0] Decode batch, #running-req: 1, #token: {}, token usage: 0.00, "
        "accept len: 2.00, accept rate: 0.33, cuda graph: True, gen throughput (token/s): {:.2f}, "
        "#queue-req: 0\n"
    )
    access = '[2026-11-29 13:{:02d}:{:02d}] INFO:     127.0.0.1:{} - "POST /generate HTTP/1.1" 200 OK\n'
    every = {"decode": 1, "mixed": 10, "access": count}[kind]
    lines = []
    for number in range(count):
        minute, second = number // 60 % 60, number % 60
        if number % every == 0:
            lines.append(decode.format(minute, second, 100 + 80 * number, 300 + number % 7))
        else:
            lines.append(access.format(minute, second, 1024 + number % 60000))
    return "".join(lines).encode()


def measure(facts: HostFacts, kind: str, count: int, *, undisturbed: bool = False) -> Result:
    """Run the program, press keys, write the burst, and press on until all of it was worked off."""
    data = burst_lines(kind, count)
    expected = data.count(b"Decode batch")
    with tempfile.TemporaryDirectory(prefix="specttui-burst-") as home:
        with Terminal(facts, home, undisturbed=undisturbed) as terminal:
            terminal.wait_for(b"THROUGHPUT", 30.0)
            recording = _recording(Path(home))
            time.sleep(2.0)
            before = [took for _, took in _press_often(terminal, lambda pressed: pressed >= _KEYS_BEFORE)]
            size = recording.stat().st_size
            with Path(facts.log_path).open("ab") as log:
                log.write(data)
            began = time.perf_counter()
            watch = _Watch(recording, size, expected, count)
            pressed = _press_often(terminal, lambda _: watch.done())
            burst_s = watch.ended - began
            terminal.quit()
        counted = _counted(recording)
    during = [took for at, took in pressed if at <= watch.ended]
    if counted != expected:
        raise SystemExit(f"{expected} decode lines were written, {counted} were recorded")
    return Result(
        kind=kind,
        lines=count,
        burst_s=round(burst_s, 2),
        lines_per_s=round(count / burst_s),
        keys=len(during),
        median_ms=_ms(statistics.median(during)),
        p95_ms=_ms(sorted(during)[int(0.95 * (len(during) - 1))]),
        worst_ms=_ms(max(during)),
        within_100_ms=round(sum(value <= 0.1 for value in during) / len(during), 4),
        before_median_ms=_ms(statistics.median(before)),
        before_worst_ms=_ms(max(before)),
    )


class _Watch:
    """Tells from the recording when the burst is worked off: it has grown and grows no more."""

    def __init__(self, recording: Path, size: int, decode_lines: int, lines: int) -> None:
        self._recording, self._size = recording, size
        self._least = decode_lines * 100 if decode_lines > 1 else min(lines, 1)
        self._last, self.ended = size, time.perf_counter()

    def done(self) -> bool:
        size, now = self._recording.stat().st_size, time.perf_counter()
        if size > self._last + 4096:
            self._last, self.ended = size, now
        return size - self._size >= self._least and now - self.ended > 1.0


def _press_often(terminal: Terminal, enough: Callable[[int], bool]) -> list[tuple[float, float]]:
    """Pause and go on in turn until it is enough; when each key was pressed, and how long its answer took."""
    times: list[tuple[float, float]] = []
    while not enough(len(times)) or len(times) % 2:
        answer = b"PAUSED" if len(times) % 2 == 0 else b"LIVE"
        times.append((time.perf_counter(), terminal.press(b" ", answer)))
        terminal.read_for(_BETWEEN_KEYS_S)
    return times


def _recording(home: Path) -> Path:
    return next(home.rglob("events.jsonl"))


def _counted(recording: Path) -> int:
    return sum(isinstance(envelope.event, DecodeStats) for envelope in read(recording, []))


def _ms(seconds: float) -> float:
    return round(1000 * seconds, 1)


async def _program(facts: HostFacts) -> None:
    """The program as `specttui HOST` runs it."""
    from specttui.session.session import Session
    from specttui.ui.app import SpecttuiApp
    from specttui.ui.prompter import ScreenPrompter

    prompter = ScreenPrompter()
    session = Session(facts.options(), prompter)
    app = SpecttuiApp(session, start=session.start, prompter=prompter)
    try:
        await app.run_async()
    finally:
        await session.close()


def main() -> None:
    """Measure each kind of burst and print the distribution."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--lines", type=int, default=200_000, help="lines in the burst")
    options.add_argument("--kind", choices=["decode", "mixed", "access"], action="append", help="of lines")
    options.add_argument("--undisturbed", action="store_true", help="go before others' processes")
    options.add_argument("--json", action="store_true", help="print JSON")
    options.add_argument("--program", help=argparse.SUPPRESS)
    asked = options.parse_args()
    if asked.program:
        asyncio.run(_program(HostFacts(**json.loads(asked.program))))
        return
    results = []
    for kind in asked.kind or ["decode", "mixed"]:
        with separate_host() as facts:
            results.append(measure(facts, kind, asked.lines, undisturbed=asked.undisturbed))
    if asked.json:
        print(json.dumps([asdict(result) for result in results], indent=2))
        return
    for result in results:
        print(
            f"{result.lines:,} {result.kind} lines worked off in {result.burst_s} s "
            f"({result.lines_per_s:,}/s); {result.keys} key presses meanwhile: median {result.median_ms} ms, "
            f"p95 {result.p95_ms} ms, worst {result.worst_ms} ms, "
            f"{100 * result.within_100_ms:.1f} % within 100 ms; before: median "
            f"{result.before_median_ms} ms, worst {result.before_worst_ms} ms"
        )


if __name__ == "__main__":
    main()
