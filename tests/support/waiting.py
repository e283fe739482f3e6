"""Waiting for something to become true, without guessing how long it takes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

_STEP_S = 0.05


async def eventually(condition: Callable[[], bool], seconds: float = 30.0) -> None:
    """Return once the condition holds; fails the test when it does not in time."""
    for _ in range(int(seconds / _STEP_S)):
        if condition():
            return
        await asyncio.sleep(_STEP_S)
    raise AssertionError(f"it did not happen within {seconds:g} s")


async def settled(value: Callable[[], int], still_s: float = 1.0, seconds: float = 60.0) -> int:
    """A growing value, once it has not grown for `still_s` seconds."""
    last = value()
    for _ in range(int(seconds / still_s)):
        await asyncio.sleep(still_s)
        if last > 0 and value() == last:
            return last
        last = value()
    raise AssertionError(f"it went on for {seconds:g} s")
