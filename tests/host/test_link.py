"""A link over outages: it comes back by itself, and never runs a command twice."""

import asyncio
import contextlib
from dataclasses import dataclass, field
from pathlib import Path

import asyncssh
import pytest
from support.logins import options_for, target_of
from support.prompters import ScriptedPrompter
from support.ssh_server import SshServer
from support.sshd import make_key
from support.waiting import eventually

from specttui.errors import (
    ConnectionFailedError,
    ConnectionLostError,
    HostKeyChangedError,
    RemoteCommandError,
    SpecttuiError,
)
from specttui.host.failures import LoginRefusedError
from specttui.host.link import Backoff, Link

QUICK = Backoff(first_s=0.1, factor=1.5, longest_s=0.5)


@dataclass
class Told:
    """What the link told, in order."""

    what: list[str] = field(default_factory=list)
    failures: list[SpecttuiError] = field(default_factory=list)

    async def up(self) -> None:
        self.what.append("up")

    def down(self, cause: str) -> None:
        self.what.append("down" if cause else "down without a cause")

    def retry(self, attempt: int, delay_s: float, cause: str) -> None:
        assert delay_s > 0
        assert cause
        self.what.append(f"retry {attempt}")

    def failed(self, error: SpecttuiError) -> None:
        self.failures.append(error)
        self.what.append("failed")


@pytest.fixture
def key(tmp_path: Path) -> Path:
    return make_key(tmp_path / "id_ed25519")


@pytest.fixture
async def server(tmp_path: Path, key: Path):
    async with SshServer(tmp_path / "server", (key.with_suffix(".pub"),)) as running:
        yield running


@contextlib.asynccontextmanager
async def _linked(server: SshServer, options, told: Told | None = None, prompter=None, backoff=QUICK):
    told = told or Told()
    link = Link(
        target_of(server),
        prompter or ScriptedPrompter(),
        options,
        backoff=backoff,
        on_up=told.up,
        on_down=told.down,
        on_retry=told.retry,
        on_failed=told.failed,
    )
    await link.start()
    try:
        yield link
    finally:
        await link.close()


async def test_it_comes_back_after_a_drop_and_goes_on(server: SshServer, tmp_path: Path, key: Path):
    told = Told()
    async with _linked(server, options_for(server, tmp_path, key), told) as link:
        assert (await link.run(["echo", "one"])).text == "one"
        server.drop()
        await eventually(lambda: not link.up)
        assert (await link.run(["echo", "two"], timeout_s=60)).text == "two"
        assert link.up
    assert told.what == ["up", "down", "retry 1", "up"]
    assert server.logins == 2


async def test_a_command_asked_for_during_an_outage_waits_for_the_connection(
    server: SshServer, tmp_path: Path, key: Path
):
    async with _linked(server, options_for(server, tmp_path, key)) as link:
        await server.stop()
        await eventually(lambda: not link.up)
        waiting = asyncio.create_task(link.run(["echo", "at last"], timeout_s=60))
        await asyncio.sleep(0.5)
        assert not waiting.done()
        await server.listen()
        assert (await waiting).text == "at last"


async def test_a_command_asked_for_in_an_outage_that_lasts_is_given_up(
    server: SshServer, tmp_path: Path, key: Path
):
    async with _linked(server, options_for(server, tmp_path, key)) as link:
        await server.stop()
        await eventually(lambda: not link.up)
        with pytest.raises(ConnectionLostError) as lost:
            await link.run(["true"], timeout_s=1)
        assert lost.value.cause == "None came up within 1 s. The command was not started."


async def test_a_command_under_way_is_never_run_again(server: SshServer, tmp_path: Path, key: Path):
    count = tmp_path / "count"
    async with _linked(server, options_for(server, tmp_path, key)) as link:
        running = asyncio.create_task(link.run(["sh", "-c", f"echo run >>{count}; sleep 600"], timeout_s=600))
        await eventually(count.exists)
        server.drop()
        with pytest.raises(ConnectionLostError):
            await running
        assert (await link.run(["cat", str(count)], timeout_s=60)).text == "run"


async def test_a_stream_breaks_and_the_next_one_works(server: SshServer, tmp_path: Path, key: Path):
    async with _linked(server, options_for(server, tmp_path, key)) as link:
        async with link.stream(["sh", "-c", "echo a; exec sleep 600"]) as chunks:
            assert await anext(chunks) == b"a\n"
            server.drop()
            with pytest.raises(ConnectionLostError):
                await anext(chunks)
        async with link.stream(["echo", "b"]) as chunks:
            assert await anext(chunks) == b"b\n"


