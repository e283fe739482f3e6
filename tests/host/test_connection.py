"""A connection over asyncssh's own server: logging in, running, streaming, and what can go wrong."""

import asyncio
import contextlib
import socket
from pathlib import Path

import asyncssh
import pytest
from support.logins import options_for, target_of
from support.processes import survivors
from support.prompters import ScriptedPrompter
from support.ssh_server import SshServer
from support.sshd import make_key
from support.waiting import eventually, settled

from specttui.errors import (
    ConfigError,
    ConnectionFailedError,
    ConnectionLostError,
    HostKeyChangedError,
    HostKeyUnknownError,
    RemoteCommandError,
)
from specttui.host.connection import Connection, connect
from specttui.host.failures import LoginRefusedError
from specttui.host.host_keys import fingerprint
from specttui.host.login import LoginMemory
from specttui.host.target import ConnectOptions, Target

NOISE = b"\x1b[33mWelcome!\x1b[0m quota: 90 %\n"


@pytest.fixture
def key(tmp_path: Path) -> Path:
    return make_key(tmp_path / "id_ed25519")


@pytest.fixture
async def server(tmp_path: Path, key: Path):
    async with SshServer(tmp_path / "server", (key.with_suffix(".pub"),), start_up_text=NOISE) as running:
        yield running


@pytest.fixture
async def connection(server: SshServer, tmp_path: Path, key: Path):
    async with _connected(server, options_for(server, tmp_path, key)) as made:
        yield made


@contextlib.asynccontextmanager
async def _connected(server: SshServer, options: ConnectOptions, prompter: ScriptedPrompter | None = None):
    connection = await connect(target_of(server), prompter or ScriptedPrompter(), options)
    try:
        yield connection
    finally:
        await connection.close()


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


async def test_d01_an_unknown_key_is_asked_about_and_kept(server: SshServer, tmp_path: Path, key: Path):
    options = options_for(server, tmp_path, key)
    known_hosts = tmp_path / "known_hosts"
    known_hosts.write_text("# empty so far\n")
    prompter = ScriptedPrompter(accepts_host_keys=True)
    async with _connected(server, options, prompter) as connection:
        assert (await connection.run(["echo", "in"])).text == "in"
    question = prompter.host_key_questions[0]
    assert (question.host, question.port, question.key_type) == ("127.0.0.1", server.port, "ssh-ed25519")
    assert question.fingerprint == server.host_key.get_fingerprint()
    assert question.known_hosts_path == str(known_hosts)
    assert known_hosts.read_text().split() == ["#", "empty", "so", "far", *server.known_hosts_line().split()]
    async with _connected(server, options, prompter):
        assert len(prompter.host_key_questions) == 1


async def test_d01_an_unknown_key_that_is_refused(server: SshServer, tmp_path: Path, key: Path):
    options = options_for(server, tmp_path, key)
    (tmp_path / "known_hosts").write_text("")
    with pytest.raises(HostKeyUnknownError) as refused:
        await connect(target_of(server), ScriptedPrompter(), options)
    assert server.host_key.get_fingerprint() in refused.value.cause
    assert (tmp_path / "known_hosts").read_text() == ""
    assert server.logins == 0


async def test_d01_a_changed_key_is_refused_with_file_line_and_remedy(
    server: SshServer, tmp_path: Path, key: Path
):
    options = options_for(server, tmp_path, key)
    known_hosts = tmp_path / "known_hosts"
    old = asyncssh.generate_private_key("ssh-ed25519")
    known_hosts.write_text(f"# one\n[127.0.0.1]:{server.port} {old.export_public_key().decode()}")
    prompter = ScriptedPrompter(accepts_host_keys=True)
    with pytest.raises(HostKeyChangedError) as refused:
        await connect(target_of(server), prompter, options)
    assert prompter.host_key_questions == []
    assert f"{known_hosts}, line 2" in refused.value.cause
    assert fingerprint(old.public_data) in refused.value.cause
    assert server.host_key.get_fingerprint() in refused.value.cause
    assert f"ssh-keygen -R '[127.0.0.1]:{server.port}' -f '{known_hosts}'" in refused.value.remedy
    assert server.logins == 0


