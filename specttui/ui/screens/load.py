"""How much load to send."""

from __future__ import annotations

from dataclasses import dataclass

from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.widgets import Button, Input

from specttui.ui.screens.dialog import Dialog, button, buttons, framed, plain


@dataclass(frozen=True, slots=True)
class LoadAnswer:
    """A load: requests at a time, requests in all, and tokens each may generate."""

    concurrency: int
    requests: int
    max_new_tokens: int


#: The fields: id, label, value at first.
FIELDS = (
    ("concurrency", "Concurrency, requests at a time", "1"),
    ("requests", "Requests in all", "16"),
    ("tokens", "New tokens per request, at most", "256"),
)


class LoadScreen(Dialog[LoadAnswer]):
    """Answers the load, None when it was left."""

    AUTO_FOCUS = "#concurrency"

    def compose(self) -> ComposeResult:
        """The fields, a line for what is wrong with them, buttons."""
        with framed("Send load", classes="medium"):
            yield plain("The bundled prompts are sent to the server's API through SSH.", classes="text hint")
            for name, label, value in FIELDS:
                with Horizontal(classes="field"):
                    yield plain(label, classes="label")
                    yield Input(value, id=name, type="integer", max_length=7, compact=True)
            yield plain("", id="problem", classes="text problem")
            yield buttons(button("Cancel (escape)", "cancel"), button("Send (enter)", "send", variant="do"))

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Enter sends."""
        event.stop()
        self._answer()

    def on_button_pressed(self, event: Button.Pressed) -> None:
        """Send, or leave."""
        if event.button.id == "send":
            self._answer()
        else:
            self.dismiss(None)

    def _answer(self) -> None:
        values = []
        for name, label, _ in FIELDS:
            text = self.query_one(f"#{name}", Input).value
            if not text.isdigit() or int(text) < 1:
                self.query_one("#problem").update(f"{label}: a whole number from 1 on")  # type: ignore[attr-defined]
                self.query_one(f"#{name}", Input).focus()
                return
            values.append(int(text))
        self.dismiss(LoadAnswer(*values))
