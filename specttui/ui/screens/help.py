"""All keys, from the table that the bindings are made of, and what else is good to know."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import groupby
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from specttui.ui.keys import KEYS
from specttui.ui.render.text import HEADING, MUTED, STRONG, joined, line, wrap
from specttui.ui.screens.dialog import Dialog, framed

HINTS = (
    (
        "Select text with the mouse and press ctrl+c to copy it. Terminals may block that (OSC 52): hold"
        " shift to select with the terminal itself, or press e: the export holds everything."
    ),
    "After a kill -9 the terminal may print odd characters on mouse moves: type reset and press enter.",
    (
        "In a dialog, tab moves and escape leaves. Figures: - is unknown, ~ is within noise, > marks the"
        " current run, * a setting that the server changed."
    ),
)
_LEAD_WIDTH = 26


def help_lines(displays: Mapping[str, str], width: int) -> list[Content]:
    """The keys by group, then the hints, wrapped.

    Args:
        displays: How each binding's key is called, by the binding's id; keymaps are applied already.
        width: Cells there are.
    """
    lines: list[Content] = []
    for group, keys in groupby(KEYS, key=lambda key: key.group):
        lines.append(line((group, HEADING)))
        for key in keys:
            name = displays.get(key.id, key.keys)
            first, *more = wrap(key.tooltip, max(20, width - _LEAD_WIDTH))
            lines.append(line((f"  {name:<9}", STRONG), f"{key.label:<15}", (first, MUTED)))
            lines.extend(line((" " * _LEAD_WIDTH + row, MUTED)) for row in more)
        lines.append(line(""))
    for hint in HINTS:
        lines.extend(line((row, MUTED)) for row in wrap(hint, width))
    return lines


class HelpScreen(Dialog[None]):
    """Shows the keys; any of escape, q and ? closes it.

    Args:
        displays: How each binding's key is called, by the binding's id.
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("q,question_mark,f1", "leave", "close", show=False)]

    def __init__(self, displays: Mapping[str, str]) -> None:
        super().__init__()
        self.displays = dict(displays)

    def compose(self) -> ComposeResult:
        """The keys, scrollable."""
        with framed("Keys (escape closes)", classes="full"), VerticalScroll(classes="body"):
            yield Static("", id="help-lines", markup=False)

    def on_resize(self) -> None:
        """Wrap to the width there is."""
        self.call_after_refresh(self._show)

    def _show(self) -> None:
        width = self.query_one(VerticalScroll).scrollable_content_region.width - 1
        self.query_one("#help-lines", Static).update(joined(help_lines(self.displays, width)))
