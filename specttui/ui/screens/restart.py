"""The restart dialog: settings at the left, what they would run at the right, as one types."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import Button, Input, Static, TextArea

from specttui.errors import SpecttuiError
from specttui.launch.edits import Edit, LaunchDiff, Preset
from specttui.state.snapshot import Snapshot
from specttui.ui.render.diff import launch_lines
from specttui.ui.render.text import BAD, MUTED, joined, line, wrap
from specttui.ui.restart_form import RestartForm, edits, form_for
from specttui.ui.screens.dialog import Dialog, button, buttons, framed, plain
from specttui.ui.widgets.preset_list import PresetList
from specttui.ui.widgets.tick import Tick

FREE_HINT = "--flag value, NAME=value, remove --flag, unset NAME"


class RestartScreen(Dialog[tuple[Edit, ...]]):
    """Answers the edits to restart with, None when it was left.

    Args:
        snapshot: The state, for the settings that run now.
        preview: Says what a restart with some edits would run.
        presets: The presets to offer.
        active_presets: Names of those that the running server has already.
    """

    AUTO_FOCUS = "#steps"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+s", "restart", "restart", show=False, priority=True),
    ]

    def __init__(
        self,
        snapshot: Snapshot,
        preview: Callable[[Sequence[Edit]], LaunchDiff],
        presets: Sequence[Preset],
        active_presets: Collection[str] = (),
    ) -> None:
        super().__init__()
        self._current = snapshot.settings
        self._preview = preview
        self._presets = tuple(presets)
        self._active_presets = frozenset(active_presets)
        self._first = form_for(snapshot)
        self._answer: tuple[Edit, ...] | None = None

    def compose(self) -> ComposeResult:
        """Fields, presets and free lines; the preview; buttons."""
        with framed("Restart the server with other settings", classes="full"):
            with Horizontal(id="restart"):
                with Vertical(id="form"):
                    yield from self._compose_fields()
                with VerticalScroll(id="preview", classes="body"):
                    yield Static("", id="preview-lines", markup=False)
            yield buttons(button("Cancel (escape)", "cancel"), button("Restart (ctrl+s)", "do", variant="do"))

    def _compose_fields(self) -> ComposeResult:
        first = self._first
        with Horizontal(classes="field numbers"):
            for name, label, value in (
                ("steps", "steps", first.steps),
                ("topk", "top-k", first.topk),
                ("draft-tokens", "draft", first.draft_tokens),
            ):
                yield plain(label, classes="label")
                yield Input(value, id=name, max_length=3, compact=True, restrict=r"[0-9]*")
        yield plain("", id="coupling", classes="text hint")
        yield Tick("baseline: speculation off", on=first.baseline, id="baseline")
        yield PresetList(self._presets, self._active_presets, id="presets")
        yield plain("", id="preset-text", classes="text hint")
        yield plain(FREE_HINT, classes="text hint")
        yield TextArea(id="free", compact=True, show_line_numbers=False)

    def on_mount(self) -> None:
        """Show the preview of the settings as they are."""
        self._refresh()

    def on_resize(self) -> None:
        """Wrap the preview to the new width."""
        self.call_after_refresh(self._refresh)

    def on_input_changed(self, event: Input.Changed) -> None:
        """A number changed."""
        event.stop()
        self._refresh()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Enter in a number goes on to the button that restarts."""
        event.stop()
        self.query_one("#do", Button).focus()

    def on_tick_changed(self, event: Tick.Changed) -> None:
        """Speculation was switched."""
        event.stop()
        self._refresh()

    def on_preset_list_changed(self, event: PresetList.Changed) -> None:
        """A preset was switched."""
        event.stop()
        self._refresh()

    def on_preset_list_described(self, event: PresetList.Described) -> None:
        """Say what the highlighted preset does."""
        event.stop()
        self.query_one("#preset-text", Static).update(Content(event.text))

    def on_text_area_changed(self, event: TextArea.Changed) -> None:
        """A free line changed."""
        event.stop()
        self._refresh()

    def on_button_pressed(self, event: Button.Pressed) -> None:
        """Restart, or leave."""
        if event.button.id == "do":
            self.action_restart()
        else:
            self.dismiss(None)

    def action_restart(self) -> None:
        """Answer with the edits previewed; nothing happens while they cannot be read or cannot work."""
        if self._answer is not None:
            self.dismiss(self._answer)

    def form(self) -> RestartForm:
        """What stands in the fields."""
        return RestartForm(
            steps=self.query_one("#steps", Input).value,
            topk=self.query_one("#topk", Input).value,
            draft_tokens=self.query_one("#draft-tokens", Input).value,
            baseline=self.query_one("#baseline", Tick).on,
            presets=self.query_one(PresetList).chosen,
            free_text=self.query_one("#free", TextArea).text,
        )

    def _refresh(self) -> None:
        form = self.form()
        self._couple(form)
        width = max(20, self.query_one("#preview", VerticalScroll).scrollable_content_region.width - 1)
        try:
            wanted = edits(form, self._current)
            diff = self._preview(wanted)
            self._answer = None if diff.errors else wanted
            lines = launch_lines(diff, width)
        except SpecttuiError as error:
            self._answer = None
            lines = _problem(error, width)
        self.query_one("#do", Button).disabled = self._answer is None
        self.query_one("#preview-lines", Static).update(joined(lines))

    def _couple(self, form: RestartForm) -> None:
        """Show which fields count: none with the baseline, draft tokens only with a top-k above 1."""
        coupled = form.coupled_draft_tokens
        field = self.query_one("#draft-tokens", Input)
        for name in ("#steps", "#topk"):
            self.query_one(name, Input).disabled = form.baseline
        field.disabled = form.baseline or coupled is not None
        if coupled is not None and field.value != coupled:
            with self.prevent(Input.Changed):
                field.value = coupled
        text = "" if form.baseline or coupled is None else "top-k 1: draft tokens = steps + 1"
        self.query_one("#coupling", Static).update(text)


def _problem(error: SpecttuiError, width: int) -> list[Content]:
    lines = [line((row, BAD)) for row in wrap(error.title, width)]
    for text in (error.cause, error.remedy):
        lines.extend(line((row, MUTED)) for part in text.splitlines() for row in wrap(part, width))
    return lines
