"""What patching would do: phases found and missing, and the diff, before anything is written."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Button, Static

from specttui.events import Clock
from specttui.session.api import PatchPreview
from specttui.ui.render.diff import unified_lines
from specttui.ui.render.patch import preview_lines
from specttui.ui.render.text import joined
from specttui.ui.screens.dialog import Dialog, button, buttons, framed
from specttui.ui.widgets.choice import Choice

#: The clocks a patch can start with.
CLOCKS = (Clock.EVENTS, Clock.WALL, Clock.SYNC)


class PatchScreen(Dialog[Clock]):
    """Answers the clock to patch with, None for no; no has the focus.

    Args:
        preview: What patching would do with the first clock.
        reload: Makes the preview for another clock.
    """

    AUTO_FOCUS = "#no"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "patch", "patch", show=False),
        Binding("n", "leave", "no", show=False),
        Binding("k", "next_clock", "next clock", show=False),
        Binding("down,j", "scroll(1)", "scroll the diff", show=False),
        Binding("up", "scroll(-1)", "scroll the diff", show=False),
        Binding("pagedown", "scroll(12)", "scroll the diff", show=False),
        Binding("pageup", "scroll(-12)", "scroll the diff", show=False),
    ]

    def __init__(self, preview: PatchPreview, reload: Callable[[Clock], Awaitable[PatchPreview]]) -> None:
        super().__init__()
        self.preview = preview
        self._reload = reload

    def compose(self) -> ComposeResult:
        """Facts and diff, clock, buttons."""
        with framed("Patch the worker file", classes="full"):
            with VerticalScroll(id="diff", classes="body"):
                yield Static(self._facts(), id="facts", markup=False)
                yield Static(self._diff(), id="diff-lines", markup=False)
            yield Choice("Clock (k)", [clock.value for clock in CLOCKS], chosen=self._chosen(), id="clock")
            yield buttons(button("No (n)", "no"), button("Patch (y)", "patch", variant="do"))

    def on_choice_changed(self, event: Choice.Changed) -> None:
        """Make the preview for the clock chosen."""
        event.stop()
        self.run_worker(
            self._load(CLOCKS[event.chosen]), group="preview", exclusive=True, exit_on_error=False
        )

    def on_button_pressed(self, event: Button.Pressed) -> None:
        """Answer with the button."""
        if event.button.id == "patch":
            self.action_patch()
        else:
            self.dismiss(None)

    def action_patch(self) -> None:
        """Answer with the clock shown."""
        self.dismiss(self.preview.clock)

    def action_next_clock(self) -> None:
        """Choose the next clock."""
        self.query_one(Choice).action_move(1)

    def action_scroll(self, lines: int) -> None:
        """Scroll the diff, whatever has the focus."""
        self.query_one("#diff", VerticalScroll).scroll_relative(y=lines, animate=False)

    async def _load(self, clock: Clock) -> None:
        self.preview = await self._reload(clock)
        self.query_one("#facts", Static).update(self._facts())
        self.query_one("#diff-lines", Static).update(self._diff())

    def _chosen(self) -> int:
        return CLOCKS.index(self.preview.clock) if self.preview.clock in CLOCKS else 0

    def _facts(self) -> Content:
        return joined(preview_lines(self.preview))

    def _diff(self) -> Content:
        return joined(unified_lines(self.preview.diff_lines))
