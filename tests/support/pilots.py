"""Driving the program in tests: an app on a scripted session, and texts read off the screen."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from textual.pilot import Pilot
from textual.widget import Widget

from specttui.state.snapshot import Snapshot
from specttui.ui.app import SpecttuiApp
from support.scripted_session import ScriptedSession


def program(session: ScriptedSession | None = None, **options: Any) -> SpecttuiApp:
    """The app with ticks so rare that tests decide when it draws."""
    return SpecttuiApp(session or ScriptedSession(), refresh_hz=0.001, **options)  # type: ignore[arg-type]


async def settle(pilot: Pilot[Any], done: Callable[[], bool]) -> None:
    """Wait until something is so, as long as a slow machine may take."""
    for _ in range(600):
        await pilot.pause()
        if done():
            return
        await pilot.pause(0.02)
    raise AssertionError(f"it never came to that; the screen is {pilot.app.screen}")


async def opened(pilot: Pilot[Any], screen: type) -> Any:
    """Wait for a dialog and return it."""
    await settle(pilot, lambda: isinstance(pilot.app.screen, screen) and pilot.app.screen.is_mounted)
    await pilot.pause()
    return pilot.app.screen


async def show(pilot: Pilot[Any], session: ScriptedSession, snapshot: Snapshot) -> None:
    """Go on to another snapshot."""
    session.current = snapshot
    pilot.app.draw_now()  # type: ignore[attr-defined]
    await pilot.pause()


def text_of(widget: Widget) -> str:
    """A widget's lines as they are painted."""
    return "\n".join(widget.render_line(row).text.rstrip() for row in range(widget.size.height))


def screen_text(pilot: Pilot[Any]) -> str:
    """The whole screen as painted."""
    lines = pilot.app.screen._compositor.render_strips()
    return "\n".join("".join(segment.text for segment in strip).rstrip() for strip in lines)
