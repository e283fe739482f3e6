"""SGLang's log format: a stamp with the rank, no level; progress bars on carriage returns."""

from __future__ import annotations

import logging
import os
import sys
import time
from collections.abc import Sequence


def configure_logging(level: str, rank: str = "") -> None:
    """Send records of this process to stderr as `[stamp rank] message`.

    Args:
        level: As --log-level.
        rank: "TP0" and the like; empty when there is only one rank.
    """
    prefix = f" {rank}" if rank else ""
    logging.basicConfig(
        level=level.upper(),
        format=f"[%(asctime)s{prefix}] %(message)s",
        datefmt="%Y-%m-%d %H:%M:%S",
        stream=sys.stderr,
        force=True,
    )


def write_raw(text: str) -> None:
    """One write to stderr, past the logging: progress bars, tracebacks, NCCL's own lines."""
    sys.stderr.flush()
    os.write(2, text.encode())


def log_for_rank(rank: str, message: str) -> None:
    """A line of another rank, which is no process with work of its own here."""
    write_raw(f"[{time.strftime('%Y-%m-%d %H:%M:%S')} {rank}] {message}\n")


def bar(done: int, total: int, elapsed_s: float, *, blocks: bool = True) -> str:
    """A progress bar's text as tqdm draws it."""
    rate = done / elapsed_s if done and elapsed_s > 0 else None
    left = _clock((total - done) / rate) if rate else "?"
    speed = f"{rate:5.2f}it/s" if rate else "?it/s"
    percent = f"{100 * done // total:3d}%"
    times = f"[{_clock(elapsed_s)}<{left}, {speed}]"
    if not blocks:
        return f"{percent} Completed | {done}/{total} {times}"
    return f"{percent}|{_blocks(done, total)}| {done}/{total} {times}"


def graph_sizes(max_bs: int) -> Sequence[int]:
    """The batch sizes a server captures graphs for."""
    return [*range(1, min(8, max_bs) + 1), *range(10, max_bs + 1, 2)]


def _blocks(done: int, total: int) -> str:
    eighths = 80 * done // total
    full, part = divmod(eighths, 8)
    return ("█" * full + (" ▏▎▍▌▋▊▉"[part] if part else "")).ljust(10)


def _clock(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    return f"{minutes:02d}:{rest:02d}"
