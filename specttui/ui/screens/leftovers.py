"""What other sessions left on the host: restore it, go on with it, or leave it alone."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum, auto
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.widgets import Button, Static

from specttui.session.api import Leftover
from specttui.ui.render.leftovers import leftover_lines
from specttui.ui.screens.dialog import Dialog, button, buttons, framed, text_lines

_CHOICES = (
    "Restore: originals come back byte for byte, the rest is cleared away.",
    "Adopt: this session goes on with it; restoring (x) undoes it later.",
    "Ignore: nothing is touched.",
)
_OF_THE_LIVING = "What a living session works on is touched only after another question."


class LeftoversChoice(Enum):
    """What to do about leftovers."""

    IGNORE = auto()
    ADOPT = auto()
    RESTORE = auto()


class LeftoversScreen(Dialog[LeftoversChoice]):
    """Answers what to do, None when it was left; ignoring comes first and has the focus.

    Args:
        leftovers: What was found.
    """

    AUTO_FOCUS = "#ignore"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("i", "choose('ignore')", "ignore", show=False),
        Binding("a", "choose('adopt')", "adopt", show=False),
        Binding("x", "choose('restore')", "restore", show=False),
        Binding("down,j", "scroll(1)", "scroll", show=False),
        Binding("up", "scroll(-1)", "scroll", show=False),
        Binding("pagedown", "scroll(8)", "scroll", show=False),
        Binding("pageup", "scroll(-8)", "scroll", show=False),
    ]

    def __init__(self, leftovers: Sequence[Leftover]) -> None:
        super().__init__()
        self.leftovers = tuple(leftovers)

    def compose(self) -> ComposeResult:
        """What was found, what the choices mean, the choices."""
        with framed("Left on the host by other sessions", classes="medium"):
            with VerticalScroll(id="leftovers", classes="body", can_focus=False):
                for content in leftover_lines(self.leftovers):
                    yield Static(content, classes="text", markup=False)
            yield from text_lines(("", *_CHOICES))
            if any(left.alive for left in self.leftovers):
                yield from text_lines((_OF_THE_LIVING,))
            yield buttons(
                button("Ignore (i)", "ignore"),
                button("Adopt (a)", "adopt", variant="do"),
                button("Restore (x)", "restore", variant="do"),
            )

    def on_button_pressed(self, event: Button.Pressed) -> None:
        """Answer with the button."""
        self.action_choose(event.button.id or "ignore")

    def action_choose(self, name: str) -> None:
        """Answer with a key."""
        self.dismiss(LeftoversChoice[name.upper()])

    def action_scroll(self, lines: int) -> None:
        """Scroll the list, whatever has the focus."""
        self.query_one("#leftovers", VerticalScroll).scroll_relative(y=lines, animate=False)