async def test_a_key_of_another_kind_than_the_one_on_record_is_a_changed_key(
    server: SshServer, tmp_path: Path, key: Path
):
    options = options_for(server, tmp_path, key)
    old = asyncssh.generate_private_key("ecdsa-sha2-nistp256")
    (tmp_path / "known_hosts").write_text(f"[127.0.0.1]:{server.port} {old.export_public_key().decode()}")
    with pytest.raises(HostKeyChangedError):
        await connect(target_of(server), ScriptedPrompter(accepts_host_keys=True), options)


async def test_a_revoked_key_is_refused(server: SshServer, tmp_path: Path, key: Path):
    options = options_for(server, tmp_path, key)
    with (tmp_path / "known_hosts").open("a") as file:
        file.write(f"@revoked * {server.host_key.export_public_key().decode()}")
    with pytest.raises(HostKeyChangedError) as refused:
        await connect(target_of(server), ScriptedPrompter(accepts_host_keys=True), options)
    assert refused.value.cause == "known_hosts marks the key it shows as @revoked."


async def test_d02_a_key_that_cannot_be_written_down_holds_while_we_run(
    server: SshServer, tmp_path: Path, key: Path
):
    options = options_for(server, tmp_path, key, known_hosts_paths=(Path("/dev/null"),))
    prompter = ScriptedPrompter(accepts_host_keys=True)
    memory = LoginMemory()
    for _ in range(2):
        connection = await connect(target_of(server), prompter, options, memory)
        await connection.close()
    assert len(prompter.host_key_questions) == 1


async def test_a_wrong_key_is_refused_and_says_what_was_tried(server: SshServer, tmp_path: Path):
    wrong = make_key(tmp_path / "wrong")
    with pytest.raises(LoginRefusedError) as refused:
        await connect(target_of(server), ScriptedPrompter(), options_for(server, tmp_path, wrong))
    assert refused.value.title == "127.0.0.1 did not let engineer in"
    assert f"Tried: key {wrong}." in refused.value.cause
    assert "The host takes: publickey." in refused.value.cause
    assert "No SSH agent was used" in refused.value.cause


async def test_a_key_file_that_is_missing_is_said(server: SshServer, tmp_path: Path):
    options = options_for(server, tmp_path, tmp_path / "nothing")
    with pytest.raises(LoginRefusedError) as refused:
        await connect(target_of(server), ScriptedPrompter(), options)
    assert f"{tmp_path / 'nothing'} does not exist." in refused.value.cause
    assert "Tried: no key or password." in refused.value.cause


async def test_a_password_is_asked_for_and_asked_again(tmp_path: Path):
    async with SshServer(tmp_path / "server", password="right") as server:
        prompter = ScriptedPrompter(answers=["wrong", "right"])
        memory = LoginMemory()
        options = options_for(server, tmp_path)
        first = await connect(target_of(server), prompter, options, memory)
        await first.close()
        assert [(question.prompt, question.echo) for question in prompter.questions] == [
            ("Password for engineer@127.0.0.1", False),
            ("Permission denied. Password for engineer@127.0.0.1", False),
        ]
        again = await connect(target_of(server), prompter, options, memory)
        await again.close()
        assert len(prompter.questions) == 2


async def test_three_wrong_passwords_are_enough(tmp_path: Path):
    async with SshServer(tmp_path / "server", password="right") as server:
        prompter = ScriptedPrompter(answers=["a", "b", "c", "right"])
        memory = LoginMemory()
        with pytest.raises(LoginRefusedError) as refused:
            await connect(target_of(server), prompter, options_for(server, tmp_path), memory)
        assert len(prompter.questions) == 3
        assert "Tried: password." in refused.value.cause
        assert memory.passwords == {}


async def test_a_cancelled_password_ends_the_login(tmp_path: Path):
    async with SshServer(tmp_path / "server", password="right") as server:
        prompter = ScriptedPrompter(answers=[None])
        with pytest.raises(LoginRefusedError):
            await connect(target_of(server), prompter, options_for(server, tmp_path))
        assert len(prompter.questions) == 1


