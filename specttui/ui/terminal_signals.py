"""SIGTERM and SIGHUP end the program in good order, so that the terminal gets its modes back.

Textual restores them (mouse, alternate screen, bracketed paste) when the program ends by itself or by an
exception; a signal's default action would skip that. After SIGKILL only `reset` helps, as the help says.
"""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import Callable

#: What a shell reports for a program ended by a signal: 128 + its number.
SIGNAL_EXIT_BASE = 128
_NAMES = ("SIGTERM", "SIGHUP")


def _signals() -> list[signal.Signals]:
    return [signal.Signals[name] for name in _NAMES if name in signal.Signals.__members__]


def on_ending_signals(end: Callable[[int], None]) -> Callable[[], None]:
    """Call `end` with the exit code when the program is asked to end.

    Args:
        end: Ends the program; called in the event loop.

    Returns:
        A function that takes the handlers away again.
    """
    loop = asyncio.get_running_loop()
    added: list[signal.Signals] = []
    for number in _signals():
        with contextlib.suppress(NotImplementedError, RuntimeError, ValueError):
            loop.add_signal_handler(number, end, SIGNAL_EXIT_BASE + number)
            added.append(number)

    def remove() -> None:
        for number in added:
            loop.remove_signal_handler(number)

    return remove
