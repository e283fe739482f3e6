"""Commands and streams over asyncssh's own server."""

import asyncio
from pathlib import Path

import pytest
from support.logins import connected, options_for
from support.processes import survivors
from support.ssh_server import SshServer
from support.waiting import eventually, settled

from specttui.errors import (
    ConnectionLostError,
    RemoteCommandError,
)
from specttui.host.connection import Connection


@pytest.fixture
async def connection(server: SshServer, tmp_path: Path, key: Path):
    async with connected(server, options_for(server, tmp_path, key)) as made:
        yield made


async def test_a_command_gives_its_bytes_and_status_and_no_shell_noise(connection: Connection):
    script = 'printf "\\377\\376 %s" "$1"; cat; printf err >&2; exit 9'
    result = await connection.run(["sh", "-c", script, "sh", "it's $(x)"], stdin=b"\x00in\xff")
    assert (result.stdout, result.stderr, result.exit_status) == (
        b"\xff\xfe it's $(x)\x00in\xff",
        b"err",
        9,
    )
    assert result.argv == ("sh", "-c", script, "sh", "it's $(x)")


async def test_variables_and_folder(connection: Connection, server: SshServer):
    folder = server.home / "a folder"
    folder.mkdir()
    result = await connection.run(
        ["sh", "-c", "pwd; printenv A"], cwd=str(folder), env={"A": "x\ny"}, check=True
    )
    assert result.text == f"{folder}\nx\ny"


async def test_large_input_and_output_come_through_whole(connection: Connection):
    data = bytes(range(256)) * 8192
    assert (await connection.run(["cat"], stdin=data)).stdout == data


async def test_a_command_that_does_not_read_its_input_is_no_failure(connection: Connection):
    assert (await connection.run(["true"], stdin=b"x" * 3_000_000)).ok


async def test_a_command_that_leaves_a_child_behind_does_not_hang(connection: Connection, tmp_path: Path):
    pid = tmp_path / "pid"
    result = await connection.run(["sh", "-c", f"sleep 600 & echo $! >{pid}; echo done"], timeout_s=60)
    assert result.text == "done"
    await connection.run(["kill", pid.read_text().strip()], check=True)


async def test_check_raises_with_what_the_command_said(connection: Connection):
    with pytest.raises(RemoteCommandError) as failed:
        await connection.run(["sh", "-c", "echo no such thing >&2; exit 4"], check=True)
    assert failed.value.title.endswith("failed with exit status 4")
    assert failed.value.cause == "no such thing"


async def test_a_folder_that_cannot_be_entered_is_said(connection: Connection):
    with pytest.raises(RemoteCommandError) as failed:
        await connection.run(["true"], cwd="/no/such/folder")
    assert "working folder" in failed.value.title
    assert "/no/such/folder" in failed.value.cause


async def test_a_command_that_takes_too_long_is_ended_on_the_host(connection: Connection, tmp_path: Path):
    pids = tmp_path / "pids"
    script = f"sleep 600 & echo $! >{pids}; echo $$ >>{pids}; sleep 600"
    with pytest.raises(RemoteCommandError) as failed:
        await connection.run(["sh", "-c", script], timeout_s=2)
    assert "took longer than 2 s" in failed.value.title
    assert await asyncio.to_thread(survivors, pids.read_text().split()) == []


async def test_a_cancelled_command_is_ended_on_the_host(connection: Connection, tmp_path: Path):
    pid = tmp_path / "pid"
    task = asyncio.create_task(connection.run(["sh", "-c", f"echo $$ >{pid}; exec sleep 600"], timeout_s=600))
    await eventually(lambda: pid.exists() and pid.read_text().endswith("\n"))
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await asyncio.to_thread(survivors, [pid.read_text().strip()]) == []


async def test_a_shell_that_is_killed_is_told_apart_from_a_lost_connection(connection: Connection):
    with pytest.raises(RemoteCommandError) as failed:
        await connection.run(["sh", "-c", "kill -9 $PPID; sleep 1"])
    assert failed.value.title.endswith("was killed")


async def test_a_stream_gives_chunks_as_they_come_and_ends_its_command(
    connection: Connection, tmp_path: Path
):
    pid = tmp_path / "pid"
    script = f"echo $$ >{pid}; printf 'one\\n'; printf 'two\\n' >&2; exec sleep 600"
    async with connection.stream(["sh", "-c", script]) as chunks:
        got = b""
        while not got.endswith(b"two\n"):
            got += await anext(chunks)
    assert got == b"one\ntwo\n"
    assert await asyncio.to_thread(survivors, [pid.read_text().strip()]) == []


async def test_a_stream_ends_with_its_command(connection: Connection):
    async with connection.stream(["printf", "no newline at the end"]) as chunks:
        assert b"".join([chunk async for chunk in chunks]) == b"no newline at the end"


async def test_a_read_of_a_stream_that_is_given_up_loses_nothing(connection: Connection):
    async with connection.stream(["sh", "-c", "sleep 1; echo late"]) as chunks:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(anext(chunks), 0.05)
        assert await anext(chunks) == b"late\n"


async def test_e05_bytes_that_are_no_text_do_not_close_the_connection(connection: Connection):
    async with connection.stream(["printf", "good\\n\\377\\376\\200bad\\n"]) as chunks:
        assert b"".join([chunk async for chunk in chunks]) == b"good\n\xff\xfe\x80bad\n"
    assert not connection.lost


async def test_a_stream_nobody_reads_is_held_back_not_kept_in_memory(connection: Connection, tmp_path: Path):
    written = tmp_path / "written"
    written.touch()
    script = f"i=0; while [ $i -lt 400 ]; do head -c 65536 /dev/zero; i=$((i+1)); echo $i >{written}; done"
    async with connection.stream(["sh", "-c", script]) as chunks:
        total = len(await anext(chunks))
        assert await settled(lambda: int("0" + written.read_text())) < 400
        async for chunk in chunks:
            total += len(chunk)
    assert total == 400 * 65536


async def test_d10_never_more_than_four_commands_at_a_time(connection: Connection, server: SshServer):
    results = await asyncio.gather(*(connection.run(["sh", "-c", f"sleep 0.1; echo {n}"]) for n in range(12)))
    assert [result.text for result in results] == [str(n) for n in range(12)]
    assert server.most_commands == 4


async def test_a_server_that_dies_in_the_middle_of_a_command(connection: Connection, server: SshServer):
    begun = server.home / "begun"
    running = asyncio.create_task(connection.run(["sh", "-c", "touch begun; sleep 600"], timeout_s=600))
    await eventually(begun.exists)
    server.drop()
    with pytest.raises(ConnectionLostError) as lost:
        await running
    assert "may or may not have run" in lost.value.cause
    with pytest.raises(ConnectionLostError) as down:
        await connection.run(["true"])
    assert down.value.title.startswith("There is no connection to")
    assert connection.lost


async def test_a_server_that_dies_in_the_middle_of_a_stream(connection: Connection, server: SshServer):
    async with connection.stream(["sh", "-c", "echo begun; exec sleep 600"]) as chunks:
        assert await anext(chunks) == b"begun\n"
        server.drop()
        with pytest.raises(ConnectionLostError):
            await anext(chunks)


async def test_a_connection_knows_where_it_leads(connection: Connection, server: SshServer):
    assert connection.name == f"engineer@127.0.0.1:{server.port}"
    assert (connection.user, connection.address, connection.port) == ("engineer", "127.0.0.1", server.port)
    assert connection.latency_ms is not None
    assert connection.latency_ms > 0
    assert connection.notices == ()
