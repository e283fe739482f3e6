"""Whether processes of this machine live."""

from __future__ import annotations

import time
from collections.abc import Iterable
from pathlib import Path


def lives(pid: int | str) -> bool:
    """Whether a process runs; one that ended and was not yet collected does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in {"Z", "X"}
    except OSError:
        return False


def survivors(pids: Iterable[int | str], seconds: float = 20.0) -> list[int | str]:
    """Those that still live after at most so long."""
    left = list(pids)
    deadline = time.monotonic() + seconds
    while left and time.monotonic() < deadline:
        time.sleep(0.05)
        left = [pid for pid in left if lives(pid)]
    return left
