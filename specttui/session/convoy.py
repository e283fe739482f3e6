"""Nodes of one server restart together: none goes on to a step before all are through with the one before."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from typing import Any, TypeVar

from specttui.errors import ServerStartError, SpecttuiError
from specttui.host.readiness import Readiness

Result = TypeVar("Result")

#: After one node's start failed, the others may still tell that they failed first; wait so long for them.
LAST_WORDS_S = 6.0


class Convoy:
    """What the nodes of one restart share; a server on a single host is a convoy of one.

    Args:
        size: How many nodes there are.
    """

    def __init__(self, size: int = 1) -> None:
        self._barrier = asyncio.Barrier(size)
        self._waiting: list[Readiness] = []
        self.head_is_ready = asyncio.Event()

    async def together(self) -> None:
        """Wait until every node is as far as this; `all_of` ends the waiting when one fails."""
        await self._barrier.wait()

    def joined(self, readiness: Readiness) -> None:
        """A node is being waited for."""
        self._waiting.append(readiness)

    def saw_progress(self) -> None:
        """Something moved on one node: the others may only be waiting for it."""
        for readiness in self._waiting:
            readiness.saw_progress()


async def all_of(
    works: Sequence[Coroutine[Any, Any, Result]], root: Callable[[Sequence[int]], int] = min
) -> list[Result]:
    """Do the same on every node at once; when one fails, cancel the others and wait until they have stopped.

    Args:
        works: What is done, one per node.
        root: Of the numbers of the works that failed by themselves, the one whose failure is the cause.

    Raises:
        SpecttuiError: The failure that `root` names.
        asyncio.CancelledError: We were cancelled; so was everything, and it has stopped.
    """
    tasks = [asyncio.ensure_future(work) for work in works]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)
        if any(_failed(task) and isinstance(task.exception(), ServerStartError) for task in tasks):
            await asyncio.wait(tasks, timeout=LAST_WORDS_S)
    finally:
        failed = [number for number, task in enumerate(tasks) if _failed(task)]
        await _cancel(tasks)
    if failed:
        return [tasks[root(failed)].result()]
    return [task.result() for task in tasks]


def _failed(task: asyncio.Future[Any]) -> bool:
    return task.done() and not task.cancelled() and task.exception() is not None


async def _cancel(tasks: Sequence[asyncio.Future[Any]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.wait(tasks)
    for task in tasks:
        with suppress(asyncio.CancelledError, SpecttuiError):  # seen: else asyncio tells of them as unread
            task.exception()
