"""A question with yes and no; no comes first and has the focus."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.widgets import Button

from specttui.ui.screens.dialog import Dialog, button, buttons, framed, text_lines


class ConfirmScreen(Dialog[bool]):
    """Answers True for yes, False for no, None when it was left.

    Args:
        title: The dialog's title.
        lines: What will be done, and to what; plain text.
        yes_label: The word on the button that does it.
    """

    AUTO_FOCUS = "#no"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "answer(True)", "yes", show=False),
        Binding("n", "answer(False)", "no", show=False),
    ]

    def __init__(self, title: str, lines: Sequence[str], yes_label: str) -> None:
        super().__init__()
        self.heading = title
        self.lines = tuple(lines)
        self.yes_label = yes_label

    def compose(self) -> ComposeResult:
        """Text, then no and yes."""
        with framed(self.heading, classes="small"):
            with VerticalScroll(classes="body", can_focus=False):
                yield from text_lines(self.lines)
            yield buttons(button("No (n)", "no"), button(f"{self.yes_label} (y)", "yes", variant="do"))

    def on_button_pressed(self, event: Button.Pressed) -> None:
        """Answer with the button."""
        self.dismiss(event.button.id == "yes")

    def action_answer(self, yes: bool) -> None:
        """Answer with a key."""
        self.dismiss(yes)
