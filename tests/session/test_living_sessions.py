"""What living sessions work on is told at connect, and never taken from them unasked."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.left_host import CASES, EDITED, ORIGINAL, LeftHost, living
from support.local_remote import LocalRemote

from specttui.events import Alert, Clock
from specttui.host.locks import LockedError


@pytest.fixture
def host(tmp_path: Path) -> LeftHost:
    return LeftHost(tmp_path)


@pytest.mark.parametrize(
    ("case", "action"),
    [*((case, action) for case in CASES for action in ("restore_leftovers", "adopt")), ("patch", "restore")],
)
async def test_nothing_of_a_living_session_is_touched_unless_it_is_taken_over(
    host: LeftHost, case: str, action: str
) -> None:
    seen = await living(host, case)
    before = host.tree()
    member = await host.member()
    assert member.left == seen
    assert {left.owner for left in member.changes.leftovers} == {"ada@laptop"}

    async def act(*, take_over: bool) -> None:
        if action == "restore":
            await member.changes.restore(member.worker_path, take_over=take_over)
        else:
            await getattr(member.changes, action)(take_over=take_over)

    with pytest.raises(LockedError) as refused:
        await act(take_over=False)
    assert (refused.value.holder.session_id, refused.value.holder.who) == ("dead", "ada@laptop")
    assert 0 <= refused.value.holder.held_s < 300
    assert host.tree() == before
    await act(take_over=True)
    if action == "adopt":
        assert set(host.owners()) == (set() if case == "lock" else {"me"})
        await member.changes.restore(member.worker_path)
    await member.close()
    assert host.is_as_it_was()


async def test_a_living_session_is_told_at_connect_with_who_and_since_when(host: LeftHost) -> None:
    await living(host, "patch")
    for taken in (host.cache / "locks").glob("*/taken"):
        since, _, path = taken.read_text().partition("\n")
        taken.write_text(f"{int(since) - 725}\n{path}")
    member = await host.member()
    [alert] = [event for event in member.events if isinstance(event, Alert)]
    assert alert.message == f"Session dead of ada@laptop works on {host.worker}, taken 12 min ago"
    assert alert.remedy == "Agree with its user; nothing of it is touched unless you take it over."
    await member.changes.look()
    assert len([event for event in member.events if isinstance(event, Alert)]) == 1


async def test_dead_sessions_things_are_dealt_with_beside_a_living_ones(host: LeftHost) -> None:
    await host.leave_edit()
    host.live_elsewhere()
    other = host.guarded(host.worker)
    other = type(other)(
        LocalRemote(host.home), str(host.worker), "long-dead", host.folder / "local long dead"
    )
    await other.back_up()
    host.die(session_id="long-dead")
    member = await host.member()
    with pytest.raises(LockedError) as refused:
        await member.changes.restore_leftovers()
    assert refused.value.path == str(host.config)
    assert list(host.worker.parent.iterdir()) == [host.worker]
    assert host.config.read_bytes() == EDITED
    assert {what for what, _, _ in member.left} == {"lock", "edited config", "backup"}
    assert {session for _, session, _ in member.left} == {"dead"}


async def test_all_that_living_sessions_hold_is_told_at_once(host: LeftHost) -> None:
    await host.leave_edit()
    await host.leave_patch()
    host.live_elsewhere()
    member = await host.member()
    with pytest.raises(LockedError) as refused:
        await member.changes.restore_leftovers()
    held = {refused.value.path, *(other.path for other in refused.value.others)}
    assert held == {str(host.worker), str(host.config), str(host.cache / "probe-dead.json")}


async def test_a_session_learns_that_another_took_its_file_over(host: LeftHost) -> None:
    mine = await host.member()
    await mine.keeper.patch(str(host.worker), "", Clock.EVENTS)
    other = await host.member("other")
    assert [what for what, _, alive in other.left if alive] == [
        "lock",
        "patched file",
        "backup",
        "control file",
    ]
    await other.changes.adopt(take_over=True)
    await mine.keeper.beats.beat()
    await mine.keeper.beats.beat()
    told = [event.message for event in mine.events if isinstance(event, Alert)]
    assert told == [f"Another session has taken {host.worker} over"]
    with pytest.raises(LockedError):
        await mine.changes.restore(mine.worker_path)
    await other.changes.restore(other.worker_path)
    assert host.worker.read_bytes() == ORIGINAL
    await mine.close()
    await other.close()
    assert host.is_as_it_was()


async def test_a_backup_alone_is_shown_to_live_too(host: LeftHost) -> None:
    mine = await host.member()
    await mine.keeper.back_up(str(host.worker))
    for owner in (host.cache / "locks").glob("*/owner"):
        owner.write_text("me 1000 ada@laptop 7\n")
    await mine.keeper.beats.beat()
    other = await host.member("other")
    assert other.left == [("lock", "me", True), ("backup", "me", True)]
    await mine.close()
    again = await host.member("again")
    assert again.left == [("backup", "me", False)]
