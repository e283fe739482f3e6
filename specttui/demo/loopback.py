"""Ports on this machine: free ones, and whether a server answers on one."""

from __future__ import annotations

import http.client
import socket

_TIMEOUT_S = 2.0


def free_port() -> int:
    """A port on loopback that nobody listens on at the moment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def answers(port: int) -> bool:
    """True when a simulated server answers on the port."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=_TIMEOUT_S)
    try:
        connection.request("GET", "/v1/models")
        return connection.getresponse().status == http.client.OK
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()
