"""Through `docker exec -i NAME` or the like: every command and file operation happens inside."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.fake_docker import FakeDocker, install
from support.fake_sglang import start_fake
from support.local_remote import LocalRemote
from support.logins import connected, options_for
from support.processes import survivors
from support.ssh_server import SshServer
from support.sshd import make_key
from support.tail_collector import following

from specttui.errors import RemoteCommandError
from specttui.events import LogKind, LogSource
from specttui.host.discovery import discover
from specttui.host.files import GuardedFile
from specttui.host.remote import Remote
from specttui.host.start import start
from specttui.host.stop import StopLimits, stop
from specttui.host.tail import WholeFile
from specttui.host.transport import Via, reached

NAME = "the server's container"
ORIGINAL = b"class EAGLEWorker:\n    pass\n"
PATCHED = ORIGINAL + b"# >>> specttui\n"


@pytest.fixture
def docker(tmp_path: Path) -> FakeDocker:
    return install(tmp_path / "docker", NAME)


@asynccontextmanager
async def over(kind: str, tmp_path: Path) -> AsyncIterator[Remote]:
    """A remote to go through: this machine, or an SSH server on it."""
    outside = tmp_path / "outside"
    outside.mkdir()
    if kind == "local":
        yield LocalRemote(outside, name="gpu-host")
        return
    key = make_key(tmp_path / "id_ed25519")
    async with (
        SshServer(outside, authorized_keys=(key.with_suffix(".pub"),)) as server,
        connected(server, options_for(server, tmp_path, key)) as connection,
    ):
        yield connection


both = pytest.mark.parametrize("kind", ["local", "ssh"])


@both
async def test_a_command_runs_inside_with_its_input_folder_variables_and_status(
    kind: str, tmp_path: Path, docker: FakeDocker
) -> None:
    folder = docker.root(NAME) / "it's a $(folder)"
    folder.mkdir()
    script = 'printf "%s|" "$PWD" "$CONTAINER" "$MEANT" "$1"; cat; echo oops >&2; exit 7'
    async with over(kind, tmp_path) as outer:
        inside = Via(outer, docker.via(NAME))
        result = await inside.run(
            ["sh", "-c", script, "sh", "new\nline"],
            stdin=b"in\0put\xff",
            env={"MEANT": "$HOME"},
            cwd=str(folder),
        )
    assert (result.exit_status, result.stderr) == (7, b"oops\n")
    assert result.stdout == f"{folder}|{NAME}|$HOME|new\nline|".encode() + b"in\0put\xff"
    assert result.argv == ("sh", "-c", script, "sh", "new\nline")
    assert [call[:3] for call in docker.calls()] == [["exec", "-i", NAME]]


hostile = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=40)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(
        hostile | st.sampled_from(["$(id)", "`id`", "'", '"', "\\", "\x1b]0;x\x07", "-n", ""]), max_size=4
    )
)
async def test_any_words_arrive_inside_as_they_were_meant(tmp_path: Path, words: list[str]) -> None:
    docker = (
        install(tmp_path / "docker", "c")
        if not (tmp_path / "docker").exists()
        else FakeDocker(tmp_path / "docker")
    )
    inside = Via(LocalRemote(tmp_path), docker.via("c"))
    result = await inside.run(["printf", "%s\\0", "first", *words])
    assert result.stdout == b"".join(word.encode() + b"\0" for word in ["first", *words])


@both
async def test_a_stream_is_ended_inside_though_the_runtime_would_let_it_run_on(
    kind: str, tmp_path: Path, docker: FakeDocker
) -> None:
    pids = docker.root(NAME) / "pids"
    script = f"sleep 1000 & echo $! >'{pids.name}'; echo $$ >>'{pids.name}'; echo \"$CONTAINER\"; wait"
    async with (
        over(kind, tmp_path) as outer,
        Via(outer, docker.via(NAME)).stream(["sh", "-c", script]) as chunks,
    ):
        assert await anext(chunks) == f"{NAME}\n".encode()
    assert await asyncio.to_thread(survivors, pids.read_text().split()) == []


@both
async def test_a_stream_ends_with_its_command(kind: str, tmp_path: Path, docker: FakeDocker) -> None:
    async with over(kind, tmp_path) as outer:
        inside = Via(outer, docker.via(NAME))
        async with inside.stream(["sh", "-c", "echo a; echo b >&2; exit 5"], env={"X": "y"}) as chunks:
            assert b"".join([chunk async for chunk in chunks]) == b"a\nb\n"


async def test_check_raises_for_a_command_that_fails_inside(tmp_path: Path, docker: FakeDocker) -> None:
    inside = Via(LocalRemote(tmp_path, name="gpu-host"), docker.via(NAME))
    with pytest.raises(RemoteCommandError) as failed:
        await inside.run(["sh", "-c", "echo no >&2; exit 3"], check=True)
    assert failed.value.title.endswith("failed with exit status 3")
    assert "gpu-host (" in failed.value.title
    assert failed.value.cause == "no"


async def test_a_folder_that_is_not_there_inside(tmp_path: Path, docker: FakeDocker) -> None:
    with pytest.raises(RemoteCommandError, match="cannot be entered"):
        await Via(LocalRemote(tmp_path), docker.via(NAME)).run(["true"], cwd="/no/where")


async def test_a_container_that_is_not_there_is_said(tmp_path: Path, docker: FakeDocker) -> None:
    inside = Via(LocalRemote(tmp_path, name="gpu-host"), docker.via("gone"))
    with pytest.raises(RemoteCommandError) as failed:
        await inside.run(["true"])
    assert failed.value.title == f"{docker.program} exec -i gone on gpu-host did not run a command"
    assert failed.value.cause == "It answered: Error response from daemon: No such container: gone"
    async with inside.stream(["true"]) as chunks:
        with pytest.raises(RemoteCommandError, match="did not run a command"):
            await anext(chunks)


async def test_a_program_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(RemoteCommandError) as failed:
        await Via(LocalRemote(tmp_path), ("/no/docker", "exec")).run(["true"])
    assert "No such file" in failed.value.cause


async def test_a_command_that_is_killed_inside_is_no_result(tmp_path: Path, docker: FakeDocker) -> None:
    with pytest.raises(RemoteCommandError, match="was killed"):
        await Via(LocalRemote(tmp_path), docker.via(NAME)).run(["sh", "-c", "kill -9 $PPID"])


def test_without_a_program_the_remote_is_reached_itself(tmp_path: Path) -> None:
    remote = LocalRemote(tmp_path)
    assert reached(remote, ()) is remote
    assert isinstance(reached(remote, ("docker",)), Via)


@both
async def test_a_guarded_file_is_patched_and_restored_inside(
    kind: str, tmp_path: Path, docker: FakeDocker
) -> None:
    path = docker.root(NAME) / "worker.py"
    path.write_bytes(ORIGINAL)
    async with over(kind, tmp_path) as outer:
        guarded = GuardedFile(Via(outer, docker.via(NAME)), str(path), "s1", tmp_path / "local")
        contents = await guarded.read()
        await guarded.back_up(contents)
        await guarded.replace(PATCHED, contents.sha256)
        assert path.read_bytes() == PATCHED
        assert list((docker.root(NAME) / ".cache" / "specttui" / "files").iterdir()) != []
        await guarded.restore()
    assert path.read_bytes() == ORIGINAL
    assert not list((tmp_path / "outside").rglob(".cache"))
    assert len(docker.calls()) == 6


@both
async def test_a_log_is_followed_inside(kind: str, tmp_path: Path, docker: FakeDocker) -> None:
    log = docker.root(NAME) / "sglang.log"
    log.write_bytes(b"one\n")
    source = LogSource(kind=LogKind.FILE, path=str(log))
    async with over(kind, tmp_path) as outer:
        inside = Via(outer, docker.via(NAME))
        async with following(inside, source, WholeFile()) as followed:
            await followed.until_data(b"one\n")
            with log.open("ab") as file:
                file.write(b"two \xff\n")
            await followed.until_data(b"two \xff\n")
    assert followed.notices == []


@both
async def test_a_server_is_found_stopped_and_started_inside(
    kind: str, tmp_path: Path, docker: FakeDocker
) -> None:
    server = start_fake(docker.root(NAME))
    try:
        async with over(kind, tmp_path) as outer:
            inside = Via(outer, docker.via(NAME))
            found = (await discover(inside, port=server.port)).servers[0]
            assert (found.pid, found.serving) == (server.pid, True)
            await stop(inside, found, lambda _: None, limits=StopLimits(memory_s=1.0))
            assert await asyncio.to_thread(survivors, [server.pid]) == []
            started = await start(inside, found.launch, "s1", lambda _: None, port=server.port)
            assert started.script_path.startswith(str(docker.root(NAME) / ".cache" / "specttui"))
            await stop(inside, started, lambda _: None, limits=StopLimits(memory_s=1.0))
        assert await asyncio.to_thread(survivors, [started.pid]) == []
    finally:
        server.kill()
    assert not list((tmp_path / "outside").rglob(".cache"))
