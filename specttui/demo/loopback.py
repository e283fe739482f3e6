"""Ports on this machine: kept for a server to come, and whether a server answers on one."""

from __future__ import annotations

import http.client
import socket

_TIMEOUT_S = 2.0


class ReservedPort:
    """A port on loopback that only a server which is told of it gets, until `close`.

    A socket stays bound to it and never listens. Linux lets a listener that asks to reuse the address, as
    servers do, bind beside it, and gives the port to nobody who asks for any free one: without it, somebody
    else may have the port by the time the server binds, or between a stop and the next start.

    Raises:
        OSError: No port is free.
    """

    def __init__(self) -> None:
        self._socket = socket.socket()
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self._socket.bind(("127.0.0.1", 0))
        self.number = int(self._socket.getsockname()[1])

    def close(self) -> None:
        """Give it back."""
        self._socket.close()


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
