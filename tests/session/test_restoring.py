"""`specttui restore` and `check`: what dead sessions left is named, and brought back to the last bit."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator

import pytest
from support.live_demo import options_of, started_session
from support.prompters import ScriptedPrompter

from specttui.demo.host import DemoHost
from specttui.errors import PatchError
from specttui.events import Clock
from specttui.session.checking import check
from specttui.session.checking_text import check_json, check_text
from specttui.session.restoring import restore


@pytest.fixture
async def demo() -> AsyncIterator[DemoHost]:
    async with DemoHost(profile="h200", speed=20, steps=3) as host:
        await host.wait_ready()
        yield host


def ours(demo: DemoHost) -> list[str]:
    """What of ours lies on the host, folders left out."""
    cache = demo.home / ".cache" / "specttui"
    beside = [path for path in demo.worker_path.parent.iterdir() if ".specttui-" in path.name]
    return sorted(path.name for path in (*cache.rglob("*"), *beside) if path.is_file())


async def leave_changes(demo: DemoHost) -> str:
    """A session that patches the worker, edits the draft's configuration and goes; its id."""
    async with started_session(options_of(demo)) as session:
        await session.patch()
        config = json.loads((await session.view_draft_config()).text)
        await session.edit_draft_config(json.dumps({**config, "edited": True}))
        return session.folder.session_id


async def test_everything_of_a_dead_session_is_brought_back_or_cleared_away(demo: DemoHost) -> None:
    config = demo.scratch.draft_path / "config.json"
    originals = demo.worker_path.read_bytes(), config.read_bytes()
    session_id = await leave_changes(demo)
    checked = await check(options_of(demo), ScriptedPrompter())
    assert {left["what"] for left in check_json(checked)["leftovers"]} >= {"patched file", "edited config"}
    lines = check_text(checked).splitlines()
    assert "Left by other sessions, or still in use:" in lines
    assert any(line.startswith("  patched file   ") and session_id in line for line in lines)
    assert "  What to do: open a session, which asks about it, or: specttui restore demo" in lines

    said = (await restore(options_of(demo), prompter=ScriptedPrompter())).splitlines()
    assert (demo.worker_path.read_bytes(), config.read_bytes()) == originals
    assert sum("restored, byte for byte" in line for line in said) == 2
    assert said[-1].endswith(f"the control file of session {session_id} was cleared away")
    assert ours(demo) == []
    assert check_json(await check(options_of(demo), ScriptedPrompter()))["leftovers"] == []
    again = await restore(options_of(demo), prompter=ScriptedPrompter())
    assert again == "Nothing to restore: no session left a change, no server's worker is patched."


async def test_what_cannot_be_restored_keeps_nothing_else_from_it(demo: DemoHost) -> None:
    config = demo.scratch.draft_path / "config.json"
    original = config.read_bytes()
    await leave_changes(demo)
    changed = b"# somebody else\n" + demo.worker_path.read_bytes()
    demo.worker_path.write_bytes(changed)
    with pytest.raises(PatchError) as told:
        await restore(options_of(demo), prompter=ScriptedPrompter())
    assert demo.worker_path.read_bytes() == changed
    assert config.read_bytes() == original
    assert f"{config}: restored, byte for byte" in told.value.cause


async def test_a_living_sessions_control_file_stays(demo: DemoHost) -> None:
    async with started_session(options_of(demo)) as session:
        await session.back_up()
        await session.set_clock(Clock.WALL)
        before = [name for name in ours(demo) if name.startswith("probe-")]
        await restore(options_of(demo), prompter=ScriptedPrompter())
        assert [name for name in ours(demo) if name.startswith("probe-")] == before != []
