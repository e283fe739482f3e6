"""What all dialogs share: a frame with a title, keys to leave, and buttons with the safe one first."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar, TypeVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Button, Static

from specttui.ui.render.text import HEADING, line

Result = TypeVar("Result")


def plain(text: str, *, id: str | None = None, classes: str | None = None) -> Static:  # noqa: A002
    """A text that is never parsed as markup, whatever it holds."""
    return Static(Content(text), id=id, classes=classes, markup=False)


def button(label: str, id: str, *, variant: str = "default") -> Button:  # noqa: A002
    """A button of one row."""
    made = Button(Content(label), id=id, compact=True)
    made.add_class(f"-{variant}")
    return made


def buttons(*given: Button) -> Horizontal:
    """The row of buttons at a dialog's foot."""
    return Horizontal(*given, classes="buttons")


class Dialog(ModalScreen[Result]):
    """A modal dialog. Escape leaves without an answer; left and right move between buttons."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "leave", show=False),
        Binding("left", "app.focus_previous", "previous", show=False),
        Binding("right", "app.focus_next", "next", show=False),
    ]

    def action_leave(self) -> None:
        """Leave without an answer."""
        self.dismiss(None)


def framed(title: str, *, classes: str = "") -> Vertical:
    """A dialog's frame with its title, which is plain text."""
    frame = Vertical(classes=f"dialog {classes}")
    frame.border_title = line((f" {title} ", HEADING))
    return frame


def text_lines(lines: Iterable[str]) -> ComposeResult:
    """Lines of a dialog's text, each as it is."""
    for text in lines:
        yield plain(text, classes="text")
