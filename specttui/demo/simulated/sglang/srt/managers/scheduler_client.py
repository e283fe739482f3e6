"""The HTTP process's side of the scheduler: requests in, tokens out."""

from __future__ import annotations

import queue
import threading
import uuid
from collections.abc import Iterator
from multiprocessing.connection import Connection

from ...simulation.messages import (
    AbortRequest,
    FromScheduler,
    NewRequest,
    ResetAcceptance,
    SchedulerStats,
    TokensOut,
    ToScheduler,
)


class SchedulerClient:
    """Sends requests to the scheduler and sorts its answers to whoever waits for them.

    Args:
        connection: The pipe to the scheduler process.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._send_lock = threading.Lock()
        self._answers: dict[str, queue.SimpleQueue[TokensOut]] = {}
        self._simulated: set[str] = set()
        self.stats = SchedulerStats()

    def start(self) -> None:
        """Begin to take the scheduler's answers."""
        threading.Thread(target=self._read, daemon=True).start()

    def submit(
        self, prompt_tokens: int, max_new_tokens: int, *, stream: bool = False, simulated: bool = False
    ) -> Iterator[TokensOut]:
        """Generate; yields progress (each step with `stream`) and ends with the finished answer.

        A generator that is closed early aborts the request.
        """
        rid = uuid.uuid4().hex
        answers: queue.SimpleQueue[TokensOut] = queue.SimpleQueue()
        self._answers[rid] = answers
        if simulated:
            self._simulated.add(rid)
        self._send(NewRequest(rid, prompt_tokens, max_new_tokens, stream))
        return self._progress(rid, answers)

    def reset_acceptance(self) -> None:
        """Begin the cumulative acceptance anew."""
        self._send(ResetAcceptance())

    def remaining(self) -> list[str]:
        """Requests of real clients that are not answered yet."""
        return [rid for rid in list(self._answers) if rid not in self._simulated]

    def unfinished(self) -> int:
        """All requests that are not answered yet, simulated ones included."""
        return len(self._answers)

    def _progress(self, rid: str, answers: queue.SimpleQueue[TokensOut]) -> Iterator[TokensOut]:
        finished = False
        try:
            while not finished:
                answer = answers.get()
                finished = answer.finished
                yield answer
        finally:
            self._answers.pop(rid, None)
            self._simulated.discard(rid)
            if not finished:
                self._send(AbortRequest(rid))

    def _read(self) -> None:
        while True:
            try:
                self._sort(self._connection.recv())
            except (EOFError, OSError):
                return

    def _sort(self, message: FromScheduler) -> None:
        if isinstance(message, SchedulerStats):
            self.stats = message
        elif isinstance(message, TokensOut) and message.rid in self._answers:
            self._answers[message.rid].put(message)

    def _send(self, message: ToScheduler) -> None:
        with self._send_lock:
            self._connection.send(message)
