"""Whatever a host says, no byte of it reaches the terminal as anything but text."""

from __future__ import annotations

import dataclasses
import unicodedata
from enum import Enum
from typing import Any

import pytest
from pydantic import BaseModel
from support.pilots import opened, program, settle, show
from support.scripted_nodes import node_disconnected, node_failed, three_starting, two_nodes
from support.scripted_session import ScriptedSession
from support.scripted_snapshots import failed, serving, starting
from textual.pilot import Pilot

from specttui.errors import SpecttuiError
from specttui.events import Alert, Severity
from specttui.host.prompts import HostKeyQuestion, SecretQuestion
from specttui.state.snapshot import Snapshot
from specttui.ui.prompter import ScreenPrompter
from specttui.ui.screens.ask import AskScreen
from specttui.ui.screens.confirm import ConfirmScreen
from specttui.ui.screens.error import ErrorScreen
from specttui.ui.screens.patch import PatchScreen
from specttui.ui.screens.restart import RestartScreen

EVIL = "\x1b]0;owned\x07\x1b]52;c;aGk=\x07\x1b[2J\x1b[5;5H\x9b31m\r\x08\x07\x7f[/]$(id)"
SIZE = (120, 40)

#: Words of ours among the snapshot's texts, which choose what is drawn.
_OURS = {
    "connection",
    "server_phase",
    "mode",
    "outcome",
    "status",
    "kind",
    "source",
    "state",
    "op",
    "category",
}


def hostile(value: Any, name: str = "") -> Any:
    """The same value with escape sequences in every text that comes from a host."""
    if isinstance(value, Enum) or name in _OURS:
        return value
    if isinstance(value, str):
        return value + EVIL
    if isinstance(value, tuple) and not hasattr(value, "_fields"):
        return tuple(hostile(each, name) for each in value)
    if isinstance(value, dict):
        return {key: hostile(each) for key, each in value.items()}
    if isinstance(value, BaseModel):
        return value.model_copy(
            update={field: hostile(getattr(value, field), field) for field in type(value).model_fields}
        )
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {
            field.name: hostile(getattr(value, field.name), field.name) for field in dataclasses.fields(value)
        }
        return dataclasses.replace(value, **fields)
    return value


def written(pilot: Pilot[Any]) -> str:
    """What is sent to the terminal as text, all of the screen."""
    strips = pilot.app.screen._compositor.render_strips()
    return "".join(segment.text for strip in strips for segment in strip)


def controls(text: str) -> list[str]:
    return sorted({repr(character) for character in text if unicodedata.category(character) in {"Cc", "Cs"}})


@pytest.mark.parametrize(
    "made", [serving, starting, failed, two_nodes, node_disconnected, node_failed, three_starting]
)
async def test_on_the_main_screen(made) -> None:
    snapshot: Snapshot = hostile(made())
    session = ScriptedSession(snapshot)
    app = program(session)
    async with app.run_test(size=SIZE) as pilot:
        await show(pilot, session, snapshot)
        assert "owned" in written(pilot) or "$(id)" in written(pilot)
        assert controls(written(pilot)) == []
        for key in ("1", "escape", "3", "escape", "4", "escape", "5", "escape"):
            await pilot.press(key)
            await pilot.pause()
            assert controls(written(pilot)) == []


async def test_in_alerts_and_failures() -> None:
    session = ScriptedSession(serving())
    app = program(session)
    async with app.run_test(size=SIZE) as pilot:
        alerts = (Alert(severity=Severity.ERROR, message=f"bad {EVIL}", remedy=EVIL),)
        await show(pilot, session, dataclasses.replace(serving(), alerts=alerts))
        await settle(pilot, lambda: "bad" in written(pilot))
        assert controls(written(pilot)) == []
        app.show_error(
            SpecttuiError(f"title {EVIL}", cause=f"cause {EVIL}\nline two", remedy=f"remedy {EVIL}")
        )
        await opened(pilot, ErrorScreen)
        assert "line two" in written(pilot)
        assert controls(written(pilot)) == []
        app.tell(EVIL, EVIL)
        await pilot.pause()
        assert controls(written(pilot)) == []


async def test_in_dialogs() -> None:
    session = ScriptedSession(hostile(serving()))
    app = program(session)
    async with app.run_test(size=SIZE) as pilot:
        preview = hostile(await session.preview_patch())
        app.push_screen(PatchScreen(preview, session.preview_patch))
        await opened(pilot, PatchScreen)
        assert "owned" in written(pilot) or "$(id)" in written(pilot)
        assert controls(written(pilot)) == []
        app.push_screen(
            RestartScreen(session.current, lambda edits: hostile(session.preview_restart(edits)), ())
        )
        await opened(pilot, RestartScreen)
        assert controls(written(pilot)) == []


async def test_in_a_hosts_questions() -> None:
    prompter = ScreenPrompter()
    app = program(ScriptedSession(), prompter=prompter)
    async with app.run_test(size=SIZE) as pilot:
        asking = app.run_worker(prompter.ask_secret(SecretQuestion(f"title {EVIL}", f"prompt {EVIL}")))
        await opened(pilot, AskScreen)
        assert controls(written(pilot)) == []
        await pilot.press("escape")
        await asking.wait()
        app.run_worker(prompter.confirm_host_key(HostKeyQuestion(EVIL, 22, EVIL, EVIL, EVIL)))
        await opened(pilot, ConfirmScreen)
        assert controls(written(pilot)) == []
