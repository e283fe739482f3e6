"""The draft model's config.json: its layers pointed out, its text to edit, the original one key away."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import Button, Static, TextArea

from specttui.errors import UsageError
from specttui.session.api import DraftConfigView
from specttui.session.draft_config import checked, layer_ids
from specttui.ui.render.text import BAD, MUTED, STRONG, harmless, joined, line
from specttui.ui.screens.dialog import Dialog, button, buttons, framed, plain

_ADVICE = (
    "The target's layers whose hidden states the draft reads; others than it was trained on ruin acceptance."
)


@dataclass(frozen=True, slots=True)
class DraftAnswer:
    """What to do: write a text, or bring the original back where `text` is None."""

    text: str | None


class DraftConfigScreen(Dialog[DraftAnswer]):
    """Answers what to do, None when it was left.

    Args:
        view: The file as it is.
    """

    AUTO_FOCUS = "#text"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+s", "save", "save", show=False, priority=True),
        Binding("ctrl+o", "original", "original", show=False, priority=True),
    ]

    def __init__(self, view: DraftConfigView) -> None:
        super().__init__()
        self.view = view
        self._data: bytes | None = None

    def compose(self) -> ComposeResult:
        """Path and layers, the text, buttons."""
        with framed("The draft model's config.json", classes="full"):
            yield plain(harmless(self.view.path), classes="text hint")
            yield Static("", id="layers", classes="text", markup=False)
            yield TextArea(self.view.text, id="text", compact=True, show_line_numbers=True)
            yield buttons(*self._buttons())

    def _buttons(self) -> list[Button]:
        found = [button("Cancel (escape)", "cancel")]
        if self.view.changed:
            found.append(button("Original (ctrl+o)", "original"))
        return [*found, button("Save (ctrl+s)", "save", variant="do")]

    def on_mount(self) -> None:
        """Show the layers."""
        self._refresh()

    def on_text_area_changed(self, event: TextArea.Changed) -> None:
        """The text changed."""
        event.stop()
        self._refresh()

    def on_button_pressed(self, event: Button.Pressed) -> None:
        """Do what the button says."""
        match event.button.id:
            case "save":
                self.action_save()
            case "original":
                self.action_original()
            case _:
                self.dismiss(None)

    def action_save(self) -> None:
        """Answer with the text; nothing happens while it is not sound or is what the file holds."""
        if self._data is not None:
            self.dismiss(DraftAnswer(self._data.decode()))

    def action_original(self) -> None:
        """Answer that the original is to come back, where there is an edit."""
        if self.view.changed:
            self.dismiss(DraftAnswer(None))

    def _refresh(self) -> None:
        """Say which layers the text names, or what keeps it from being written."""
        text = self.query_one("#text", TextArea).text
        found = layer_ids(text)
        rows = [line((f"{harmless(place)} {list(layers)}", STRONG)) for place, layers in found.items()]
        try:
            self._data = None if text == self.view.text else checked(text)
            rows.append(line((_ADVICE if found else "It names no layers of the target.", MUTED)))
        except UsageError as error:
            self._data = None
            rows = [*rows, line((harmless(error.title), BAD))]
        self.query_one("#save", Button).disabled = self._data is None
        self.query_one("#layers", Static).update(joined(rows))
