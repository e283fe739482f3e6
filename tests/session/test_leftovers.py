"""What dead sessions left: restored, adopted, ignored; a backup is kept while it is needed."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest
from support.left_host import CASES, EDITED, ORIGINAL, LeftHost, dead

from specttui.errors import PatchError, WorkerFileChangedError
from specttui.events import Clock
from specttui.host.locks import LockedError

each_case = pytest.mark.parametrize("case", CASES)


@pytest.fixture
def host(tmp_path: Path) -> LeftHost:
    return LeftHost(tmp_path)


@each_case
async def test_restore_brings_the_originals_back_and_clears_everything_away(
    host: LeftHost, case: str
) -> None:
    seen = await dead(host, case)
    member = await host.member()
    assert member.left == seen
    assert {left.owner for left in member.changes.leftovers} <= {"ada@laptop", ""}
    await member.changes.restore_leftovers()
    assert (member.left, host.is_as_it_was()) == ([], True)
    assert member.changes.words == ()
    await member.close()
    assert host.is_as_it_was()


@pytest.mark.parametrize("case", ["patch", "edit", "hook"])
async def test_x_does_the_same(host: LeftHost, case: str) -> None:
    await dead(host, case)
    member = await host.member()
    assert member.changes.plan(member.worker_path)
    await member.changes.restore(member.worker_path)
    assert (member.left, host.is_as_it_was()) == ([], True)


@each_case
async def test_what_is_adopted_is_ours_and_restored_as_ours(host: LeftHost, case: str) -> None:
    await dead(host, case)
    before = (host.worker.read_bytes(), host.config.read_bytes())
    member = await host.member()
    await member.changes.adopt()
    assert member.left == []
    assert (host.worker.read_bytes(), host.config.read_bytes()) == before
    assert list(host.worker.parent.glob("*.tmp")) == []
    assert set(host.owners()) == (set() if case == "lock" else {"me"})
    sentences = {
        "patch": ("The worker file on the host is patched.",),
        "hook": ("The worker file on the host is patched.",),
        "edit": (f"The draft's {host.config} is edited.",),
    }
    assert member.changes.words == sentences.get(case, ())
    other = await host.member("third")
    assert all(alive for _, _, alive in other.left)
    with pytest.raises(LockedError) if other.left else contextlib.nullcontext():
        await other.changes.restore_leftovers()
    await member.changes.restore(member.worker_path)
    await member.close()
    assert host.is_as_it_was()


@each_case
async def test_what_is_ignored_is_not_touched_nor_asked_about_again(host: LeftHost, case: str) -> None:
    await dead(host, case)
    before = host.tree()
    member = await host.member()
    member.changes.ignore()
    assert (member.left, member.changes.words) == ([], ())
    await member.changes.look()
    assert member.left == []
    await member.close()
    assert host.tree() == before


async def test_what_was_ignored_is_still_restored_when_it_is_asked_for(host: LeftHost) -> None:
    await dead(host, "patch")
    member = await host.member(patched=True)
    member.changes.ignore()
    assert member.changes.patched
    assert member.changes.words == ()
    assert str(host.worker) in member.changes.plan(member.worker_path)
    await member.changes.restore(member.worker_path)
    assert host.is_as_it_was()
    assert not member.changes.patched


async def test_restoring_ones_own_does_not_touch_what_was_ignored(host: LeftHost) -> None:
    await dead(host, "edit")
    member = await host.member()
    member.changes.ignore()
    await member.keeper.patch(str(host.worker), "", Clock.EVENTS)
    assert member.changes.plan(member.worker_path) == (str(host.worker),)
    await member.changes.restore(member.worker_path)
    assert (host.worker.read_bytes(), host.config.read_bytes()) == (ORIGINAL, EDITED)
    await member.close()


# What cannot be proved is kept


async def test_a_backup_stays_while_its_original_is_not_in_place(host: LeftHost) -> None:
    await dead(host, "backup")
    upgraded = ORIGINAL + b"VERSION = 2\n"
    host.worker.write_bytes(upgraded)
    member = await host.member()
    await member.changes.restore_leftovers()
    assert host.worker.read_bytes() == upgraded
    [backup] = host.worker.parent.glob("*.orig")
    assert backup.read_bytes() == ORIGINAL
    assert member.left == [("backup", "dead", False)]
    assert host.owners() == []


async def test_a_file_that_was_changed_after_the_edit_is_left_as_it_is(host: LeftHost) -> None:
    await dead(host, "edit")
    host.config.write_bytes(b'{"by": "hand"}\n')
    member = await host.member()
    before = host.tree()
    with pytest.raises(WorkerFileChangedError):
        await member.changes.restore_leftovers()
    assert {name: data for name, data in host.tree().items() if "/locks/" not in name} == {
        name: data for name, data in before.items() if "/locks/" not in name
    }
    assert member.left == [("backup", "dead", False)]


@pytest.mark.parametrize("action", ["restore_leftovers", "adopt"])
async def test_a_worker_file_that_was_changed_after_the_patch_is_left_as_it_is(
    host: LeftHost, action: str
) -> None:
    await dead(host, "patch")
    host.worker.write_bytes(host.worker.read_bytes() + b"# by hand\n")
    member = await host.member()
    with pytest.raises(PatchError):
        await getattr(member.changes, action)()
    assert host.worker.read_bytes() == host.patched + b"# by hand\n"
    assert len(list(host.worker.parent.glob("*.orig"))) == 1


async def test_a_file_that_is_gone_keeps_its_backup(host: LeftHost) -> None:
    await dead(host, "backup")
    host.worker.unlink()
    member = await host.member()
    with pytest.raises(WorkerFileChangedError):
        await member.changes.restore_leftovers()
    assert [path.read_bytes() for path in host.worker.parent.iterdir()] == [ORIGINAL]
