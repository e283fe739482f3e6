"""The probe's clock: what each measures and costs."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.content import Content
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from specttui.events import Clock
from specttui.ui.render.text import line
from specttui.ui.screens.dialog import Dialog, framed, plain

#: What each clock is, in a sentence.
CLOCK_TEXTS = {
    Clock.EVENTS: "GPU time of each phase from CUDA events, without waiting for the GPU.",
    Clock.WALL: "CPU time of each call, which misleads: the GPU goes on after it.",
    Clock.SYNC: "Waits for the GPU around each phase: slows the server, distorts.",
    Clock.OFF: "Measures nothing: for finding out what the probe itself costs.",
}


class ClockScreen(Dialog[Clock]):
    """Answers the clock chosen, None when it was left.

    Args:
        current: The clock in use, where known.
    """

    AUTO_FOCUS = "#clocks"

    def __init__(self, current: Clock | None) -> None:
        super().__init__()
        self.current = current

    def compose(self) -> ComposeResult:
        """The clocks, each with its text."""
        with framed("Clock of the probe", classes="medium"):
            yield plain("Takes effect at once, without a restart.", classes="text hint")
            yield OptionList(*map(self._option, CLOCK_TEXTS), id="clocks", compact=True)
            yield plain("enter chooses, escape leaves", classes="text hint")

    def on_mount(self) -> None:
        """Start at the clock in use."""
        clocks = list(CLOCK_TEXTS)
        self.query_one(OptionList).highlighted = clocks.index(self.current) if self.current else 0

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Answer."""
        self.dismiss(Clock(event.option.id or Clock.EVENTS))

    def _option(self, clock: Clock) -> Option:
        mark = "(o)" if clock == self.current else "( )"
        prompt = Content("\n").join(
            [line((f"{mark} {clock.value}", "bold")), line(f"    {CLOCK_TEXTS[clock]}")]
        )
        return Option(prompt, id=clock.value)
