"""Processes as /proc shows them. Runs on the host."""
# Plain os calls: the program starts anew for every look, and /proc holds thousands of links.
# ruff: noqa: PTH115, PTH121, PTH123, PTH208

import os
import pwd
from collections.abc import Iterable
from typing import NamedTuple

#: No file of /proc that we read is longer; an environment may hold 2 MiB.
READ_LIMIT_BYTES = 8 * 1024 * 1024


class Process(NamedTuple):
    """One process. `start_ticks` (clock ticks since boot) with `pid` names it for good."""

    pid: int
    ppid: int
    pgrp: int
    session: int
    state: str
    start_ticks: int
    comm: str
    argv: "tuple[bytes, ...]"

    @property
    def title(self) -> str:
        """The first word of its command line, as `setproctitle` may have written it."""
        return text(self.argv[0]) if self.argv else self.comm


def text(data: bytes) -> str:
    """Bytes as text that any JSON reader takes; what is not UTF-8 is replaced."""
    return data.decode("utf-8", "replace")


def read_bytes(path: str) -> "bytes | None":
    """A file's content, or None when it cannot be read."""
    try:
        with open(path, "rb") as file:
            return file.read(READ_LIMIT_BYTES)
    except OSError:
        return None


def link(path: str) -> str:
    """Where a symbolic link points, or "" when that cannot be read."""
    try:
        return text(os.fsencode(os.readlink(path)))
    except OSError:
        return ""


def way_to(root: str, path: str) -> str:
    """How we reach a file of a process: by its plain path where that is the same file for us too.

    A service with a private /tmp has its own mounts, yet shares all that matters; and the way through
    /proc/PID/root ends with the process.
    """
    try:
        shared = bool(root) and os.path.samefile(path, root + path)
    except OSError:
        shared = False
    return path if shared else root + path


def shares_network(pid: int) -> bool:
    """True unless the process is known to have a network of its own."""
    return link(f"/proc/{pid}/ns/net") in ("", link("/proc/self/ns/net"))


def words(data: bytes) -> "tuple[bytes, ...]":
    """The words of a /proc/PID/cmdline: each ends with a NUL, and a word may be empty."""
    if not data:
        return ()
    return tuple((data[:-1] if data.endswith(b"\0") else data).split(b"\0"))


def read_process(pid: int) -> "Process | None":
    """One process, or None when it is gone or hidden from us. Format of stat: proc(5)."""
    stat = read_bytes(f"/proc/{pid}/stat")
    if not stat or b")" not in stat:
        return None
    head, _, tail = stat.rpartition(b")")
    fields = tail.split()
    return Process(
        pid=pid,
        ppid=int(fields[1]),
        pgrp=int(fields[2]),
        session=int(fields[3]),
        state=text(fields[0]),
        start_ticks=int(fields[19]),
        comm=text(head.partition(b"(")[2]),
        argv=words(read_bytes(f"/proc/{pid}/cmdline") or b""),
    )


def read_table() -> "dict[int, Process]":
    """All processes that we can see, zombies left out."""
    pids = [int(name) for name in os.listdir("/proc") if name.isdigit()]
    processes = (read_process(pid) for pid in pids)
    return {process.pid: process for process in processes if process and process.state not in "ZX"}


def is_alive(pid: int, start_ticks: int) -> bool:
    """True while exactly this process exists; a zombie is dead."""
    process = read_process(pid)
    return process is not None and process.start_ticks == start_ticks and process.state not in "ZX"


def descendants(table: "dict[int, Process]", roots: "Iterable[int]") -> "list[Process]":
    """All processes below the roots, parents before children."""
    children: dict[int, list[Process]] = {}
    for process in table.values():
        children.setdefault(process.ppid, []).append(process)
    found: list[Process] = []
    waiting = list(roots)
    while waiting:
        below = sorted(children.get(waiting.pop(0), []))
        found += below
        waiting += [process.pid for process in below]
    return found


def ancestors(table: "dict[int, Process]", pid: int) -> "list[Process]":
    """The processes above one, nearest first, as far as we can see them."""
    found: list[Process] = []
    process = table.get(pid)
    while process and process.ppid in table and len(found) < 64:
        process = table[process.ppid]
        found.append(process)
    return found


def environment(pid: int) -> "list[bytes] | None":
    """A process's initial environment as NAME=value items, or None when we may not read it."""
    data = read_bytes(f"/proc/{pid}/environ")
    return None if data is None else [item for item in data.split(b"\0") if b"=" in item]


def user_name(uid: int) -> str:
    """A user's login name, or the number when the host does not know it."""
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)
