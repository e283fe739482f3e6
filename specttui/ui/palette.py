"""The main screen's commands in the command palette: those that are available, by their tooltips."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from textual.app import SystemCommand

from specttui.ui.keys import KEYS

if TYPE_CHECKING:
    from specttui.ui.app import SpecttuiApp

#: The palette itself, and keys that are there for the hand only.
_NOT_LISTED = {"palette", "back", "quit_ctrl_q", "quit_ctrl_c"}


def palette_commands(app: SpecttuiApp) -> Iterator[SystemCommand]:
    """Every available command of the main screen."""
    for key in KEYS:
        if key.id not in _NOT_LISTED and _available(app, key.action):
            title = key.label[:1].upper() + key.label[1:]
            yield SystemCommand(title, key.tooltip, _runner(app, key.action))


def _available(app: SpecttuiApp, action: str) -> bool:
    if not action.startswith("command("):
        if action == "wait_longer":
            return app.facts().starting
        return action != "cancel_command" or app.facts().busy
    name = action.removeprefix("command('").removesuffix("')")
    return app.main.check_action("command", (name,)) is True


def _runner(app: SpecttuiApp, action: str) -> Callable[[], None]:
    def run() -> None:
        app.call_later(app.run_action, action, app if action.startswith("app.") else app.main)

    return run
