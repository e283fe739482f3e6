"""How many commands a visit costs: on a distant host each is a round trip or more, so they are few."""

from __future__ import annotations

from collections.abc import Awaitable, Sequence
from typing import Any

import pytest
from support.demo_sessions import options_for
from support.prompters import ScriptedPrompter

from specttui.demo.host import DemoHost
from specttui.host.connection import Connection
from specttui.host.remote import CommandResult
from specttui.session.session import Session


@pytest.fixture
def commands(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The program of every command that a connection runs to its end."""
    asked: list[str] = []
    run = Connection.run

    async def counting_run(connection: Connection, argv: Sequence[str], **options: Any) -> CommandResult:
        asked.append(argv[0])
        return await run(connection, argv, **options)

    monkeypatch.setattr(Connection, "run", counting_run)
    return asked


async def test_discovery_takes_three_commands_at_most_and_a_patch_six(commands: list[str]) -> None:
    async with DemoHost(profile="h200", speed=20, traffic=0, steps=3) as demo:
        await demo.wait_ready(60)
        session = Session(options_for(demo), ScriptedPrompter())
        taken: dict[str, int] = {}

        async def count(name: str, work: Awaitable[object]) -> None:
            before = len(commands)
            await work
            taken[name] = len(commands) - before

        try:
            await count("login", session.head.link.start())
            await count("discover", session.start())
            await session.head.watch.stop()  # its looks at the server are none of the commands'
            await count("patch", session.patch())
            await count("restore", session.restore())
        finally:
            await session.close()
    assert taken["login"] == 1
    assert 1 <= taken["discover"] <= 3
    assert 3 <= taken["patch"] <= 6
    assert 3 <= taken["restore"] <= 6
