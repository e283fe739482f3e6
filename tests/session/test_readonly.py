"""`--readonly`: all commands and keys are listed, and what changes the host is refused or gone."""

from __future__ import annotations

import inspect as python_inspect
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from pathlib import Path

import pytest
from support.demo_sessions import options_for
from support.live_demo import started_session
from support.pilots import program
from support.prompters import ScriptedPrompter
from support.scripted_session import ScriptedSession

from specttui.config.reader import parse
from specttui.demo.host import DemoHost
from specttui.errors import UsageError
from specttui.events import Clock
from specttui.session.api import SessionApi
from specttui.session.choose import session_options
from specttui.session.restoring import restore
from specttui.session.session import Session
from specttui.ui.keys import KEYS

#: Every command that changes the host or sends requests to the server.
CHANGING: dict[str, Callable[[Session], Awaitable[object]]] = {
    "back_up": lambda session: session.back_up(),
    "patch": lambda session: session.patch(),
    "restore": lambda session: session.restore(),
    "restore_leftovers": lambda session: session.restore_leftovers(),
    "adopt_leftovers": lambda session: session.adopt_leftovers(),
    "restart": lambda session: session.restart([]),
    "restart_last_good": lambda session: session.restart_last_good(),
    "set_clock": lambda session: session.set_clock(Clock.WALL),
    "run_load": lambda session: session.run_load(1, 1, 1),
    "measure_probe_cost": lambda session: session.measure_probe_cost(),
    "edit_draft_config": lambda session: session.edit_draft_config("{}"),
    "restore_draft_config": lambda session: session.restore_draft_config(),
}
#: Every other one.
READING = {
    "snapshot", "history", "launch", "can_roll_back", "patched", "changes_on_host", "preview_patch",
    "preview_restart", "view_draft_config", "extend_start", "add_note", "export", "cancel", "rediscover",
    "preview_restore", "leftovers", "ignore_leftovers",
}  # fmt: skip
#: The session's command behind a key, where it has another name.
_COMMAND_OF = {
    "roll_back": "restart_last_good", "load": "run_load", "clock": "set_clock", "cost": "measure_probe_cost",
    "note": "add_note", "draft_config": "edit_draft_config", "wait_longer": "extend_start",
}  # fmt: skip


@pytest.fixture
async def demo() -> AsyncIterator[DemoHost]:
    async with DemoHost(profile="h200", speed=20, steps=3) as host:
        await host.wait_ready()
        yield host


def test_every_command_is_listed() -> None:
    names = {name for name, _ in python_inspect.getmembers(SessionApi) if not name.startswith("_")}
    assert names - {"readonly"} == {*CHANGING, *READING}


def _files(demo: DemoHost) -> dict[Path, tuple[int, bytes]]:
    """Every file of the host but those that its server writes."""
    server_own = {".log"}
    return {
        path: (path.stat().st_mtime_ns, path.read_bytes())
        for folder in (demo.scratch.site, demo.home)
        for path in folder.rglob("*")
        if path.is_file() and path.suffix not in server_own and "__pycache__" not in path.parts
    }


async def test_each_of_them_is_refused_and_nothing_changes(demo: DemoHost) -> None:
    async with started_session(replace(options_for(demo), readonly=True)) as session:
        before = _files(demo)
        server = session.state.server
        for name, call in CHANGING.items():
            with pytest.raises(UsageError) as refused:
                await call(session)
            assert refused.value.title.endswith("would change the host, and this session is read-only"), name
        assert (await session.preview_patch()).diff_lines
        assert session.preview_restart([]).changes == ()
        await session.add_note("a note")
        assert (await session.export()).exists()
        await session.rediscover()
        await session.cancel()
        assert session.state.server == server
        assert _files(demo) == before


def test_every_key_that_changes_the_host_is_marked_and_gone() -> None:
    commands = {key.id: _COMMAND_OF.get(key.id, key.id) for key in KEYS if key.is_command}
    assert set(commands.values()) <= {*CHANGING, *READING}
    marked = {key.id for key in KEYS if key.changes_host}
    assert marked == {key for key, command in commands.items() if command in CHANGING}
    assert marked >= {"back_up", "patch", "restart", "restore", "roll_back", "load", "clock"}


async def test_on_the_screen_they_are_not_even_shown() -> None:
    session = ScriptedSession(readonly=True, patched=True, can_roll_back=True)
    app = program(session)
    async with app.run_test(size=(120, 40)) as pilot:
        for key in KEYS:
            if key.changes_host:
                assert app.main.check_action("command", (key.id,)) is False, key.id
                await pilot.press(key.keys)
        await pilot.pause()
        assert session.calls == []
        assert app.screen is app.main
        named = {command.title.lower() for command in app.get_system_commands(app.screen)}
        assert named.isdisjoint(key.label for key in KEYS if key.changes_host)


async def test_a_profile_can_make_a_host_read_only(demo: DemoHost) -> None:
    settings = parse('[hosts.gpu]\nhost = "127.0.0.1"\nreadonly = true', Path("/settings.toml"))
    options = session_options("gpu", settings)
    assert options.readonly
    with pytest.raises(UsageError, match="its profile is read-only"):
        await restore(replace(options_for(demo), readonly=True), prompter=ScriptedPrompter())
