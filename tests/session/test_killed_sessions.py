"""Whole sessions over SSH: one that was killed, and one that lives, as the next one finds them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable

import pytest
from support.demo_sessions import connected
from support.killed_session import kill_after

from specttui.demo.host import DemoHost
from specttui.events import Alert, CommandFailed, Event, FileState
from specttui.host.locks import LockedError, this_machine
from specttui.session.session import Session

LEFT = "An earlier session, or another one, left this: "

#: What a session did before it was killed, and what is found.
WORKS = {
    "back_up": ["backup"],
    "patch": ["patched file", "backup", "control file"],
    "hook": ["hook folder", "control file"],
    "edit": ["edited config", "backup"],
}


@pytest.fixture
async def demo() -> AsyncIterator[DemoHost]:
    async with DemoHost(profile="h200", speed=20, steps=3) as host:
        await host.wait_ready(60)
        yield host


def _kept(demo: DemoHost) -> Callable[[], dict[str, bytes]]:
    """Reads the files that sessions change, and whatever lies beside them or in the cache folder."""
    folders = (demo.worker_path.parent, demo.scratch.draft_path, demo.home / ".cache" / "specttui")

    def read() -> dict[str, bytes]:
        files = (path for folder in folders for path in folder.rglob("*") if path.is_file())
        return {str(path): path.read_bytes() for path in files if "__pycache__" not in path.parts}

    return read


def _told(events: list[Event]) -> list[str]:
    return [event.message for event in events if isinstance(event, Alert)]


def _seen(session: Session) -> list[tuple[str, bool]]:
    return [(left.what, left.alive) for left in session.leftovers]


@pytest.mark.parametrize("work", WORKS)
async def test_what_a_killed_session_left_is_restored_adopted_or_ignored(demo: DemoHost, work: str) -> None:
    read = _kept(demo)
    original = read()
    await kill_after(demo, work)
    left = read()
    assert left != original
    async with connected(demo) as (session, _):
        found = session.leftovers
        assert [each.what for each in found] == WORKS[work]
        assert not any(each.alive for each in found)
        assert len({each.session_id for each in found}) == 1
        session.ignore_leftovers()
        assert (session.leftovers, session.changes_on_host) == ((), ())
    assert read() == left

    async with connected(demo) as (session, _):
        assert [each.what for each in session.leftovers] == WORKS[work]
        await session.adopt_leftovers()
        assert session.leftovers == ()
        assert bool(session.changes_on_host) == (work != "back_up")
        if work != "back_up":
            await session.restore()
            assert session.changes_on_host == ()
    if work != "back_up":
        assert read() == original

    async with connected(demo) as (session, _):
        assert [each.what for each in session.leftovers] == (WORKS[work] if work == "back_up" else [])
        if work == "back_up":
            await session.restore_leftovers()
            assert session.leftovers == ()
    assert read() == original


async def test_what_a_killed_session_patched_is_restored_at_once(demo: DemoHost) -> None:
    read = _kept(demo)
    original = read()
    await kill_after(demo, "patch")
    async with connected(demo) as (session, events):
        assert session.snapshot().worker_file.state is FileState.PATCHED
        told = [event.message for event in events if isinstance(event, Alert)]
        assert any(
            text.startswith("An earlier session, or another one, left this: patched file") for text in told
        )
        await session.restore_leftovers()
        assert session.snapshot().worker_file.state is FileState.ORIGINAL
        assert (session.leftovers, session.changes_on_host, session.patched) == ((), (), False)
    assert read() == original


async def test_two_sessions_see_each_other_and_neither_takes_from_the_other_unasked(demo: DemoHost) -> None:
    original = demo.worker_path.read_bytes()
    async with connected(demo) as (first, first_events):
        await first.patch()
        patched = demo.worker_path.read_bytes()
        async with connected(demo) as (second, events):
            lock, *rest = second.leftovers
            assert (lock.what, lock.alive, lock.path) == ("lock", True, str(demo.worker_path))
            assert (lock.session_id, lock.owner) == (first.head.keeper.session_id, this_machine())
            assert all(each.alive for each in rest)
            [told] = [
                event.message for event in events if isinstance(event, Alert) and "works on" in event.message
            ]
            assert told.startswith(
                f"Session {lock.session_id} of {this_machine()} works on {demo.worker_path}"
            )
            second.ignore_leftovers()
            with pytest.raises(LockedError) as refused:
                await second.restore()
            assert refused.value.holder.session_id == lock.session_id
            assert demo.worker_path.read_bytes() == patched
            assert [event.name for event in events if isinstance(event, CommandFailed)] == ["restore"]
            await second.restore(take_over=True)
            assert demo.worker_path.read_bytes() == original
            await first.restore()
            assert first.changes_on_host == ()
    assert demo.worker_path.read_bytes() == original
    assert [path for path in demo.worker_path.parent.iterdir() if "specttui" in path.name] == []
    assert first_events


async def test_a_look_again_sees_that_the_other_session_has_ended(demo: DemoHost) -> None:
    async with connected(demo) as (first, _):
        await first.back_up()
        async with connected(demo) as (second, _):
            assert [(each.what, each.alive) for each in second.leftovers] == [
                ("lock", True),
                ("backup", True),
            ]
            await first.close()
            await second.rediscover()
            assert _seen(second) == [("backup", False)]
