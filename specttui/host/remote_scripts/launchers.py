"""Which processes are SGLang launchers: the parents that keep flags and environment. Runs on the host.

The workers' command line and environment are overwritten by their titles (`sglang::scheduler_TP0`), so
everything is read from the launcher; see "Facts seen" in the logs' README and SGLang's `setproctitle`.
"""
# Plain os calls: the program starts anew for every look, and /proc holds thousands of links.
# ruff: noqa: PTH119

import os
from collections.abc import Sequence
from typing import NamedTuple

from specttui.host.remote_scripts import procfs

TITLE = "sglang::"
#: SGLang's own, all releases.
DEFAULT_PORT = 30000
#: Short enough for a process's short name too, which is cut to 15 characters.
_WORKER_TITLES = ("sglang::sched", "sglang::data_")
#: SGLang 0.5.2 alone gives the launcher itself a title, and so loses its command line.
_LAUNCHER_TITLE = "sglang::http_server"
_LAUNCH_SCRIPT = b"/specttui/launch-"
_LAUNCH_MODULES = ("sglang.launch_server", "sglang_router.launch_server")
_SERVE_MODULES = ("sglang", "sglang.cli.main", "sglang.cli")
_REAPERS = ("systemd", "init", "tini", "dumb-init", "catatonit", "docker-init")
_OPTIONS_WITH_VALUE = ("-W", "-X", "--check-hash-based-pycs")


class Launcher(NamedTuple):
    """A launcher. `known` is how it was recognised: by its arguments, its children, or its title."""

    pid: int
    known: str


def flag(argv: "Sequence[str]", name: str) -> "str | None":
    """The value of a flag in either form, the last one given; None when it is absent."""
    found = None
    for position, word in enumerate(argv):
        if word == name and position + 1 < len(argv):
            found = argv[position + 1]
        elif word.startswith(name + "="):
            found = word[len(name) + 1 :]
    return found


def port(argv: "Sequence[str]") -> int:
    """The port that a launch command asks for."""
    wanted = flag(argv, "--port") or ""
    return int(wanted) if wanted.isdigit() else DEFAULT_PORT


def own_session(table: "dict[int, procfs.Process]", pid: int) -> int:
    """The session that holds nothing but this server, or 0: its own, or that of our launch script."""
    process = table.get(pid)
    leader = table.get(process.session) if process else None
    if process is None or leader is None:
        return 0
    ours = any(_LAUNCH_SCRIPT in word for word in leader.argv)
    return process.session if ours or leader.pid == pid else 0


def interpreter_options(argv: "Sequence[str]") -> "tuple[list[str], list[str]]":
    """Split a Python command line into the interpreter's options and the rest (`-m x`, script)."""
    options: list[str] = []
    rest = list(argv[1:])
    while rest and rest[0].startswith("-") and rest[0] != "-" and not rest[0].startswith(("-m", "-c")):
        if not rest[0].startswith("--") and rest[0][-1] in "mc" and len(rest[0]) > 2:
            options.append(rest[0][:-1])
            rest[0] = "-" + rest[0][-1]
            break
        options.append(rest.pop(0))
        if options[-1] in _OPTIONS_WITH_VALUE and rest:
            options.append(rest.pop(0))
    return options, rest


def is_launch_command(argv: "Sequence[str]") -> bool:
    """True for the command lines that start an SGLang server under Python."""
    if not argv or not os.path.basename(argv[0]).startswith(("python", "pypy")):
        return False
    rest = interpreter_options(argv)[1]
    if rest and rest[0].startswith("-m"):
        module = rest[0][2:] or (rest[1] if len(rest) > 1 else "")
        arguments = rest[1:] if rest[0][2:] else rest[2:]
        serves = module in _SERVE_MODULES and arguments[:1] == ["serve"]
        return module in _LAUNCH_MODULES or serves or module.split(".")[:2] == ["dynamo", "sglang"]
    script = os.path.basename(rest[0]) if rest else ""
    return (script == "sglang" and rest[1:2] == ["serve"]) or script == "launch_server.py"


def _is_worker(process: "procfs.Process") -> bool:
    return process.title.startswith(_WORKER_TITLES) or process.comm.startswith(_WORKER_TITLES)


def _top_title(table: "dict[int, procfs.Process]", process: "procfs.Process") -> "procfs.Process":
    """The highest process above a worker that still has one of SGLang's titles."""
    parent = table.get(process.ppid)
    while parent and parent.title.startswith(TITLE):
        process, parent = parent, table.get(parent.ppid)
    return process


def _by_arguments(table: "dict[int, procfs.Process]") -> "list[int]":
    """Launch commands, wrappers left out: of a chain of them the innermost real one counts.

    A child with exactly its parent's arguments is a fork of it, so there the parent counts.
    """
    matches = {
        pid
        for pid, process in table.items()
        if is_launch_command([procfs.text(word) for word in process.argv])
    }
    outer = set()
    for pid in matches:
        parent = table.get(table[pid].ppid)
        if parent and parent.pid in matches:
            outer.add(pid if parent.argv == table[pid].argv else parent.pid)
    return sorted(matches - outer)


def find(table: "dict[int, procfs.Process]") -> "tuple[list[Launcher], list[int]]":
    """Find the launchers, and the workers that lost theirs.

    Args:
        table: All processes.

    Returns:
        The launchers, and the pids of orphaned workers, which hold GPU memory for nobody.
    """
    found = {pid: Launcher(pid, "arguments") for pid in _by_arguments(table)}
    orphans: list[int] = []
    for process in table.values():
        if not _is_worker(process):
            continue
        if {above.pid for above in procfs.ancestors(table, process.pid)} & set(found):
            continue
        top = _top_title(table, process)
        parent = table.get(top.ppid)
        if top.title.startswith(_LAUNCHER_TITLE):
            found[top.pid] = Launcher(top.pid, "title")
        elif parent is None or parent.comm in _REAPERS or not parent.argv or parent.pid == 1:
            orphans.append(process.pid)
        else:
            found[parent.pid] = Launcher(parent.pid, "children")
    return sorted(found.values()), sorted(orphans)
