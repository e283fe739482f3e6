"""Listening TCP ports and who holds them. Runs on the host."""
# Plain os calls: the program starts anew for every look, and /proc holds thousands of links.
# ruff: noqa: PTH208

import os
import socket
import struct
from collections.abc import Iterable
from typing import NamedTuple

from specttui.host.remote_scripts import procfs

_LISTEN = b"0A"


class Listener(NamedTuple):
    """One listening socket; `pid` is 0 when its process is hidden from us, `uid` is its user's."""

    address: str
    port: int
    pid: int
    uid: int = 0

    def as_json(self) -> "dict[str, object]":
        """The value as it goes over the wire."""
        return {"address": self.address, "port": self.port, "pid": self.pid}


def _address(field: bytes) -> str:
    """An address of /proc/net/tcp: 32-bit words of hexadecimal digits in the machine's byte order."""
    raw = bytes.fromhex(field.decode("ascii"))
    numbers = struct.unpack(f">{len(raw) // 4}I", raw)
    packed = struct.pack(f"={len(numbers)}I", *numbers)
    return socket.inet_ntop(socket.AF_INET if len(packed) == 4 else socket.AF_INET6, packed)


def _listening_inodes(namespace_pid: str) -> "dict[int, Listener]":
    found: dict[int, Listener] = {}
    for name in ("tcp", "tcp6"):
        content = procfs.read_bytes(f"/proc/{namespace_pid}/net/{name}") or b""
        for line in content.splitlines()[1:]:
            fields = line.split()
            if len(fields) > 9 and fields[3] == _LISTEN:
                address, _, port = fields[1].partition(b":")
                found[int(fields[9])] = Listener(_address(address), int(port, 16), 0, int(fields[7]))
    return found


def _socket_inodes(pid: int) -> "list[int]":
    folder = f"/proc/{pid}/fd"
    try:
        names = os.listdir(folder)
    except OSError:
        return []
    links = (procfs.link(folder + "/" + name) for name in names)
    return [int(target[8:-1]) for target in links if target.startswith("socket:[")]


def listeners(pids: "Iterable[int]", namespace_pid: str = "self") -> "list[Listener]":
    """Every listening socket of a network namespace, with its owner where that is one of `pids`.

    Args:
        pids: The processes whose sockets are looked at, the likeliest owners first.
        namespace_pid: A process of the network namespace that is meant.
    """
    open_sockets = _listening_inodes(namespace_pid)
    owned: dict[int, Listener] = {}
    for pid in pids:
        if len(owned) == len(open_sockets):
            break
        for inode in _socket_inodes(pid):
            if inode in open_sockets and inode not in owned:
                owned[inode] = open_sockets[inode]._replace(pid=pid)
    return [owned.get(inode, listener) for inode, listener in open_sockets.items()]
