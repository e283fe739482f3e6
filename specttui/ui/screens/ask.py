"""A question with one line of text for an answer."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.widgets import Button, Input

from specttui.ui.screens.dialog import Dialog, button, buttons, framed, plain


class AskScreen(Dialog[str]):
    """Answers the text, None when it was left.

    Args:
        title: The dialog's title.
        label: What the field holds.
        hint: One line on what becomes of it.
        default: The text at first.
        empty_allowed: True when an empty text is an answer.
        hidden: True for secrets: what is typed is not shown.
    """

    AUTO_FOCUS = "#answer"

    def __init__(
        self,
        title: str,
        label: str,
        hint: str = "",
        default: str = "",
        *,
        empty_allowed: bool = False,
        hidden: bool = False,
    ) -> None:
        super().__init__()
        self.heading = title
        self.label = label
        self.hint = hint
        self.default = default
        self.empty_allowed = empty_allowed
        self.hidden = hidden

    def compose(self) -> ComposeResult:
        """Label, field, hint, buttons."""
        with framed(self.heading, classes="medium"):
            yield plain(self.label, classes="text strong")
            yield Input(self.default, password=self.hidden, id="answer", compact=True)
            yield plain(self.hint, classes="text hint")
            yield buttons(button("Cancel (escape)", "cancel"), button("OK (enter)", "ok", variant="do"))

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Enter answers."""
        event.stop()
        self._answer()

    def on_button_pressed(self, event: Button.Pressed) -> None:
        """Answer, or leave."""
        if event.button.id == "ok":
            self._answer()
        else:
            self.dismiss(None)

    def _answer(self) -> None:
        text = self.query_one("#answer", Input).value
        if not self.hidden:
            text = text.strip()
        if text or self.empty_allowed:
            self.dismiss(text)