async def test_d03_several_rounds_of_questions(tmp_path: Path):
    rounds = ((("Password: ", False, "pw"),), (("Code: ", True, "123"), ("Pin: ", False, "9")))
    async with SshServer(tmp_path / "server", challenges=rounds) as server:
        prompter = ScriptedPrompter(answers=["pw", "123", "9"])
        async with _connected(server, options_for(server, tmp_path), prompter) as connection:
            assert (await connection.run(["echo", "in"])).text == "in"
    assert [(question.title, question.prompt, question.echo) for question in prompter.questions] == [
        ("Round 1", "Second factor\nPassword:", False),
        ("Round 2", "Second factor\nCode:", True),
        ("Round 2", "Second factor\nPin:", False),
    ]


async def test_d03_a_question_may_take_longer_than_the_network(tmp_path: Path):
    class Slow(ScriptedPrompter):
        async def ask_secret(self, question):
            await asyncio.sleep(4)
            return await super().ask_secret(question)

    async with SshServer(tmp_path / "server", password="right") as server:
        options = options_for(server, tmp_path, connect_timeout_s=3.0)
        async with _connected(server, options, Slow(answers=["right"])) as connection:
            assert not connection.lost


async def test_d16_a_passphrase_is_asked_for_and_asked_again(tmp_path: Path):
    locked = make_key(tmp_path / "locked", passphrase="open")
    async with SshServer(tmp_path / "server", (locked.with_suffix(".pub"),)) as server:
        prompter = ScriptedPrompter(answers=["wrong", "open"])
        async with _connected(server, options_for(server, tmp_path, locked), prompter):
            assert [question.prompt for question in prompter.questions] == [
                f"Passphrase for {locked}",
                f"Not the right passphrase. Passphrase for {locked}",
            ]


async def test_d16_no_passphrase_is_asked_for_a_key_the_host_would_not_take(
    server: SshServer, tmp_path: Path, key: Path
):
    locked = make_key(tmp_path / "locked", passphrase="open")
    prompter = ScriptedPrompter()
    async with _connected(server, options_for(server, tmp_path, locked, key), prompter):
        assert prompter.questions == []


async def test_a_key_that_does_not_say_what_it_is_is_opened_last(
    server: SshServer, tmp_path: Path, key: Path
):
    pem = tmp_path / "pem"
    pem.write_bytes(asyncssh.read_private_key(key).export_private_key("pkcs8-pem", "open"))
    prompter = ScriptedPrompter(answers=["open"])
    async with _connected(server, options_for(server, tmp_path, pem), prompter):
        assert [question.prompt for question in prompter.questions] == [f"Passphrase for {pem}"]


async def test_d15_an_account_that_runs_no_commands(tmp_path: Path, key: Path):
    async with SshServer(tmp_path / "server", (key.with_suffix(".pub"),), exec_allowed=False) as server:
        with pytest.raises(ConnectionFailedError) as refused:
            await connect(target_of(server), ScriptedPrompter(), options_for(server, tmp_path, key))
    assert refused.value.title.startswith("This account cannot run commands on engineer@127.0.0.1")
    assert refused.value.cause == "It answered nothing."


async def test_d15_a_shell_that_says_no_is_quoted(tmp_path: Path, key: Path):
    nologin = tmp_path / "nologin"
    nologin.write_text("#!/bin/sh\necho This account is currently not available.\nexit 1\n")
    nologin.chmod(0o755)
    async with SshServer(tmp_path / "s", (key.with_suffix(".pub"),), shell=str(nologin)) as server:
        with pytest.raises(ConnectionFailedError) as refused:
            await connect(target_of(server), ScriptedPrompter(), options_for(server, tmp_path, key))
    assert refused.value.cause == "It answered: This account is currently not available."


async def test_a_refused_port():
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    with pytest.raises(ConnectionFailedError) as refused:
        await connect(
            Target("127.0.0.1", "me", port), ScriptedPrompter(), ConnectOptions(use_ssh_config=False)
        )
    assert refused.value.title == f"127.0.0.1 refuses connections on port {port}"


