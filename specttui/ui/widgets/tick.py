"""Yes or no, on one line: "[x] baseline". The mark tells, colour only helps."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.message import Message
from textual.reactive import reactive
from textual.widget import Widget

from specttui.ui.render.text import MUTED, STRONG, line


def tick_text(text: str, *, on: bool) -> str:
    """A text behind its mark."""
    return f"[{'x' if on else ' '}] {text}"


class Tick(Widget, can_focus=True):
    """Space, enter or a click turns it over; posts `Changed`."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("space,enter", "turn", "turn over", show=False)]

    on: reactive[bool] = reactive(False)

    class Changed(Message):
        """It was turned over."""

        def __init__(self, tick: Tick, on: bool) -> None:
            super().__init__()
            self.tick = tick
            self.on = on

    def __init__(self, label: str, *, on: bool = False, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self.label = label
        self.set_reactive(Tick.on, on)

    def render(self) -> Content:
        """The line."""
        return line((tick_text(self.label, on=self.on), STRONG if self.on else MUTED))

    def action_turn(self) -> None:
        """Turn it over."""
        self.on = not self.on

    def on_click(self) -> None:
        """Turn it over."""
        self.action_turn()

    def watch_on(self, on: bool) -> None:
        """Tell the dialog."""
        if self.is_mounted:
            self.post_message(self.Changed(self, on))
