"""Commands: one at a time, each framed by events, cancellable."""

from __future__ import annotations

import asyncio

import pytest

from specttui.errors import SpecttuiError, UsageError
from specttui.events import CommandFailed, CommandFinished, CommandStarted, Envelope
from specttui.session.commands import CancelledByUserError, CommandRunner
from specttui.session.emitter import Emitter
from specttui.state.session_state import SessionState


def runner(*, readonly: bool = False) -> tuple[CommandRunner, list[Envelope]]:
    emitter = Emitter(SessionState())
    seen: list[Envelope] = []
    emitter.listen(seen.append)
    return CommandRunner(emitter, readonly=readonly), seen


def kinds(seen: list[Envelope]) -> list[type]:
    return [type(envelope.event) for envelope in seen]


async def test_success_is_framed_and_returns_the_result() -> None:
    commands, seen = runner()

    async def work() -> int:
        return 42

    assert await commands.run("patch", "put the probe in", work, done=lambda result: f"{result} lines") == 42
    assert kinds(seen) == [CommandStarted, CommandFinished]
    assert seen[1].event.detail == "42 lines"


async def test_our_errors_are_told_with_their_remedy() -> None:
    commands, seen = runner()

    async def work() -> None:
        raise SpecttuiError("no", cause="because", remedy="do this")

    with pytest.raises(SpecttuiError, match="no"):
        await commands.run("patch", "", work)
    failed = seen[-1].event
    assert isinstance(failed, CommandFailed)
    assert (failed.title, failed.cause, failed.remedy) == ("no", "because", "do this")


async def test_unexpected_errors_become_ours() -> None:
    commands, seen = runner()

    async def work() -> None:
        raise KeyError("gone")

    with pytest.raises(SpecttuiError, match="patch failed unexpectedly") as caught:
        await commands.run("patch", "", work)
    assert caught.value.cause == "KeyError: 'gone'"
    assert kinds(seen) == [CommandStarted, CommandFailed]


async def test_second_command_is_refused_while_one_runs() -> None:
    commands, seen = runner()
    release = asyncio.Event()
    first = asyncio.create_task(commands.run("restart", "", release.wait))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert commands.running == "restart"
    with pytest.raises(UsageError, match="restart is still running"):
        await commands.run("patch", "", release.wait)
    release.set()
    await first
    assert commands.running == ""
    assert kinds(seen) == [CommandStarted, CommandStarted, CommandFailed, CommandFinished]


async def test_cancel_waits_for_the_safe_point() -> None:
    commands, seen = runner()
    cleaned = asyncio.Event()

    async def work() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            cleaned.set()

    task = asyncio.create_task(commands.run("restart", "", work))
    await asyncio.sleep(0.01)
    await commands.cancel()
    assert cleaned.is_set()
    with pytest.raises(CancelledByUserError):
        await task
    assert seen[-1].event.title == "restart was cancelled"
    assert commands.running == ""


async def test_readonly_refuses_what_changes_the_host_only() -> None:
    commands, _ = runner(readonly=True)

    async def work() -> str:
        return "done"

    with pytest.raises(UsageError, match="read-only"):
        await commands.run("patch", "", work)
    assert await commands.run("export", "", work, changes_host=False) == "done"
