"""The presets by group, each with its mark; the highlighted one says what it does."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from textual.message import Message
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from specttui.launch.edits import Preset
from specttui.ui.render.text import HEADING, line
from specttui.ui.widgets.tick import tick_text


class PresetList(OptionList):
    """Enter or space turns a preset on or off; of one group, one at most is on.

    Args:
        presets: What to choose from.
        active: Names of those that hold for the running server already; they say so.
        id: The widget's id.
    """

    BINDINGS = [("space", "select", "Turn over")]  # noqa: RUF012 (Textual's own type)

    class Changed(Message):
        """A preset was turned on or off."""

    class Described(Message):
        """Another preset is highlighted; `text` says what it does."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    def __init__(
        self,
        presets: Sequence[Preset],
        active: Collection[str] = (),
        *,
        id: str | None = None,  # noqa: A002
    ) -> None:
        self._active = frozenset(active)
        self._presets = tuple(sorted(presets, key=lambda preset: _group_order(presets, preset)))
        self._on: set[int] = set()
        super().__init__(*self._make_options(), id=id, markup=False)

    @property
    def chosen(self) -> tuple[Preset, ...]:
        """The presets that are on, in the list's order."""
        return tuple(preset for index, preset in enumerate(self._presets) if index in self._on)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Turn the preset over."""
        event.stop()
        index = int(event.option.id or 0)
        self._turn(index)
        self.post_message(self.Changed())

    def _turn(self, index: int) -> None:
        """Turn one over; what else is on in its group goes off."""
        group = self._presets[index].group
        others = {other for other in self._on if other != index and self._presets[other].group == group}
        self._on = (self._on - others) ^ {index}
        for changed in (*others, index):
            self.replace_option_prompt(str(changed), self._prompt(changed))

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        """Say what the preset does."""
        event.stop()
        if event.option.id is not None:
            self.post_message(self.Described(self._presets[int(event.option.id)].description))

    def _make_options(self) -> list[Option]:
        options: list[Option] = []
        group = None
        for index, preset in enumerate(self._presets):
            if preset.group != group:
                group = preset.group
                options.append(Option(line((group, HEADING)), disabled=True))
            options.append(Option(self._prompt(index), id=str(index)))
        return options

    def _prompt(self, index: int) -> str:
        name = self._presets[index].name
        return tick_text(f"{name}  (set now)" if name in self._active else name, on=index in self._on)


def _group_order(presets: Sequence[Preset], preset: Preset) -> int:
    """Groups in the order in which they first occur."""
    return next(index for index, other in enumerate(presets) if other.group == preset.group)
