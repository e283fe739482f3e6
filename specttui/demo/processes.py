"""The processes that belong to a demo host: all that inherited its marker."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from pathlib import Path

#: The variable that every process of a demo host inherits.
MARKER = "SPECTTUI_DEMO_ID"
_GRACE_S = 5.0
_POLL_S = 0.05


def marked_pids(demo_id: str) -> list[int]:
    """Live processes of this user whose environment carries the demo host's marker."""
    marker = f"{MARKER}={demo_id}".encode()
    return [
        int(folder.name)
        for folder in Path("/proc").iterdir()
        if folder.name.isdigit() and _carries(folder, marker)
    ]


async def kill_marked(demo_id: str) -> None:
    """Kill every process of the demo host; new ones they may have forked meanwhile, too."""
    deadline = time.monotonic() + _GRACE_S
    while time.monotonic() < deadline:
        pids = marked_pids(demo_id)
        if not pids:
            return
        for pid in pids:
            kill(pid, signal.SIGKILL)
        await asyncio.sleep(_POLL_S)


def kill(pid: int, number: int, *, group: bool = False) -> None:
    """Signal a process, or its group; one that is gone already is fine."""
    try:
        if group:
            os.killpg(pid, number)
        else:
            os.kill(pid, number)
    except ProcessLookupError:
        return


def owner_variable() -> str:
    """This process as SPECTTUI_DEMO_OWNER names it: its pid, and its start time in the kernel's ticks."""
    fields = Path("/proc/self/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
    return f"{os.getpid()} {fields[19]}"


def _carries(folder: Path, marker: bytes) -> bool:
    try:
        return marker in (folder / "environ").read_bytes().split(b"\0")
    except OSError:
        return False
