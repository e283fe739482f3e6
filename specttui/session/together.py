"""The same on every host of a session: all, or none, and an error says on which host."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol, TypeVar

from specttui.errors import SpecttuiError
from specttui.host.locks import LockedError


class Named(Protocol):
    """A host of a session."""

    @property
    def name(self) -> str:
        """As people call it."""
        ...


Host = TypeVar("Host", bound=Named)
Result = TypeVar("Result")


def named(node: Named, error: SpecttuiError, among: Sequence[Named]) -> SpecttuiError:
    """The error with the host's name before its title, where there are several hosts."""
    prefix = f"{node.name}: "
    if len(among) > 1 and not error.title.startswith(prefix):
        error.title = f"{prefix}{error.title}"
        error.args = (error.title,)
    return error


async def on_each(nodes: Sequence[Host], work: Callable[[Host], Awaitable[Result]]) -> list[Result]:
    """Do something on every host at once, to its end on each, whatever becomes of the others.

    Returns:
        Each host's result.

    Raises:
        SpecttuiError: The first host's on which it failed, after the others are through.
    """
    results = await asyncio.gather(*(work(node) for node in nodes), return_exceptions=True)
    locked = [each for each in results if isinstance(each, LockedError)]
    if len(locked) > 1:  # one question about all of them, not one about each
        locked[0].others = (*locked[0].others, *locked[1:])
    done: list[Result] = []
    for node, result in zip(nodes, results, strict=True):
        if isinstance(result, SpecttuiError):
            raise named(node, result, nodes)
        if isinstance(result, BaseException):
            raise result
        done.append(result)
    return done


async def in_turn(nodes: Sequence[Host], work: Callable[[Host], Awaitable[Result]]) -> list[Result]:
    """As `on_each`, one host after the other: hosts may share what is worked on."""
    turns = asyncio.Lock()

    async def alone(node: Host) -> Result:
        async with turns:
            return await work(node)

    return await on_each(nodes, alone)


async def on_all_or_none(
    nodes: Sequence[Host],
    work: Callable[[Host], Awaitable[Result]],
    undo: Callable[[Host], Awaitable[object]],
) -> list[Result]:
    """Do something on one host after the other; when it fails on one of several, undo it on all so far.

    Args:
        nodes: The hosts.
        work: What is done; by itself it leaves a host as it was when it fails, unless the connection broke.
        undo: Takes it back on a host where it was done, or may have been.

    Raises:
        SpecttuiError: The failure; its cause names hosts on which undoing failed too.
    """
    done: list[Host] = []
    results: list[Result] = []
    for node in nodes:
        try:
            results.append(await work(node))
        except (SpecttuiError, asyncio.CancelledError) as error:
            touched = [*done, node] if len(nodes) > 1 else []
            kept = await asyncio.shield(_undo(touched, undo))
            if isinstance(error, SpecttuiError):
                named(node, error, nodes)
                error.cause = "\n".join(text for text in (error.cause, *kept) if text)
            raise
        done.append(node)
    return results


async def _undo(done: Sequence[Host], undo: Callable[[Host], Awaitable[object]]) -> list[str]:
    """Undo, newest first; what could not be undone, in words."""
    kept: list[str] = []
    for node in reversed(done):
        try:
            await undo(node)
        except SpecttuiError as error:
            kept.append(f"{node.name} still has the change: {error.title}. {error.remedy}".strip())
    return kept
