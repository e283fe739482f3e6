"""One of a few, on one line: "Clock  (o) events  ( ) wall". The mark tells, colour only helps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.message import Message
from textual.reactive import reactive
from textual.widget import Widget

from specttui.ui.render.text import MUTED, STRONG, line


class Choice(Widget, can_focus=True):
    """Left and right choose; posts `Changed`.

    Args:
        label: What is chosen.
        options: The words to choose from.
        chosen: Index of the first choice.
        id: The widget's id.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left", "move(-1)", "previous", show=False),
        Binding("right,space", "move(1)", "next", show=False),
    ]

    chosen: reactive[int] = reactive(0)

    class Changed(Message):
        """Another option was chosen."""

        def __init__(self, choice: Choice, chosen: int) -> None:
            super().__init__()
            self.choice = choice
            self.chosen = chosen

    def __init__(self, label: str, options: Sequence[str], *, chosen: int = 0, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self.label = label
        self.options = tuple(options)
        self.set_reactive(Choice.chosen, chosen)

    def render(self) -> Content:
        """The line."""
        parts = [line((self.label, STRONG))]
        for index, option in enumerate(self.options):
            here = index == self.chosen
            parts.append(line((f"({'o' if here else ' '}) {option}", STRONG if here else MUTED)))
        return Content("  ").join(parts)

    def action_move(self, by: int) -> None:
        """Choose a neighbour; goes round at the ends."""
        self.chosen = (self.chosen + by) % len(self.options)

    def watch_chosen(self, chosen: int) -> None:
        """Tell the dialog."""
        if self.is_mounted:
            self.post_message(self.Changed(self, chosen))
