"""Leaving while something of ours is still on the host, or under way."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum, auto
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import Button

from specttui.ui.screens.dialog import Dialog, button, buttons, framed, text_lines


class QuitChoice(Enum):
    """What to do about leaving."""

    STAY = auto()
    RESTORE = auto()
    LEAVE = auto()


class QuitScreen(Dialog[QuitChoice]):
    """Answers what to do, None when it was left; staying comes first and has the focus.

    Args:
        changes: What of ours is on the host, one sentence each.
        running: The command in progress, "" for none.
    """

    AUTO_FOCUS = "#stay"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("c", "choose('stay')", "cancel", show=False),
        Binding("x", "choose('restore')", "restore and quit", show=False),
        Binding("l", "choose('leave')", "leave it so and quit", show=False),
    ]

    def __init__(self, changes: Sequence[str] = (), *, running: str = "") -> None:
        super().__init__()
        self.changes = tuple(changes)
        self.running = running

    def compose(self) -> ComposeResult:
        """What is so, then the choices."""
        with framed("Quit", classes="medium"):
            yield from text_lines(self._lines())
            yield buttons(*self._buttons())

    def _lines(self) -> list[str]:
        lines = []
        if self.running:
            lines.append(f"A command is running: {self.running}. It is cancelled at its next safe point.")
        lines.extend(self.changes)
        if self.changes:
            lines.append("Restoring brings the original back; the running server is not touched.")
        return lines

    def _buttons(self) -> list[Button]:
        stay = button("Cancel (c)", "stay")
        if not self.changes:
            return [stay, button("Cancel it and quit (l)", "leave", variant="do")]
        return [
            stay,
            button("Restore and quit (x)", "restore", variant="do"),
            button("Leave it so, quit (l)", "leave"),
        ]

    def on_button_pressed(self, event: Button.Pressed) -> None:
        """Answer with the button."""
        self.action_choose(event.button.id or "stay")

    def action_choose(self, name: str) -> None:
        """Answer with a key; restoring only where there is something to restore."""
        if name != "restore" or self.changes:
            self.dismiss(QuitChoice[name.upper()])
