"""Hands on the keyboard of a real program on a real session: press, wait for what the screen comes to."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from textual.pilot import Pilot
from textual.widgets import OptionList

from specttui.state.snapshot import Snapshot
from specttui.ui.app import SpecttuiApp
from specttui.ui.screens.error import ErrorScreen
from specttui.ui.screens.restart import RestartScreen
from support.live_demo import PATIENCE_S, story
from support.pilots import screen_text

_STEP_S = 0.05
#: More keys than any dialog has places for the focus, or any list has rows.
_MOST_STEPS = 80


class Keyboard:
    """One person's keys.

    Args:
        pilot: Drives the program.
    """

    def __init__(self, pilot: Pilot[Any]) -> None:
        self._pilot = pilot

    @property
    def app(self) -> SpecttuiApp:
        """The program."""
        app = self._pilot.app
        assert isinstance(app, SpecttuiApp)
        return app

    async def press(self, *keys: str) -> None:
        """Press keys, one after the other."""
        await self._pilot.press(*keys)

    async def until(self, condition: Callable[[Snapshot], bool], seconds: float = PATIENCE_S) -> Snapshot:
        """Wait for a snapshot of which the condition holds; a failure's dialog ends the test."""
        clock = asyncio.get_running_loop().time
        deadline = clock() + seconds
        while True:
            snapshot = self.app.session.snapshot()
            if condition(snapshot):
                return snapshot
            if isinstance(self.app.screen, ErrorScreen):
                raise AssertionError(f"the program failed: {self.app.screen.error}\n{story(snapshot)}")
            assert clock() < deadline, (
                f"not within {seconds:g} s:\n{screen_text(self._pilot)}\n{story(snapshot)}"
            )
            await asyncio.sleep(_STEP_S)

    async def dialog(self, kind: type, seconds: float = PATIENCE_S) -> Any:
        """Wait for a dialog to stand, and give it."""
        await self.until(lambda _: isinstance(self.app.screen, kind) and self.app.screen.is_mounted, seconds)
        await self._pilot.pause()
        return self.app.screen

    async def main_screen(self, seconds: float = PATIENCE_S) -> None:
        """Wait until no dialog is open and the keys of the main screen count again."""
        await self.until(lambda _: self.app.screen is self.app.main and not self.app.facts().busy, seconds)
        self.app.draw_now()
        await self._pilot.pause()

    async def finished(self, command: str, seconds: float = PATIENCE_S) -> Snapshot:
        """Wait until the session's command of this name has ended well."""
        snapshot = await self.until(
            lambda seen: (
                seen.command is not None
                and seen.command.name == command
                and seen.command.status == "finished"
            ),
            seconds,
        )
        await self.main_screen(seconds)
        return snapshot

    async def left(self, seconds: float = PATIENCE_S) -> None:
        """Wait until the program has been left."""
        clock = asyncio.get_running_loop().time
        deadline = clock() + seconds
        while self.app.return_value is None:
            assert clock() < deadline, f"still there after {seconds:g} s:\n{screen_text(self._pilot)}"
            await asyncio.sleep(_STEP_S)

    async def focus(self, widget_id: str) -> None:
        """Tab to a widget."""
        for _ in range(_MOST_STEPS):
            focused = self.app.screen.focused
            if focused is not None and focused.id == widget_id:
                return
            await self.press("tab")
        raise AssertionError(f"tab never came to {widget_id}")

    async def restart_with(
        self, *, steps: int | None = None, baseline: bool = False, preset: str | None = None
    ) -> RestartScreen:
        """Open the restart dialog, fill it in, and restart; gives the dialog as it was left."""
        await self.main_screen()
        await self.press("r")
        dialog = await self.dialog(RestartScreen)
        if dialog.form().baseline is not baseline:
            await self.focus("baseline")
            await self.press("space")
        if steps is not None:
            await self.focus("steps")
            await self.press("end", "ctrl+u", *str(steps))
        if preset is not None:
            await self._turn_on(dialog, preset)
        await self.press("ctrl+s")
        return dialog

    async def _turn_on(self, dialog: RestartScreen, preset: str) -> None:
        await self.focus("presets")
        presets = dialog.query_one("#presets", OptionList)
        for _ in range(_MOST_STEPS):
            highlighted = presets.highlighted_option
            if highlighted is not None and str(highlighted.prompt).endswith(f"] {preset}"):
                await self.press("space")
                return
            await self.press("down")
        raise AssertionError(f"no preset {preset}")
