"""How many commands a visit costs: on a distant host each is a round trip or more, so they are few."""

from __future__ import annotations

import asyncssh
import pytest
from support.demo_sessions import options_for
from support.prompters import ScriptedPrompter

from specttui.demo.host import DemoHost
from specttui.demo.ssh import DemoSSHServer
from specttui.session.session import Session


@pytest.fixture
def commands(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Every exec request that a demo host is sent."""
    asked: list[str] = []
    serve = DemoSSHServer._serve

    async def counting(server: DemoSSHServer, process: asyncssh.SSHServerProcess[bytes]) -> None:
        asked.append(process.command or "")
        await serve(server, process)

    monkeypatch.setattr(DemoSSHServer, "_serve", counting)
    return asked


async def test_discovery_takes_three_commands_at_most_and_a_patch_six(commands: list[str]) -> None:
    async with DemoHost(profile="h200", speed=20, traffic=1, steps=3) as demo:
        await demo.wait_ready(60)
        session = Session(options_for(demo), ScriptedPrompter())
        try:
            await session.head.link.start()
            login = len(commands)
            assert login == 1
            await session.head.commands.run("look", "", session.head.discover, changes_host=False)
            assert len(commands) - login <= 3
        finally:
            await session.close()
