"""What the real package does to its processes: titles, and children that die with their parent."""

from __future__ import annotations

import ctypes
import os
import signal
from collections.abc import Callable
from pathlib import Path

_PR_SET_PDEATHSIG = 1
_PR_SET_NAME = 15
#: The kernel keeps so much of a process's name.
_COMM_BYTES = 15
#: Where a process's arguments lie in its memory, counted after the name in proc(5)'s stat.
_ARG_START_FIELD, _ARG_END_FIELD = 45, 46
_START_TIME_FIELD = 19


def stat_fields(pid: int | str) -> list[str]:
    """The fields of /proc/PID/stat after the process's name: index 0 is the state."""
    text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    return text.rpartition(")")[2].split()


def is_alive(pid: int, start_ticks: str) -> bool:
    """True while the process that was started at `start_ticks` runs, zombies excluded."""
    try:
        fields = stat_fields(pid)
    except OSError:
        return False
    return fields[_START_TIME_FIELD] == start_ticks and fields[0] != "Z"


def start_ticks(pid: int) -> str:
    """When the process was started, in the kernel's ticks; with the pid it names it for good."""
    return stat_fields(pid)[_START_TIME_FIELD]


def set_title(title: str) -> None:
    """Show `title` as this process's command line and name, as setproctitle does.

    The arguments are overwritten where they lie; a title longer than they are is cut.
    """
    fields = stat_fields("self")
    begin, end = int(fields[_ARG_START_FIELD]), int(fields[_ARG_END_FIELD])
    room = end - begin - 1
    ctypes.memset(begin, 0, room)
    text = title.encode()[:room]
    ctypes.memmove(begin, text, len(text))
    ctypes.CDLL(None).prctl(_PR_SET_NAME, title.encode()[:_COMM_BYTES], 0, 0, 0)


def fork_child(title: str, body: Callable[[], None]) -> int:
    """Fork a child with a title that is killed when its parent dies.

    Args:
        title: Its command line as /proc shows it.
        body: What it does; it ends when this returns.

    Returns:
        The child's pid.
    """
    parent = os.getpid()
    pid = os.fork()
    if pid:
        return pid
    try:
        signal.signal(signal.SIGQUIT, signal.SIG_DFL)
        # Whoever terminates the whole tree means the parent to drain; it takes its children down itself.
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() == parent:
            set_title(title)
            body()
    finally:
        os._exit(1)


def idle() -> None:
    """What ranks and helpers without work of their own do."""
    while True:
        signal.pause()
