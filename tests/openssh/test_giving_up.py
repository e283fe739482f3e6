"""A command that is given up leaves nothing running on the host, whatever moment that is."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from support.logins import options_for, target_of
from support.processes import survivors
from support.prompters import ScriptedPrompter
from support.sshd import Sshd, make_key

from specttui.host.connection import Connection, connect

#: More turns of the event loop than a command needs to begin and to be heard of.
TURNS = 60


@pytest.fixture
async def connection(tmp_path: Path) -> AsyncIterator[Connection]:
    key = make_key(tmp_path / "id_ed25519")
    with Sshd(tmp_path / "sshd", key.with_suffix(".pub")) as server:
        options = options_for(server, tmp_path, key)
        connection = await connect(target_of(server, server.user), ScriptedPrompter(), options)
        yield connection
        await connection.close()


@pytest.mark.parametrize("warm", [True, False], ids=["a-shell-waits", "a-channel-is-opened"])
async def test_cancelled_after_any_number_of_turns(
    connection: Connection, tmp_path: Path, warm: bool
) -> None:
    pids = tmp_path / "pids"
    pids.touch()
    given_up_early = 0
    for turns in range(TURNS):
        if not warm:
            connection._channels._heard_s = 0.0  # so long ago that the connection may have broken
        before = pids.read_text()
        task = asyncio.create_task(
            connection.run(["sh", "-c", 'echo $$ >>"$0"; exec sleep 600', str(pids)], timeout_s=600)
        )
        for _ in range(turns):
            await asyncio.sleep(0)
        task.cancel()
        given_up_early += pids.read_text() == before
        with pytest.raises(asyncio.CancelledError):
            await task
    for ending in list(connection._endings):
        await ending
    begun = pids.read_text().split()
    assert given_up_early
    assert begun
    assert await asyncio.to_thread(survivors, begun) == []


async def test_a_timeout_that_comes_before_the_first_word(connection: Connection, tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    for timeout_ms in range(1, 40):
        with contextlib.suppress(Exception):
            await connection.run(
                ["sh", "-c", 'echo $$ >>"$0"; exec sleep 600', str(pids)], timeout_s=timeout_ms / 1000
            )
    begun = pids.read_text().split()
    assert begun
    assert await asyncio.to_thread(survivors, begun) == []