async def test_a_host_that_takes_the_connection_and_says_nothing():
    with socket.create_server(("127.0.0.1", 0)) as silent:
        options = ConnectOptions(use_ssh_config=False, connect_timeout_s=1.0)
        target = Target("127.0.0.1", "me", silent.getsockname()[1])
        with pytest.raises(ConnectionFailedError) as refused:
            await connect(target, ScriptedPrompter(), options)
    assert refused.value.title == "127.0.0.1 did not answer within 1 s"


async def test_a_port_where_something_else_listens():
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n" * 100)
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as other:
        target = Target("127.0.0.1", "me", other.sockets[0].getsockname()[1])
        with pytest.raises(ConnectionFailedError) as refused:
            await connect(target, ScriptedPrompter(), ConnectOptions(use_ssh_config=False))
    assert refused.value.remedy.startswith("Check the port")


async def test_a_name_nobody_knows():
    target = Target("no-such-host.invalid", "me", 22)
    with pytest.raises(ConnectionFailedError) as refused:
        await connect(target, ScriptedPrompter(), ConnectOptions(use_ssh_config=False))
    assert refused.value.title == "The host name 'no-such-host.invalid' is not known"


async def test_d09_a_proxy_command_carries_the_connection(
    server: SshServer, tmp_path: Path, key: Path, home_of_its_own: Path
):
    relay = _relay(home_of_its_own)
    config = _config(tmp_path, f"ProxyCommand python3 '{relay}' %h %p 'quoted \"word\"'")
    options = options_for(server, tmp_path, key, use_ssh_config=True, ssh_config_paths=(config,))
    async with _connected(server, options) as connection:
        assert (await connection.run(["echo", "through"])).text == "through"


async def test_d09_what_a_proxy_command_says_is_shown(server: SshServer, tmp_path: Path, key: Path):
    config = _config(tmp_path, "ProxyCommand sh -c 'echo token expired for %h >&2; exit 1'")
    options = options_for(server, tmp_path, key, use_ssh_config=True, ssh_config_paths=(config,))
    with pytest.raises(ConnectionFailedError) as refused:
        await connect(target_of(server), ScriptedPrompter(), options)
    assert "The ProxyCommand said: token expired for 127.0.0.1" in refused.value.cause


@pytest.mark.parametrize(
    ("jump", "cause"),
    [
        ("%r@bastion", "tokens such as %r are not expanded in ProxyJump"),
        ("bastion:x", "The port 'x' is not a number from 1 to 65535."),
        ("engineer@127.0.0.1:{port}", "engineer@127.0.0.1:{port} is reached through itself"),
    ],
)
async def test_d05_a_jump_that_cannot_be_followed(
    server: SshServer, tmp_path: Path, key: Path, jump: str, cause: str
):
    config = _config(tmp_path, f"ProxyJump {jump.format(port=server.port)}")
    options = options_for(server, tmp_path, key, use_ssh_config=True, ssh_config_paths=(config,))
    with pytest.raises(ConfigError) as refused:
        await connect(target_of(server), ScriptedPrompter(), options)
    assert refused.value.cause == f"{config}, line 2: {cause.format(port=server.port)}"


async def test_a_connection_knows_where_it_leads(connection: Connection, server: SshServer):
    assert connection.name == f"engineer@127.0.0.1:{server.port}"
    assert (connection.user, connection.address, connection.port) == ("engineer", "127.0.0.1", server.port)
    assert connection.latency_ms is not None
    assert connection.latency_ms > 0
    assert connection.notices == ()


def _config(folder: Path, line: str) -> Path:
    path = folder / "ssh_config"
    path.write_text(f"Host *\n  {line}\n")
    return path


def _relay(folder: Path) -> Path:
    """What `nc host port` does, talkative on its error output."""
    path = folder / "relay.py"
    path.write_text(
        "import os, socket, sys, threading\n"
        "assert sys.argv[3] == 'quoted \"word\"'\n"
        "end = socket.create_connection((sys.argv[1], int(sys.argv[2])))\n"
        "def pump(read, write):\n"
        "    while data := read(65536):\n"
        "        write(data)\n"
        "        print('passed on', len(data), file=sys.stderr)\n"
        "    os._exit(0)\n"
        "threading.Thread(target=pump, args=(lambda n: os.read(0, n), end.sendall)).start()\n"
        "pump(end.recv, lambda data: os.write(1, data))\n"
    )
    return path
