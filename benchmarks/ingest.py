"""Bytes of a log to events (and folded state): lines per second against a plain loop over the same bytes.

Run: `python benchmarks/ingest.py [--lines N] [--repeat N] [--json]`. Both sides of a ratio run in turn in
this one process, the best of several repeats each, so that a noisy machine disturbs both alike.

The plain loops: access and decode lines are decoded, split into lines and each line with `str.split`;
probe lines are split and read with `json.loads`; captured logs are treated like access lines.
Aims: access noise within 2x of its loop, probe lines within 2x of `json.loads`.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

from specttui.events import Clock, Event, Phase, ProbeCycles
from specttui.log.parser import LogParser
from specttui.session.emitter import Emitter
from specttui.state.session_state import SessionState

CHUNK_BYTES = 65536
#: A flush twice a second at full speed comes after about so many chunks.
CHUNKS_PER_FLUSH = 64
SAMPLES = Path(__file__).resolve().parent.parent / "sample_logs"


@dataclass(frozen=True)
class Result:
    """One corpus: lines per second of each side; `ratio` is how many times longer ours takes."""

    corpus: str
    lines: int
    megabytes: float
    plain_lines_per_s: float
    parser_lines_per_s: float
    parser_ratio: float
    folded_lines_per_s: float
    folded_ratio: float


def access_noise(lines: int) -> bytes:
    """Access-log lines as uvicorn writes them."""
    rng = random.Random(1)
    paths = ("POST /v1/chat/completions", "POST /generate", "GET /metrics", "GET /health")
    return b"".join(
        f"[2026-11-29 13:23:{i // 1000 % 60:02d}] INFO:     127.0.0.1:{rng.randint(1024, 65535)} - "
        f'"{rng.choice(paths)} HTTP/1.1" 200 OK\n'.encode()
        for i in range(lines)
    )


def decode_lines(lines: int) -> bytes:
    """Decode lines of SGLang 0.5.12."""
    rng = random.Random(2)
    row = (
        "[2026-11-29 13:23:{:02d} TP0] Decode batch, #running-req: 1, #token: {}, token usage: 0.00, "
        "accept len: {:.2f}, accept rate: 0.56, cuda graph: True, gen throughput (token/s): {:.2f}, "
        "#queue-req: 0\n"
    )
    return b"".join(
        row.format(i // 1000 % 60, rng.randint(1, 9999), rng.uniform(1, 3), rng.uniform(50, 400)).encode()
        for i in range(lines)
    )


def probe_lines(lines: int, cycles: int = 50) -> bytes:
    """Probe lines of half a second of cycles each."""
    rng = random.Random(3)
    one_of: list[bytes] = []
    for sequence in range(min(lines, 200)):
        times = {phase: [rng.uniform(0.1, 20) for _ in range(cycles)] for phase in _PHASES}
        event = ProbeCycles(
            clock=Clock.EVENTS, pid=4242, rank="TP0", sequence=sequence, time_s=sequence / 2,
            steps=[2] * cycles, batch=[1] * cycles, cycle_ms=[rng.uniform(18, 22) for _ in range(cycles)],
            phase_ms=times, cpu_ms=times, accepted=[rng.randint(0, 2) for _ in range(cycles)],
            accept_histogram=[10, 20, 20], self_us=40.0,
        )  # fmt: skip
        one_of.append(b"[specttui] " + event.model_dump_json().encode() + b"\n")
    return b"".join(one_of[index % len(one_of)] for index in range(lines))


_PHASES = (Phase.DRAFT, Phase.VERIFY, Phase.TARGET_FORWARD, Phase.DRAFT_EXTEND)


def captured(lines: int) -> bytes:
    """The sample logs, over and over."""
    once = b"".join(path.read_bytes() for path in sorted(SAMPLES.glob("*.log")))
    return once * max(1, lines // once.count(b"\n"))


def split_loop(data: bytes) -> None:
    """The least that could be done with text lines."""
    for chunk in _chunks(data):
        for line in chunk.decode("utf-8", "replace").split("\n"):
            line.split(" ")


def comma_loop(data: bytes) -> None:
    """The least that could be done with decode lines."""
    for chunk in _chunks(data):
        for line in chunk.decode("utf-8", "replace").split("\n"):
            line.split(", ")


def json_loop(data: bytes) -> None:
    """The least that could be done with probe lines."""
    for line in data.split(b"\n"):
        if line:
            json.loads(line[len(b"[specttui] ") :])


def parse(data: bytes, take: Callable[[Iterable[Event]], None]) -> None:
    """Feed the bytes as they come from a connection."""
    parser = LogParser()
    for number, chunk in enumerate(_chunks(data)):
        take(parser.feed(chunk))
        if number % CHUNKS_PER_FLUSH == 0:
            take(parser.flush())
    take(parser.finish())


def fold() -> Callable[[Iterable[Event]], None]:
    """A function that folds events into a fresh session state, as a session does but for the recording."""
    emitter = Emitter(SessionState())

    def take(events: Iterable[Event]) -> None:
        for event in events:
            emitter.emit(event)

    return take


def measure(name: str, data: bytes, plain: Callable[[bytes], None], repeat: int) -> Result:
    """Time both sides in turn and keep the best of each."""
    lines = data.count(b"\n")
    plain_s = parser_s = folded_s = float("inf")
    for _ in range(repeat):
        plain_s = min(plain_s, _seconds(lambda: plain(data)))
        parser_s = min(parser_s, _seconds(lambda: parse(data, lambda _: None)))
        folded_s = min(folded_s, _seconds(lambda: parse(data, fold())))
    return Result(
        corpus=name,
        lines=lines,
        megabytes=round(len(data) / 1e6, 1),
        plain_lines_per_s=round(lines / plain_s),
        parser_lines_per_s=round(lines / parser_s),
        parser_ratio=round(parser_s / plain_s, 2),
        folded_lines_per_s=round(lines / folded_s),
        folded_ratio=round(folded_s / plain_s, 2),
    )


def _chunks(data: bytes) -> Iterable[bytes]:
    return (data[start : start + CHUNK_BYTES] for start in range(0, len(data), CHUNK_BYTES))


def _seconds(work: Callable[[], None]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def main() -> None:
    """Run all four corpora and print a table or JSON."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument(
        "--lines", type=int, default=100_000, help="lines per corpus (probe lines: a fiftieth)"
    )
    options.add_argument("--repeat", type=int, default=5, help="repeats; the best counts")
    options.add_argument("--json", action="store_true", help="print JSON")
    asked = options.parse_args()
    results = [
        measure("access noise", access_noise(asked.lines), split_loop, asked.repeat),
        measure("decode lines", decode_lines(asked.lines), comma_loop, asked.repeat),
        measure("probe lines", probe_lines(asked.lines // 50), json_loop, asked.repeat),
        measure("captured logs", captured(asked.lines // 5), split_loop, asked.repeat),
    ]
    if asked.json:
        print(json.dumps([asdict(result) for result in results], indent=2))
        return
    print(
        f"{'corpus':<14}{'lines':>9}{'MB':>7}{'plain/s':>12}{'parser/s':>12}{'ratio':>7}{'folded/s':>12}{'ratio':>7}"
    )
    for result in results:
        print(
            f"{result.corpus:<14}{result.lines:>9,}{result.megabytes:>7}{result.plain_lines_per_s:>12,}"
            f"{result.parser_lines_per_s:>12,}{result.parser_ratio:>7}"
            f"{result.folded_lines_per_s:>12,}{result.folded_ratio:>7}"
        )


if __name__ == "__main__":
    main()
