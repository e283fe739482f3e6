"""How the ranks of a server on several nodes meet: rank 0 listens, the others come, all wait for the last.

Each line on a connection is one JSON value. Whoever comes says which rank it is; when all are there, each is
told the seed that they share.
"""

from __future__ import annotations

import json
import select
import socket
import time
from contextlib import suppress

from .failures import address_taken, clients_missing, no_store, store_gone

_RETRY_S = 0.1
#: Who connects and says nothing is none of the ranks.
_INTRODUCTION_S = 2.0
#: Rank 0 gives up before those who wait with it: it knows who is missing.
_PATIENCE_S = 5.0
_BACKLOG = 128
_LINE_BYTES = 4096


class Store:
    """The meeting place, at rank 0.

    Args:
        address: Where it listens, `host:port`.
        ranks: How many ranks there are, rank 0 included.

    Raises:
        DistNetworkError: It cannot listen there.
    """

    def __init__(self, address: str, ranks: int) -> None:
        host, port = split_address(address)
        self._ranks = ranks
        self._surplus: list[socket.socket] = []
        try:
            # Sets SO_REUSEADDR: a restart listens again while the old connections are still remembered.
            self._listener = socket.create_server((host, port), backlog=_BACKLOG)
        except OSError as error:
            raise address_taken(port, error) from None

    def gather(self, timeout_s: float, seed: int) -> dict[int, socket.socket]:
        """Wait for all other ranks, then tell each of them the seed.

        Returns:
            The connection to each rank.

        Raises:
            DistStoreError: They do not all come within `timeout_s` seconds.
        """
        came: dict[int, socket.socket] = {}
        deadline = time.monotonic() + timeout_s
        while len(came) < self._ranks - 1:
            remaining = deadline - time.monotonic()
            if remaining <= 0:
                raise clients_missing(timeout_s, 1 + len(came), self._ranks)
            self._listener.settimeout(remaining)
            with suppress(TimeoutError):
                self._admit(self._listener.accept()[0], came)
        for connection in came.values():
            with suppress(OSError):  # who is gone by now is missed at the first thing done together
                send_line(connection, {"seed": seed})
        return came

    def _admit(self, connection: socket.socket, came: dict[int, socket.socket]) -> None:
        connection.settimeout(_INTRODUCTION_S)
        try:
            rank = json.loads(read_line(connection))["rank"]
        except (OSError, ValueError, LookupError, TypeError):
            rank = None
        if rank not in range(1, self._ranks):
            connection.close()
            return
        connection.settimeout(None)
        if rank not in came or hung_up(came[rank]):
            came[rank] = connection
        else:  # a node that counts the nodes differently: it waits for nothing, as the real one does
            self._surplus.append(connection)


def come(address: str, rank: int, timeout_s: float) -> tuple[socket.socket, int]:
    """Go to the meeting place and wait there until all have come.

    Args:
        address: Where rank 0 listens, or will.
        rank: Who comes.
        timeout_s: How long to try, and then how long to wait for the others, in seconds.

    Returns:
        The connection to rank 0, and the seed.

    Raises:
        DistNetworkError: Rank 0 cannot be reached in time, or hangs up.
    """
    host, port = split_address(address)
    deadline = time.monotonic() + timeout_s
    while (connection := _connected(host, port)) is None:
        if time.monotonic() > deadline:
            raise no_store(timeout_s, host, port)
        time.sleep(_RETRY_S)
    connection.settimeout(timeout_s + _PATIENCE_S)
    try:
        send_line(connection, {"rank": rank})
        seed = json.loads(read_line(connection))["seed"]
    except TimeoutError:
        raise no_store(timeout_s, host, port) from None
    except (OSError, ValueError):
        raise store_gone() from None
    connection.settimeout(None)
    return connection, int(seed)


def _connected(host: str, port: int) -> socket.socket | None:
    try:
        connection = socket.create_connection((host, port), timeout=_INTRODUCTION_S)
    except OSError:
        return None
    with suppress(OSError):  # the other end may have hung up before it can be asked for its name
        # Where nobody listens on a loopback port, a connection may come out at itself.
        if connection.getsockname() != connection.getpeername():
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            return connection
    connection.close()
    return None


def hung_up(connection: socket.socket) -> bool:
    """True when the other end is gone; only for a connection on which it has nothing to say."""
    if not select.select([connection], [], [], 0.0)[0]:
        return False
    try:
        return not connection.recv(1, socket.MSG_PEEK)
    except OSError:
        return True


def split_address(address: str) -> tuple[str, int]:
    """Host and port of a `--dist-init-addr`."""
    host, _, port = address.rpartition(":")
    return host.strip("[]"), int(port)


def send_line(connection: socket.socket, value: object) -> None:
    """Send one JSON value."""
    connection.sendall(json.dumps(value).encode() + b"\n")


def read_line(connection: socket.socket) -> bytes:
    """One line, read byte by byte so that nothing after it is taken; "" when the other end hung up."""
    line = b""
    while not line.endswith(b"\n") and len(line) < _LINE_BYTES:
        byte = connection.recv(1)
        if not byte:
            return b""
        line += byte
    return line
