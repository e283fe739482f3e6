"""Look for SGLang servers and say all that can be seen of them and of the host. Runs on the host."""
# Plain os calls: the program starts anew for every look, and /proc holds thousands of links.
# ruff: noqa: PTH112

import os
import traceback
from typing import Any

from specttui.host.remote_scripts import host_gpus, launchers, procfs, server_facts


def _server(
    table: "dict[int, procfs.Process]",
    launcher: launchers.Launcher,
    failures: "list[str]",
    account: "list[int]",
) -> "list[object]":
    """One server's facts; one that ends while it is looked at is none, and a surprise costs only itself."""
    try:
        return [server_facts.collect(table, launcher.pid, launcher.known, account)]
    except Exception:  # one odd process must not hide the others
        if procfs.is_alive(launcher.pid, table[launcher.pid].start_ticks):
            failures.append(f"process {launcher.pid}: {traceback.format_exc(limit=-1)[-600:]}")
        return []


def main(parameters: "dict[str, Any]") -> "dict[str, object]":
    """The facts as one JSON value.

    Args:
        parameters: `skip`, pairs of pid and start ticks of servers that need no look; `account`, the numbers
            of the account and its groups for which a file may be writable, none for our own.
    """
    if not os.path.isdir("/proc/self"):
        return {"proc": False}
    table = procfs.read_table()
    found, orphans = launchers.find(table)
    failures: list[str] = []
    servers: list[object] = []
    for launcher in found:
        if [launcher.pid, table[launcher.pid].start_ticks] not in parameters.get("skip", []):
            servers += _server(table, launcher, failures, parameters.get("account", []))
    return {
        "proc": True,
        "user": procfs.user_name(os.geteuid()),
        "uid": os.geteuid(),
        "groups": sorted({os.getegid(), *os.getgroups()}),
        "sees_others": 1 in table,
        "servers": servers,
        "orphans": orphans,
        "failures": failures,
        "gpus": host_gpus.gpu_table(),
    }
