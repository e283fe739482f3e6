"""The schedulers' mailboxes on several nodes: what rank 0 receives, all ranks receive."""

from __future__ import annotations

from multiprocessing.connection import Connection, wait

from .messages import FromScheduler, PipeMailbox, ToScheduler
from .process_group import Follower, Leader


class LeaderMailbox(PipeMailbox):
    """Rank 0's: a pipe to the HTTP process whose messages go on to all other ranks.

    Args:
        connection: The pipe.
        group: The other ranks.
    """

    def __init__(self, connection: Connection, group: Leader) -> None:
        super().__init__(connection)
        self._group = group

    def receive(self, timeout_s: float) -> list[ToScheduler]:
        """What has come; waits up to `timeout_s` for the first message.

        Raises:
            DistBackendError: Another rank died.
        """
        if timeout_s:
            wait([self._connection, *self._group.others], timeout_s)
        self._group.check()
        messages = super().receive(0.0)
        self._group.broadcast(messages)
        return messages


class FollowerMailbox:
    """Another rank's: what rank 0 passes on; nobody asks what it has to say.

    Args:
        group: The way to rank 0.
    """

    def __init__(self, group: Follower) -> None:
        self._group = group

    def receive(self, timeout_s: float) -> list[ToScheduler]:
        """What rank 0 received in its next iteration; waits for that, however long.

        Raises:
            DistBackendError: Rank 0 died.
        """
        del timeout_s
        return self._group.next_messages()

    def send(self, message: FromScheduler) -> None:
        """Rank 0 tells it."""
