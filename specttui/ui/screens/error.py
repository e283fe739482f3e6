"""A failure: what happened, why, and what to do; with the last good configuration one key away."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.widgets import Button

from specttui.errors import SpecttuiError
from specttui.ui.screens.dialog import Dialog, button, buttons, framed, plain


class ErrorScreen(Dialog[str]):
    """Answers "roll_back" when the user wants the last good configuration, else None.

    Args:
        error: The failure; its cause may hold remote text and is shown as it is.
        offer_roll_back: True when a last good configuration is known.
    """

    AUTO_FOCUS = "#close"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("u", "roll_back", "last good configuration", show=False),
        Binding("c", "leave", "close", show=False),
    ]

    def __init__(self, error: SpecttuiError, *, offer_roll_back: bool = False) -> None:
        super().__init__()
        self.error = error
        self.offer_roll_back = offer_roll_back

    def compose(self) -> ComposeResult:
        """Title, cause, remedy, buttons."""
        with framed("Failed", classes="medium failure"):
            yield plain(self.error.title, id="error-title", classes="text strong")
            if self.error.cause:
                with VerticalScroll(id="error-cause", classes="body"):
                    yield plain(self.error.cause, classes="cause")
            if self.error.remedy:
                yield plain(f"What to do: {self.error.remedy}", id="error-remedy", classes="text")
            yield buttons(*self._buttons())

    def _buttons(self) -> list[Button]:
        close = button("Close (c)", "close")
        if not self.offer_roll_back:
            return [close]
        return [close, button("Last good configuration (u)", "roll-back", variant="do")]

    def on_button_pressed(self, event: Button.Pressed) -> None:
        """Close, or ask for the last good configuration."""
        self.dismiss("roll_back" if event.button.id == "roll-back" else None)

    def action_roll_back(self) -> None:
        """Ask for the last good configuration, where there is one."""
        if self.offer_roll_back:
            self.dismiss("roll_back")
