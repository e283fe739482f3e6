"""Logging in to a real OpenSSH server, in the ways that people have set theirs up."""

from __future__ import annotations

import asyncio
import os
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from support.logins import options_for, target_of
from support.processes import survivors
from support.prompters import ScriptedPrompter
from support.sshd import Sshd, make_key
from support.waiting import eventually

from specttui.errors import (
    ConnectionFailedError,
    ConnectionLostError,
    HostKeyChangedError,
    HostKeyUnknownError,
)
from specttui.host.connection import connect
from specttui.host.failures import LoginRefusedError
from specttui.host.link import Backoff, Link
from specttui.host.target import ConnectOptions, Target

pytestmark = pytest.mark.openssh


@pytest.fixture
def key(tmp_path: Path) -> Path:
    return make_key(tmp_path / "id_ed25519")


@pytest.fixture
def server(tmp_path: Path, key: Path) -> Iterator[Sshd]:
    with Sshd(tmp_path / "sshd", key.with_suffix(".pub")) as running:
        yield running


def _keygen(*arguments: object) -> str:
    command = ["ssh-keygen", "-q", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


async def _refusal(server: Sshd, options: ConnectOptions) -> ConnectionFailedError:
    """The error of a login that must fail."""
    with pytest.raises(ConnectionFailedError) as refused:
        await _echo(server, options)
    return refused.value


async def _echo(server: Sshd, options: ConnectOptions, prompter: ScriptedPrompter | None = None) -> str:
    connection = await connect(target_of(server, server.user), prompter or ScriptedPrompter(), options)
    try:
        return (await connection.run(["echo", "in"], check=True)).text
    finally:
        await connection.close()


async def test_an_unknown_host_key_is_asked_about_once(server: Sshd, tmp_path: Path, key: Path):
    options = options_for(server, tmp_path, key)
    (tmp_path / "known_hosts").unlink()
    prompter = ScriptedPrompter(accepts_host_keys=True)
    assert await _echo(server, options, prompter) == "in"
    assert await _echo(server, options, prompter) == "in"
    shown = _keygen("-l", "-f", f"{server.host_key}.pub").split()[1]
    assert [question.fingerprint for question in prompter.host_key_questions] == [shown]
    assert (tmp_path / "known_hosts").read_text() == server.known_hosts_line()


async def test_openssh_itself_takes_the_line_that_was_added(server: Sshd, tmp_path: Path, key: Path):
    options = options_for(server, tmp_path, key)
    (tmp_path / "known_hosts").unlink()
    await _echo(server, options, ScriptedPrompter(accepts_host_keys=True))
    found = _keygen("-F", f"[127.0.0.1]:{server.port}", "-f", tmp_path / "known_hosts")
    assert found == server.known_hosts_line()


async def test_an_unknown_host_key_that_is_refused(server: Sshd, tmp_path: Path, key: Path):
    options = options_for(server, tmp_path, key)
    (tmp_path / "known_hosts").unlink()
    with pytest.raises(HostKeyUnknownError):
        await _echo(server, options)
    assert not (tmp_path / "known_hosts").exists()


async def test_a_changed_host_key_is_refused(server: Sshd, tmp_path: Path, key: Path):
    options = options_for(server, tmp_path, key)
    other = make_key(tmp_path / "other").with_suffix(".pub").read_text()
    (tmp_path / "known_hosts").write_text(f"[127.0.0.1]:{server.port} {other}")
    with pytest.raises(HostKeyChangedError) as refused:
        await _echo(server, options, ScriptedPrompter(accepts_host_keys=True))
    assert f"{tmp_path / 'known_hosts'}, line 1" in refused.value.cause


async def test_the_host_shows_the_key_that_is_on_record(tmp_path: Path, key: Path):
    rsa = make_key(tmp_path / "host_rsa", kind="rsa")
    with Sshd(tmp_path / "sshd", key.with_suffix(".pub"), settings=(f"HostKey {rsa}",)) as server:
        options = options_for(server, tmp_path, key)
        line = f"[127.0.0.1]:{server.port} {rsa.with_suffix('.pub').read_text()}"
        (tmp_path / "known_hosts").write_text(line)
        assert await _echo(server, options) == "in"


async def test_a_host_certificate_of_a_known_authority(tmp_path: Path, key: Path):
    authority = make_key(tmp_path / "ca")
    host_key = make_key(tmp_path / "host_signed")
    _keygen("-s", authority, "-I", "host", "-h", "-n", "127.0.0.1", f"{host_key}.pub")
    settings = (f"HostKey {host_key}", f"HostCertificate {host_key}-cert.pub")
    with Sshd(tmp_path / "sshd", key.with_suffix(".pub"), settings=settings) as server:
        options = options_for(server, tmp_path, key)
        trusted = f"@cert-authority [127.0.0.1]:{server.port} {authority.with_suffix('.pub').read_text()}"
        (tmp_path / "known_hosts").write_text(trusted)
        assert await _echo(server, options) == "in"
        (tmp_path / "known_hosts").write_text(trusted + trusted.replace("@cert-authority", "@revoked"))
        with pytest.raises((HostKeyChangedError, HostKeyUnknownError)):
            await _echo(server, options)


async def test_a_user_certificate_beside_the_key(tmp_path: Path, key: Path):
    authority = make_key(tmp_path / "ca")
    with Sshd(
        tmp_path / "sshd", tmp_path / "nobody", settings=(f"TrustedUserCAKeys {authority}.pub",)
    ) as server:
        _keygen("-s", authority, "-I", "me", "-n", server.user, f"{key}.pub")
        assert await _echo(server, options_for(server, tmp_path, key)) == "in"


async def test_a_wrong_key(server: Sshd, tmp_path: Path):
    wrong = make_key(tmp_path / "wrong")
    with pytest.raises(LoginRefusedError) as refused:
        await _echo(server, options_for(server, tmp_path, wrong))
    assert f"Tried: key {wrong}. The host takes: publickey." in refused.value.cause


async def test_too_many_keys_are_recognised(tmp_path: Path, key: Path):
    wrong = [make_key(tmp_path / f"wrong{n}") for n in range(3)]
    with Sshd(tmp_path / "sshd", key.with_suffix(".pub"), settings=("MaxAuthTries 2",)) as server:
        refused = await _refusal(server, options_for(server, tmp_path, *wrong, key))
    assert isinstance(refused, LoginRefusedError)
    assert refused.remedy.startswith("Too many keys were offered")


async def test_d05_a_jump_over_two_hosts(tmp_path: Path, key: Path):
    with ExitStack() as stack:
        hops = [
            stack.enter_context(Sshd(tmp_path / name, key.with_suffix(".pub"), settings=("MaxSessions 0",)))
            for name in ("first", "second")
        ]
        server = stack.enter_context(Sshd(tmp_path / "last", key.with_suffix(".pub")))
        config = tmp_path / "config"
        jump = ",".join(f"{hop.user}@127.0.0.1:{hop.port}" for hop in hops)
        config.write_text(f"Host gpu\n HostName 127.0.0.1\n Port {server.port}\n ProxyJump {jump}\n")
        options = options_for(server, tmp_path, key, use_ssh_config=True, ssh_config_paths=(config,))
        lines = [each.known_hosts_line() for each in (*hops, server)]
        (tmp_path / "known_hosts").write_text("".join(lines))
        connection = await connect(Target("gpu", server.user), ScriptedPrompter(), options)
        assert (await connection.run(["echo", "far"])).text == "far"
        assert [each.connections for each in (*hops, server)] == [1, 1, 1]
        hops[0].drop()
        assert await asyncio.wait_for(connection.wait_lost(), 30)
        with pytest.raises(ConnectionLostError):
            await connection.run(["true"])
        await connection.close()


async def test_every_host_of_a_jump_is_asked_about(tmp_path: Path, key: Path):
    with ExitStack() as stack:
        hop = stack.enter_context(Sshd(tmp_path / "hop", key.with_suffix(".pub")))
        server = stack.enter_context(Sshd(tmp_path / "last", key.with_suffix(".pub")))
        config = tmp_path / "config"
        config.write_text(
            f"Host 127.0.0.1\n Port {server.port}\n ProxyJump {hop.user}@localhost:{hop.port}\n"
        )
        options = options_for(server, tmp_path, key, use_ssh_config=True, ssh_config_paths=(config,))
        (tmp_path / "known_hosts").unlink()
        prompter = ScriptedPrompter(accepts_host_keys=True)
        assert await _echo(server, options, prompter) == "in"
        asked = [(question.host, question.port) for question in prompter.host_key_questions]
        assert asked == [("localhost", hop.port), ("127.0.0.1", server.port)]


async def test_a_jump_host_that_cannot_reach_the_target(server: Sshd, tmp_path: Path, key: Path):
    config = tmp_path / "config"
    config.write_text(
        f"Host gpu\n HostName 127.0.0.1\n Port 1\n ProxyJump {server.user}@127.0.0.1:{server.port}\n"
    )
    options = options_for(server, tmp_path, key, use_ssh_config=True, ssh_config_paths=(config,))
    with pytest.raises(ConnectionFailedError) as refused:
        await connect(Target("gpu", server.user), ScriptedPrompter(), options)
    assert refused.value.title == "The jump host cannot reach 127.0.0.1, port 1"


@pytest.fixture
def agent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    sock = tmp_path / "agent.sock"
    process = subprocess.Popen(["ssh-agent", "-D", "-a", str(sock)], stdout=subprocess.DEVNULL)
    monkeypatch.setenv("SSH_AUTH_SOCK", str(sock))
    yield sock
    process.terminate()
    process.wait(20)


async def _add_to_agent(agent: Path, path: Path, passphrase: str) -> None:
    await eventually(agent.exists)
    ask = path.with_name("ask.sh")
    ask.write_text(f"#!/bin/sh\necho {passphrase}\n")
    ask.chmod(0o755)
    environment = os.environ | {"SSH_ASKPASS": str(ask), "SSH_ASKPASS_REQUIRE": "force", "DISPLAY": ":0"}
    await asyncio.to_thread(
        subprocess.run,
        ["ssh-add", str(path)],
        check=True,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
    )


async def test_d16_the_agent_is_tried_before_an_encrypted_file_is_asked_about(agent: Path, tmp_path: Path):
    locked = make_key(tmp_path / "locked", passphrase="open")
    await _add_to_agent(agent, locked, "open")
    with Sshd(tmp_path / "sshd", locked.with_suffix(".pub")) as server:
        prompter = ScriptedPrompter()
        options = options_for(server, tmp_path, locked, use_agent=True)
        assert await _echo(server, options, prompter) == "in"
        assert prompter.questions == []
        without = options_for(server, tmp_path, locked)
        with pytest.raises(LoginRefusedError):
            await _echo(server, without, prompter)
        assert [question.prompt for question in prompter.questions] == [f"Passphrase for {locked}"]


async def test_only_named_keys_of_the_agent_are_offered(agent: Path, tmp_path: Path, key: Path):
    await _add_to_agent(agent, make_key(tmp_path / "stranger"), "")
    wrong = make_key(tmp_path / "wrong")
    with Sshd(tmp_path / "sshd", key.with_suffix(".pub")) as server:
        with pytest.raises(LoginRefusedError) as refused:
            await _echo(server, options_for(server, tmp_path, wrong, use_agent=True))
        assert f"Tried: key {wrong}." in refused.value.cause
        with pytest.raises(LoginRefusedError) as offered:
            await _echo(server, options_for(server, tmp_path, use_agent=True, client_keys=None))
        assert "Tried: agent key stranger." in offered.value.cause


async def test_an_agent_that_is_gone_is_said(server: Sshd, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("SSH_AUTH_SOCK", str(tmp_path / "gone"))
    with pytest.raises(LoginRefusedError) as refused:
        await _echo(server, options_for(server, tmp_path, use_agent=True, client_keys=None))
    assert f"The SSH agent at {tmp_path / 'gone'} cannot be used" in refused.value.cause


async def test_d10_ten_commands_and_a_stream_on_a_server_that_allows_two(tmp_path: Path, key: Path):
    with Sshd(tmp_path / "sshd", key.with_suffix(".pub"), settings=("MaxSessions 2",)) as server:
        options = options_for(server, tmp_path, key)
        connection = await connect(target_of(server, server.user), ScriptedPrompter(), options)
        async with connection.stream(["sh", "-c", "echo on; exec sleep 600"]) as chunks:
            assert await anext(chunks) == b"on\n"
            commands = (connection.run(["sh", "-c", f"sleep 0.1; echo {n}"], timeout_s=60) for n in range(10))
            results = await asyncio.gather(*commands)
        assert [result.text for result in results] == [str(n) for n in range(10)]
        assert not connection.lost
        await connection.close()


async def test_a_server_that_allows_no_session_says_so(tmp_path: Path, key: Path):
    with Sshd(tmp_path / "sshd", key.with_suffix(".pub"), settings=("MaxSessions 0",)) as server:
        refused = await _refusal(server, options_for(server, tmp_path, key))
    assert refused.title.startswith("This account cannot run commands")


async def test_d15_an_account_for_file_transfer_alone(tmp_path: Path, key: Path):
    settings = ("Subsystem sftp internal-sftp", "ForceCommand internal-sftp")
    with Sshd(tmp_path / "sshd", key.with_suffix(".pub"), settings=settings) as server:
        refused = await _refusal(server, options_for(server, tmp_path, key, probe_timeout_s=10.0))
    assert refused.title.startswith("This account cannot run commands")


async def test_commands_work_where_sftp_is_missing(server: Sshd, tmp_path: Path, key: Path):
    assert "Subsystem" not in (tmp_path / "sshd" / "sshd_config").read_text()
    assert await _echo(server, options_for(server, tmp_path, key)) == "in"


async def test_a_server_that_dies_in_the_middle_of_a_command(server: Sshd, tmp_path: Path, key: Path):
    connection = await connect(
        target_of(server, server.user), ScriptedPrompter(), options_for(server, tmp_path, key)
    )
    begun = tmp_path / "begun"
    running = asyncio.create_task(connection.run(["sh", "-c", f"touch {begun}; sleep 30"], timeout_s=600))
    await eventually(begun.exists)
    server.drop()
    with pytest.raises(ConnectionLostError):
        await running
    await connection.close()


async def test_a_streams_command_dies_when_the_connection_does(server: Sshd, tmp_path: Path, key: Path):
    connection = await connect(
        target_of(server, server.user), ScriptedPrompter(), options_for(server, tmp_path, key)
    )
    pid = tmp_path / "pid"
    async with connection.stream(["sh", "-c", f"echo $$ >{pid}; echo on; exec sleep 600"]) as chunks:
        assert await anext(chunks) == b"on\n"
        server.drop()
        with pytest.raises(ConnectionLostError):
            await anext(chunks)
    assert await asyncio.to_thread(survivors, [pid.read_text().strip()]) == []
    await connection.close()


async def test_d12_a_peer_that_falls_silent_is_noticed_and_left(server: Sshd, tmp_path: Path, key: Path):
    options = options_for(server, tmp_path, key, keepalive_interval_s=0.5, keepalive_count=3)
    link = Link(target_of(server, server.user), ScriptedPrompter(), options, backoff=Backoff(0.1, 1.5, 0.5))
    await link.start()
    running = asyncio.create_task(link.run(["sleep", "30"], timeout_s=600))
    await asyncio.sleep(0.5)
    server.freeze()
    with pytest.raises(ConnectionLostError):
        await asyncio.wait_for(running, 60)
    assert (await link.run(["echo", "again"], timeout_s=60)).text == "again"
    await link.close()
