"""How a starting server is doing: alive, listening, answering. Runs on the host."""
# Plain os calls: the program starts anew for every look, and /proc holds thousands of links; addresses
# that mean "all" are compared, not bound.
# ruff: noqa: PTH110, PTH116, PTH123, PTH202, S104

import os
import socket
import time
from typing import Any

from specttui.host.remote_scripts import endpoints, procfs, sockets

#: Cheap answers; never /health, which makes the server generate a token.
_PATHS = ("/v1/models", "/get_model_info", "/model_info")
_ANY = ("0.0.0.0", "::")
_TAIL_BYTES = 8192
_TIMEOUT_S = 3.0


def _overlaps(one: str, other: str) -> bool:
    """True when two listening addresses cannot be held at once."""
    return one == other or one in _ANY or other in _ANY


def _numeric(host: str) -> str:
    try:
        return str(socket.getaddrinfo(host, None)[0][4][0])
    except OSError:
        return host


def _exit_status(path: str) -> "int | None":
    """The status that the launch script noted, negative for a signal; it follows the death closely."""
    for _ in range(20 if path else 0):
        noted = (procfs.read_bytes(path) or b"").strip()
        if noted:
            status = int(noted)
            return 128 - status if status > 128 else status
        time.sleep(0.05)
    return None


def _last_text(path: str, offset: int) -> str:
    try:
        with open(path, "rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(offset if offset <= size else 0, size - _TAIL_BYTES))
            return procfs.text(file.read(_TAIL_BYTES))
    except OSError:
        return ""


def _seeming(pid: int, listening: "list[sockets.Listener]") -> "list[sockets.Listener]":
    """The sockets of the server's user, where we may not see which processes hold them."""
    if os.access(f"/proc/{pid}/fd", os.R_OK):
        return []
    try:
        uid = os.stat(f"/proc/{pid}").st_uid
    except OSError:  # it has just ended: the next look says so
        return []
    return [listener for listener in listening if not listener.pid and listener.uid == uid]


def main(parameters: "dict[str, Any]") -> "dict[str, Any]":
    """Look at the server once.

    Args:
        parameters: `pid`, `start_ticks`, `exit_path`, `log_path`, `log_offset`, `host`, `port`, `tls`,
            `api_key`; `trust_user` to take a socket of the server's user for the server's own where it cannot
            be told.
    """
    pid, port = parameters["pid"], parameters["port"]
    if not procfs.is_alive(pid, parameters["start_ticks"]):
        last = _last_text(parameters["log_path"], parameters["log_offset"])
        return {"alive": False, "exit_status": _exit_status(parameters["exit_path"]), "last_text": last}
    table = procfs.read_table()
    own = [pid] + [process.pid for process in procfs.descendants(table, [pid])]
    host = _numeric(parameters["host"])
    shared = procfs.shares_network(pid)
    namespace = "self" if shared else str(pid)
    listening = [
        listener
        for listener in sockets.listeners(own + sorted(set(table) - set(own)), namespace)
        if listener.port == port and _overlaps(listener.address, host)
    ]
    ours = [listener for listener in listening if listener.pid in own]
    if not ours and parameters.get("trust_user"):
        ours = _seeming(pid, listening)
    others = [listener for listener in listening if listener not in ours]
    answer = endpoints.Answer(0, "", "")
    if ours and not shared:
        answer = endpoints.Answer(200, "", "")  # a container's network, which we cannot ask through ours
    elif ours:
        url = endpoints.base_url(ours[0].address, port, parameters["tls"])
        answer = endpoints.first_known(url, _PATHS, parameters["api_key"], _TIMEOUT_S)
    return {
        "alive": True,
        "listens": bool(ours),
        "answers": answer.status in (200, 401, 403),
        "others": [dict(o.as_json(), title=table[o.pid].title if o.pid in table else "") for o in others],
        "log_size": os.path.getsize(parameters["log_path"]) if os.path.exists(parameters["log_path"]) else 0,
    }
