"""What opening a channel may be met with: the moments are too short to hit with a real server."""

import asyncio
from types import SimpleNamespace

import asyncssh
import pytest

from specttui.errors import ConnectionLostError, RemoteCommandError
from specttui.host.channels import Channels, NotStartedError

PROHIBITED = asyncssh.ChannelOpenError(asyncssh.OPEN_ADMINISTRATIVELY_PROHIBITED, "open failed")
CLOSED = asyncssh.ChannelOpenError(asyncssh.OPEN_CONNECT_FAILED, "SSH connection closed")
SEND_FAILED = asyncssh.ChannelOpenError(0xFFFFFFFF, "Session request failed")


class Ssh:
    """A connection whose every channel is refused in the same way."""

    def __init__(self, error: Exception, login: SimpleNamespace, *, loses: bool) -> None:
        self._error = error
        self._login = login
        self._loses = loses
        self.tries = 0

    async def create_process(self, line: str, **options: object) -> None:
        self.tries += 1
        if self._loses:
            self._login.lost.set()
        raise self._error


async def _refusal(error: Exception, *, loses: bool = False) -> tuple[Exception, int]:
    """What a command raises, and after how many tries."""
    login = SimpleNamespace(lost=asyncio.Event(), lost_cause="It was cut.")
    ssh = Ssh(error, login, loses=loses)
    with pytest.raises((ConnectionLostError, RemoteCommandError)) as refused:
        async with Channels(ssh, login, "gpu", 4).command("line"):
            pass
    return refused.value, ssh.tries


async def test_a_connection_that_breaks_before_the_channel_is_open_has_run_nothing():
    error, tries = await _refusal(CLOSED, loses=True)
    assert isinstance(error, NotStartedError)
    assert (error.cause, tries) == ("It was cut. The command was not started.", 1)


@pytest.mark.parametrize(
    "broken", [ConnectionResetError(104, "reset"), asyncssh.ConnectionLost("lost"), SEND_FAILED]
)
async def test_a_connection_that_breaks_while_the_command_is_sent_may_have_run_it(broken: Exception):
    error, tries = await _refusal(broken, loses=True)
    assert isinstance(error, ConnectionLostError)
    assert not isinstance(error, NotStartedError)
    assert (error.cause, tries) == ("It was cut. The command may or may not have run.", 1)


async def test_a_server_that_refuses_the_command_itself():
    error, tries = await _refusal(SEND_FAILED)
    assert isinstance(error, RemoteCommandError)
    assert (error.title, tries) == ("gpu does not run commands for this account", 1)


async def test_a_server_that_refuses_every_channel_is_given_up_after_some_patience():
    error, tries = await _refusal(PROHIBITED)
    assert isinstance(error, RemoteCommandError)
    assert (error.title, error.cause, tries) == ("gpu refuses to open a session", "open failed", 9)
