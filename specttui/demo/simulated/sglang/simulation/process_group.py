"""The ranks of one server, as each of them sees the others.

On several nodes every rank runs the same scheduler on the same requests with the same seed, so all of them
build the same batches: rank 0 sends each iteration's requests to the others, as the real one does. Who dies
is missed at the next thing done together.
"""

from __future__ import annotations

import json
import random
import select
import socket
from collections.abc import Sequence
from typing import BinaryIO, Protocol

from ..srt.server_args import ServerArgs
from .failures import peer_gone
from .messages import ToScheduler, from_json, to_json
from .place import Place
from .rendezvous import Store, come, hung_up, send_line

_CHUNK_BYTES = 4096
_SEEDS = 2**31
#: What torch gives the ranks to meet.
_DEFAULT_TIMEOUT_S = 600


class ProcessGroup(Protocol):
    """What a scheduler needs of the others."""

    place: Place
    seed: int | None

    def join(self) -> None:
        """Meet all others; from then on all have the same seed."""
        ...

    def check(self) -> None:
        """Notice that somebody died."""
        ...

    def synchronize(self) -> None:
        """Wait until all have loaded."""
        ...


class Alone:
    """The ranks of a server on one node: only rank 0 works, so it needs nobody.

    Args:
        seed: Makes noise and acceptance repeatable.
        place: Its place.
    """

    def __init__(self, seed: int | None = None, place: Place | None = None) -> None:
        self.seed = seed
        self.place = place or Place()

    def join(self) -> None:
        """There is nobody to wait for."""

    def check(self) -> None:
        """There is nobody to miss."""

    def synchronize(self) -> None:
        """There is nobody to wait for."""


class Leader:
    """Rank 0 of a server on several nodes.

    Args:
        place: Its place.
        address: Where the others come to.
        timeout_s: How long they may take.
        seed: The seed for all; None draws one.
    """

    def __init__(self, place: Place, address: str, timeout_s: float, seed: int | None) -> None:
        self.place = place
        self._shared_seed = random.randrange(_SEEDS) if seed is None else seed  # noqa: S311 - no secret
        self.seed: int | None = self._shared_seed
        self._address, self._timeout_s = address, timeout_s
        self._store: Store | None = None
        self._loading: set[socket.socket] = set()
        self.others: list[socket.socket] = []

    def join(self) -> None:
        """Listen, and wait for all others.

        Raises:
            DistNetworkError: The address is taken.
            DistStoreError: Somebody does not come in time.
        """
        # Kept for good: the real store goes on listening, too.
        self._store = Store(self._address, self.place.ranks)
        self.others = list(self._store.gather(self._timeout_s, self._shared_seed).values())
        self._loading = set(self.others)

    def check(self) -> None:
        """Notice that somebody died.

        Raises:
            DistBackendError: Somebody did.
        """
        self._listen(0.0)

    def synchronize(self) -> None:
        """Wait until all others have loaded; each says so once.

        Raises:
            DistBackendError: Somebody died.
        """
        while self._loading:
            self._listen(None)

    def broadcast(self, messages: Sequence[ToScheduler]) -> None:
        """Tell all others what rank 0 received in this iteration.

        Raises:
            DistBackendError: Somebody died.
        """
        line = json.dumps(to_json(messages)).encode() + b"\n"
        for other in self.others:
            try:
                other.sendall(line)
            except OSError:
                raise peer_gone(other) from None

    def _listen(self, timeout_s: float | None) -> None:
        for other in select.select(self.others, [], [], timeout_s)[0]:
            try:
                said = other.recv(_CHUNK_BYTES)
            except OSError:
                said = b""
            if not said:
                raise peer_gone(other)
            self._loading.discard(other)


class Follower:
    """Any other rank of a server on several nodes.

    Args:
        place: Its place.
        address: Where rank 0 is.
        timeout_s: How long meeting may take.
    """

    def __init__(self, place: Place, address: str, timeout_s: float) -> None:
        self.place = place
        self.seed: int | None = None
        self._address, self._timeout_s = address, timeout_s
        self._connection: socket.socket | None = None
        self._received: BinaryIO | None = None

    @property
    def _leader(self) -> socket.socket:
        assert self._connection is not None
        return self._connection

    def join(self) -> None:
        """Go to rank 0 and wait until all are there.

        Raises:
            DistNetworkError: Rank 0 cannot be reached.
        """
        self._connection, self.seed = come(self._address, self.place.rank, self._timeout_s)
        self._received = self._connection.makefile("rb")

    def check(self) -> None:
        """Notice that rank 0 died; only while loading, when it has nothing to say.

        Raises:
            DistBackendError: It did.
        """
        if hung_up(self._leader):
            raise peer_gone(self._leader)

    def synchronize(self) -> None:
        """Say that this rank has loaded.

        Raises:
            DistBackendError: Rank 0 died.
        """
        try:
            send_line(self._leader, {"loaded": self.place.rank})
        except OSError:
            raise peer_gone(self._leader) from None

    def next_messages(self) -> list[ToScheduler]:
        """What rank 0 received in its next iteration; waits for it.

        Raises:
            DistBackendError: Rank 0 died.
        """
        assert self._received is not None
        try:
            line = self._received.readline()
        except OSError:
            line = b""
        if not line.endswith(b"\n"):
            raise peer_gone(self._leader)
        return from_json(json.loads(line))


def process_group(server_args: ServerArgs, place: Place, seed: int | None) -> Alone | Leader | Follower:
    """The group as a launch's rank sees it."""
    if place.nodes == 1:
        return Alone(seed, place)
    address = server_args.dist_init_addr or ""
    timeout_s = server_args.dist_timeout or _DEFAULT_TIMEOUT_S
    if place.rank == 0:
        return Leader(place, address, timeout_s, seed)
    return Follower(place, address, timeout_s)