async def test_errors_of_commands_are_not_outages(server: SshServer, tmp_path: Path, key: Path):
    told = Told()
    async with _linked(server, options_for(server, tmp_path, key), told) as link:
        with pytest.raises(RemoteCommandError):
            await link.run(["false"], check=True)
        assert (await link.run(["false"])).exit_status == 1
    assert told.what == ["up"]


async def test_the_first_connection_failing_is_the_callers_to_know(
    server: SshServer, tmp_path: Path, key: Path
):
    options = options_for(server, tmp_path, key)
    await server.stop()
    link = Link(target_of(server), ScriptedPrompter(), options)
    with pytest.raises(ConnectionFailedError):
        await link.start()
    await link.close()


async def test_d11_one_login_at_a_time_with_growing_waits(server: SshServer, tmp_path: Path, key: Path):
    told = Told()
    async with _linked(server, options_for(server, tmp_path, key), told) as link:
        await server.stop()
        await eventually(lambda: "retry 4" in told.what)
        await server.listen()
        await asyncio.gather(*(link.run(["true"], timeout_s=60) for _ in range(8)))
    assert told.what[:6] == ["up", "down", "retry 1", "retry 2", "retry 3", "retry 4"]
    assert told.what[-1] == "up"
    assert server.logins == 2


async def test_a_key_that_changed_meanwhile_ends_the_attempts(server: SshServer, tmp_path: Path, key: Path):
    told = Told()
    async with _linked(server, options_for(server, tmp_path, key), told) as link:
        await server.stop()
        right, server.host_key = server.host_key, asyncssh.generate_private_key("ssh-ed25519")
        await server.listen()
        await eventually(lambda: told.failures != [])
        with pytest.raises(HostKeyChangedError):
            await link.run(["true"], timeout_s=60)
        retries = told.what.count("retry 1")
        await asyncio.sleep(1)
        assert told.what.count("retry 1") == retries
        await server.stop()
        server.host_key = right
        await server.listen()
        link.retry_now()
        await eventually(lambda: link.up)
        assert (await link.run(["echo", "back"])).text == "back"


async def test_three_refused_logins_end_the_attempts(server: SshServer, tmp_path: Path, key: Path):
    told = Told()
    other = make_key(tmp_path / "other")
    async with _linked(server, options_for(server, tmp_path, key), told) as link:
        await server.stop()
        server.authorized_keys = (other.with_suffix(".pub"),)
        await server.listen()
        await eventually(lambda: told.failures != [])
        with pytest.raises(LoginRefusedError):
            await link.run(["true"], timeout_s=60)
    assert told.what[-1] == "failed"
    assert sum(what.startswith("retry") for what in told.what) >= 3


async def test_a_reconnect_asks_nothing_again(tmp_path: Path):
    async with SshServer(tmp_path / "server", password="right") as server:
        prompter = ScriptedPrompter(answers=["right"])
        async with _linked(server, options_for(server, tmp_path), prompter=prompter) as link:
            server.drop()
            assert (await link.run(["echo", "back"], timeout_s=60)).text == "back"
        assert len(prompter.questions) == 1


async def test_a_hurry_cuts_the_wait_short(server: SshServer, tmp_path: Path, key: Path):
    slow = Backoff(first_s=600.0, longest_s=600.0)
    told = Told()
    async with _linked(server, options_for(server, tmp_path, key), told, backoff=slow) as link:
        server.drop()
        await eventually(lambda: "retry 1" in told.what)
        link.retry_now()
        await eventually(lambda: link.up)


async def test_closing_ends_what_waits(server: SshServer, tmp_path: Path, key: Path):
    async with _linked(server, options_for(server, tmp_path, key)) as link:
        await server.stop()
        await eventually(lambda: not link.up)
        waiting = asyncio.create_task(link.run(["true"], timeout_s=600))
        await asyncio.sleep(0.1)
        await link.close()
        with pytest.raises(ConnectionLostError) as closed:
            await waiting
        assert closed.value.title.endswith("was closed")


@pytest.mark.parametrize(("attempt", "longest_s"), [(1, 1.0), (2, 2.0), (5, 16.0), (6, 30.0), (10_000, 30.0)])
def test_waits_double_up_to_a_limit_with_some_chance(attempt: int, longest_s: float):
    delays_s = [Backoff().delay_s(attempt) for _ in range(200)]
    assert all(longest_s / 2 <= delay_s <= longest_s for delay_s in delays_s)
    assert len(set(delays_s)) > 100
