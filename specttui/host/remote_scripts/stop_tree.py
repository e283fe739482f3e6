"""Signal a server's processes, see which are left and who listens on its ports. Runs on the host.

Processes are named by pid and start ticks, never by a pattern: a pattern would match the shell that
carries it, and a recycled pid belongs to somebody else.
"""

import os
import signal
import time
from typing import Any

from specttui.host.remote_scripts import launchers, procfs, sockets


def _still_ours(table: "dict[int, procfs.Process]", session: int, launcher: "list[int]") -> bool:
    """False for a session whose number was recycled: its leader is younger than our launcher."""
    leader = table.get(session)
    return leader is None or leader.start_ticks <= launcher[1]


def _tree(
    table: "dict[int, procfs.Process]", known: "list[list[int]]", sessions: "list[int]"
) -> "list[procfs.Process]":
    """All living processes of the server: those we know, what is below them, and its own session's."""
    named = {(pid, ticks) for pid, ticks in known}
    roots = [process for process in table.values() if (process.pid, process.start_ticks) in named]
    members = [process for process in table.values() if process.session in sessions]
    found = {process.pid: process for process in roots + members}
    for process in procfs.descendants(table, list(found)):
        found.setdefault(process.pid, process)
    return sorted(found.values())


def _send(processes: "list[procfs.Process]", number: int) -> "list[int]":
    """Signal processes; returns those that we may not signal."""
    denied = []
    for process in processes:
        try:
            if procfs.is_alive(process.pid, process.start_ticks):
                os.kill(process.pid, number)
        except ProcessLookupError:
            continue
        except PermissionError:
            denied.append(process.pid)
    return denied


def _command(process: "procfs.Process | None") -> str:
    return " ".join(procfs.text(word) for word in process.argv)[:200] if process else ""


def _holders(table: "dict[int, procfs.Process]", ports: "list[int]") -> "list[dict[str, Any]]":
    """Who listens on the server's ports."""
    return [
        dict(listener.as_json(), command=_command(table.get(listener.pid)))
        for listener in sockets.listeners(table)
        if listener.port in ports
    ]


def _ports(tree: "list[procfs.Process]", known: "list[int]") -> "list[int]":
    """The known ports and whatever else the tree listens on now, such as ports derived from the first."""
    found = sockets.listeners([process.pid for process in tree]) if tree else []
    return sorted({*known, *(listener.port for listener in found if listener.pid)})


def _successors(
    table: "dict[int, procfs.Process]",
    tree: "list[procfs.Process]",
    launcher: "list[int]",
    ports: "list[int]",
) -> "list[dict[str, Any]]":
    """Servers started after this one for one of its ports: a loop around it brings it back."""
    found: list[dict[str, Any]] = []
    for process in table.values():
        argv = [procfs.text(word) for word in process.argv]
        if process.start_ticks <= launcher[1] or process in tree or not launchers.is_launch_command(argv):
            continue
        if launchers.port(argv) in ports and procfs.shares_network(process.pid):
            found.append({"pid": process.pid, "command": _command(process)})
    return found


def main(parameters: "dict[str, Any]") -> "dict[str, Any]":
    """Send a signal, wait a little for the processes to end, and report.

    Args:
        parameters: `known` (pairs of pid and start ticks, the launcher first), `sessions`, `signal` ("TERM",
            "KILL" or "" for none), `everyone` (or the launcher alone), `wait_s`, `ports`.
    """
    known, launcher = parameters["known"], parameters["known"][0]
    table = procfs.read_table()
    own = launchers.own_session(table, launcher[0]) if procfs.is_alive(*launcher) else 0
    sessions = [n for n in {own, *parameters["sessions"]} if n and _still_ours(table, n, launcher)]
    tree = _tree(table, known, sessions)
    ports = _ports(tree, parameters["ports"])
    targets = tree if parameters["everyone"] else [p for p in tree if [p.pid, p.start_ticks] == launcher]
    denied = _send(targets, getattr(signal, "SIG" + parameters["signal"])) if parameters["signal"] else []
    deadline = time.monotonic() + parameters["wait_s"]
    while any(procfs.is_alive(p.pid, p.start_ticks) for p in tree) and time.monotonic() < deadline:
        time.sleep(0.05)
    table = procfs.read_table()
    alive = _tree(table, known + [[p.pid, p.start_ticks] for p in tree], sessions)
    return {
        "sessions": sessions,
        "seen": [[p.pid, p.start_ticks] for p in tree],
        "alive": [{"pid": p.pid, "start_ticks": p.start_ticks, "title": p.title} for p in alive],
        "denied": denied,
        "ports": ports,
        "holders": _holders(table, ports),
        "successors": _successors(table, tree + alive, launcher, parameters["ports"]),
    }
