"""Shells that wait for the next commands: taken first, replaced, never more than there is room for."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.logins import connected, options_for
from support.ssh_server import SshServer
from support.sshd import find_shell, make_key
from support.waiting import eventually

from specttui.host import channels
from specttui.host.frame import FrameReader, FrameToken
from specttui.host.shell import WARM_LINE, run_line, warm_input
from specttui.host.warm_shells import MOST, WarmShells

TOKEN = FrameToken()


def _waiting() -> SimpleNamespace:
    return SimpleNamespace(exit_status=None, exit_signal=None, is_closing=lambda: False, close=lambda: None)


class Shells:
    """Opens shells as a host would that allows so many."""

    def __init__(self, allowed: int = 100) -> None:
        self.opened: list[SimpleNamespace] = []
        self._allowed = allowed

    async def open(self) -> SimpleNamespace | None:
        await asyncio.sleep(0)
        if len(self.opened) >= self._allowed:
            return None
        self.opened.append(_waiting())
        return self.opened[-1]


async def test_two_are_kept_and_the_oldest_is_taken() -> None:
    shells = Shells()
    warm = WarmShells(shells.open)  # type: ignore[arg-type]
    assert await warm.take() is None
    warm.prepare(room=10)
    warm.prepare(room=10)
    assert warm.count == MOST == 2
    assert await warm.take() is shells.opened[0]
    assert await warm.take() is shells.opened[1]
    assert (warm.count, len(shells.opened)) == (0, 2)


@pytest.mark.parametrize(("room", "count"), [(0, 0), (-3, 0), (1, 1)])
async def test_no_more_than_there_is_room_for(room: int, count: int) -> None:
    warm = WarmShells(Shells().open)  # type: ignore[arg-type]
    warm.prepare(room)
    assert warm.count == count
    await warm.close()


async def test_a_host_that_allows_no_other_gives_none() -> None:
    warm = WarmShells(Shells(allowed=1).open)  # type: ignore[arg-type]
    warm.prepare(room=2)
    assert await warm.take() is not None
    assert await warm.take() is None


async def test_one_that_ended_while_it_waited_is_passed_over() -> None:
    shells = Shells()
    warm = WarmShells(shells.open)  # type: ignore[arg-type]
    warm.prepare(room=2)
    await eventually(lambda: len(shells.opened) == 2)
    shells.opened[0].exit_status = 142
    assert await warm.take() is shells.opened[1]


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"])), max_size=4),
    st.binary(),
)
def test_any_words_and_input_reach_a_command_of_a_waiting_shell(arguments: list[str], data: bytes) -> None:
    line = run_line(["sh", "-c", 'printf "%s\\0" "$@"; cat', "sh", *arguments], TOKEN)
    done = subprocess.run(
        ["/bin/sh", "-c", WARM_LINE],
        input=warm_input(line) + data,
        capture_output=True,
        check=True,
        timeout=60,
    )
    frame = FrameReader(TOKEN)
    expected = b"".join(each.encode() + b"\0" for each in arguments) or b"\0"
    assert frame.feed(done.stdout) == expected + data
    assert frame.end == "0"


@pytest.mark.parametrize("shell", ["sh", "bash", "dash", "fish", "tcsh"])
def test_whatever_the_login_shell_is(shell: str) -> None:
    evil = 'it\'s "$HOME" `id` \\ ! \n %s'
    line = run_line(["sh", "-c", 'printf %s "$1"; cat', "sh", evil], TOKEN)
    done = subprocess.run(
        [find_shell(shell), "-c", WARM_LINE],
        input=warm_input(line) + b"in\n",
        capture_output=True,
        check=True,
        timeout=60,
    )
    assert FrameReader(TOKEN).feed(done.stdout) == evil.encode() + b"in\n"


# On a connection


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[SshServer]:
    key = make_key(tmp_path / "id_ed25519")
    async with SshServer(tmp_path / "server", (key.with_suffix(".pub"),)) as running:
        yield running


def lines(server: SshServer) -> list[bool]:
    """Of all commands that the server was sent, in order: whether it was a waiting shell."""
    return [process.command == WARM_LINE for process in server._processes]


async def test_commands_go_to_waiting_shells_which_are_replaced(server: SshServer, tmp_path: Path) -> None:
    async with connected(server, options_for(server, tmp_path, tmp_path / "id_ed25519")) as connection:
        await eventually(lambda: lines(server) == [False, True, True])
        for number in range(5):
            assert (await connection.run(["cat"], stdin=b"%d" % number)).stdout == b"%d" % number
        async with connection.stream(["echo", "on"]) as chunks:
            assert await anext(chunks) == b"on\n"
        await eventually(lambda: lines(server) == [False, *[True] * 8])
        assert server.most_commands <= 4
    await eventually(lambda: not server._children)


async def test_shells_that_the_host_ended_are_not_used(server: SshServer, tmp_path: Path) -> None:
    async with connected(server, options_for(server, tmp_path, tmp_path / "id_ed25519")) as connection:
        await eventually(lambda: len(server._children) == 2)
        for child in list(server._children):
            os.killpg(child.pid, signal.SIGKILL)
        await eventually(lambda: not server._children)
        await asyncio.sleep(0.1)
        assert (await connection.run(["echo", "here"])).text == "here"
        assert lines(server)[:4] == [False, True, True, False]


async def test_a_host_not_heard_of_lately_is_asked_for_a_channel_first(
    server: SshServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So a connection that broke unnoticed is found before anything was sent."""
    monkeypatch.setattr(channels, "_LATELY_S", -1.0)
    async with connected(server, options_for(server, tmp_path, tmp_path / "id_ed25519")) as connection:
        await eventually(lambda: len(lines(server)) == 3)
        assert (await connection.run(["echo", "here"])).text == "here"
        assert lines(server)[3] is False
