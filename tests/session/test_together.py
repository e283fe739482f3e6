"""The same on every host: all or none, to its end on each, and in step."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

import pytest

from specttui.errors import ServerStartError, SpecttuiError, WorkerFileError
from specttui.host.readiness import Readiness
from specttui.session import convoy as convoy_module
from specttui.session.convoy import Convoy, all_of
from specttui.session.together import in_turn, on_all_or_none, on_each


@dataclass(frozen=True)
class Host:
    name: str


HOSTS = [Host("a"), Host("b"), Host("c")]


async def test_each_host_is_worked_on_to_the_end_whatever_becomes_of_the_others() -> None:
    ended: list[str] = []

    async def work(host: Host) -> str:
        if host.name == "a":
            raise WorkerFileError("no room")
        await asyncio.sleep(0.01)
        ended.append(host.name)
        return host.name

    with pytest.raises(WorkerFileError, match="a: no room"):
        await on_each(HOSTS, work)
    assert ended == ["b", "c"]
    assert await on_each(HOSTS[1:], work) == ["b", "c"]


async def test_in_turn_means_one_at_a_time_and_all_of_them() -> None:
    steps: list[str] = []

    async def work(host: Host) -> None:
        steps.append(f"{host.name} begins")
        await asyncio.sleep(0.01)
        if host.name == "a":
            raise WorkerFileError("no room")
        steps.append(f"{host.name} ends")

    with pytest.raises(WorkerFileError, match="a: no room"):
        await in_turn(HOSTS, work)
    assert steps == ["a begins", "b begins", "b ends", "c begins", "c ends"]


async def test_a_single_host_needs_no_name() -> None:
    async def work(host: Host) -> None:
        raise WorkerFileError("no room", cause=host.name)

    with pytest.raises(WorkerFileError) as error:
        await on_each(HOSTS[:1], work)
    assert error.value.title == "no room"


async def test_what_fails_on_one_is_undone_on_all_newest_first() -> None:
    done, undone = [], []

    async def work(host: Host) -> None:
        if host.name == "c":
            raise WorkerFileError("read-only", remedy="remount")
        done.append(host.name)

    async def undo(host: Host) -> None:
        undone.append(host.name)
        if host.name == "a":
            raise SpecttuiError("connection lost", remedy="restore it later")

    with pytest.raises(WorkerFileError, match="c: read-only") as error:
        await on_all_or_none(HOSTS, work, undo)
    assert (done, undone) == (["a", "b"], ["c", "b", "a"])
    assert error.value.cause == "a still has the change: connection lost. restore it later"


async def test_a_cancelled_work_is_undone_as_well() -> None:
    undone: list[str] = []
    reached = asyncio.Event()

    async def work(host: Host) -> None:
        if host.name == "b":
            reached.set()
            await asyncio.sleep(60)

    async def undo(host: Host) -> None:
        await asyncio.sleep(0)
        undone.append(host.name)

    task = asyncio.ensure_future(on_all_or_none(HOSTS, work, undo))
    await reached.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert undone == ["b", "a"]


async def test_on_one_host_nothing_is_undone_by_us() -> None:
    async def work(host: Host) -> None:
        raise WorkerFileError("no room", cause=host.name)

    async def undo(host: Host) -> None:
        raise AssertionError(f"{host.name} must not be touched")

    with pytest.raises(WorkerFileError) as error:
        await on_all_or_none(HOSTS[:1], work, undo)
    assert error.value.title == "no room"


async def test_nobody_goes_on_before_all_have_come() -> None:
    convoy, steps = Convoy(2), []

    async def node(name: str, delay_s: float) -> None:
        await asyncio.sleep(delay_s)
        steps.append(f"{name} prepared")
        await convoy.together()
        steps.append(f"{name} stopped")
        await convoy.together()
        steps.append(f"{name} started")

    await all_of([node("a", 0.0), node("b", 0.02)])
    assert [sorted(steps[at : at + 2]) for at in (0, 2, 4)] == [
        ["a prepared", "b prepared"],
        ["a stopped", "b stopped"],
        ["a started", "b started"],
    ]


async def test_a_failure_before_the_stop_leaves_the_others_alone() -> None:
    convoy, steps = Convoy(2), []

    async def failing() -> None:
        raise WorkerFileError("refused")

    async def other() -> None:
        await convoy.together()
        steps.append("stopped")

    with pytest.raises(WorkerFileError, match="refused"):
        await asyncio.wait_for(all_of([other(), failing()]), 5)
    assert steps == []


async def test_the_root_is_chosen_among_those_that_failed_by_themselves() -> None:
    asked: list[list[int]] = []

    async def node(delay_s: float, title: str) -> None:
        await asyncio.sleep(delay_s)
        raise ServerStartError(title)

    def last(failed) -> int:
        asked.append(list(failed))
        return failed[-1]

    with pytest.raises(ServerStartError, match="out of memory"):
        await all_of([node(0.0, "connection closed by peer"), node(0.05, "out of memory")], last)
    assert asked == [[0, 1]]


async def test_who_only_waits_is_cancelled_once_the_last_words_are_spoken(monkeypatch) -> None:
    monkeypatch.setattr(convoy_module, "LAST_WORDS_S", 0.05)
    ended: list[str] = []

    async def failing() -> None:
        raise ServerStartError("bad flag")

    async def waiting() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            ended.append("cleared away")

    with pytest.raises(ServerStartError, match="bad flag"):
        await all_of([failing(), waiting()])
    assert ended == ["cleared away"]


async def test_cancelling_the_whole_cancels_every_node() -> None:
    ended: list[str] = []

    async def node(name: str) -> None:
        try:
            await asyncio.sleep(60)
        finally:
            ended.append(name)

    task = asyncio.ensure_future(all_of([node("a"), node("b")]))
    await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert sorted(ended) == ["a", "b"]


def test_progress_on_one_node_is_progress_of_all() -> None:
    now_s = [0.0]
    waiting = [Readiness(lambda: now_s[0]) for _ in range(2)]
    convoy = Convoy(2)
    for readiness in waiting:
        convoy.joined(readiness)
    now_s[0] = 100.0
    assert [readiness.silent_s for readiness in waiting] == [100.0, 100.0]
    convoy.saw_progress()
    assert [readiness.silent_s for readiness in waiting] == [0.0, 0.0]
