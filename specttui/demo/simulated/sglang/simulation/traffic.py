"""Simulated clients, so that a freshly started server has something to show."""

from __future__ import annotations

import logging
import random
import threading

from ..srt.managers.scheduler_client import SchedulerClient

logger = logging.getLogger(__name__)

_MEAN_TOKENS, _TOKENS_SPREAD = 512, 64
_PROMPT_TOKENS = 128
_FIRST_PORT, _LAST_PORT = 32768, 60999


class Traffic:
    """So many clients, each asking again as soon as it has its answer.

    Args:
        client: Where requests go; they count as simulated, so nothing waits for them.
        clients: How many.
    """

    def __init__(self, client: SchedulerClient, clients: int) -> None:
        self._client = client
        self._threads = [threading.Thread(target=self._ask, daemon=True) for _ in range(clients)]
        self._stopped = threading.Event()

    def start(self) -> None:
        """Begin to ask."""
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """Ask no more; answers under way are dropped by the server's end."""
        self._stopped.set()

    def _ask(self) -> None:
        while not self._stopped.is_set():
            tokens = _MEAN_TOKENS + random.randint(-_TOKENS_SPREAD, _TOKENS_SPREAD)  # noqa: S311
            for _ in self._client.submit(_PROMPT_TOKENS, tokens, simulated=True):
                pass
            port = random.randint(_FIRST_PORT, _LAST_PORT)  # noqa: S311 - a port in a log line
            logger.info('INFO:     127.0.0.1:%d - "POST /generate HTTP/1.1" 200 OK', port)
