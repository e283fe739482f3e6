"""Logging in: host keys, keys, passwords, questions, and accounts that cannot be used."""

import asyncio
from pathlib import Path

import asyncssh
import pytest
from support.logins import connected, options_for, target_of
from support.prompters import ScriptedPrompter
from support.ssh_server import SshServer
from support.sshd import make_key

from specttui.errors import (
    ConnectionFailedError,
    HostKeyChangedError,
    HostKeyUnknownError,
)
from specttui.host.connection import connect
from specttui.host.failures import LoginRefusedError
from specttui.host.host_keys import fingerprint
from specttui.host.login import LoginMemory


async def test_d01_an_unknown_key_is_asked_about_and_kept(server: SshServer, tmp_path: Path, key: Path):
    options = options_for(server, tmp_path, key)
    known_hosts = tmp_path / "known_hosts"
    known_hosts.write_text("# empty so far\n")
    prompter = ScriptedPrompter(accepts_host_keys=True)
    async with connected(server, options, prompter) as connection:
        assert (await connection.run(["echo", "in"])).text == "in"
    question = prompter.host_key_questions[0]
    assert (question.host, question.port, question.key_type) == ("127.0.0.1", server.port, "ssh-ed25519")
    assert question.fingerprint == server.host_key.get_fingerprint()
    assert question.known_hosts_path == str(known_hosts)
    assert known_hosts.read_text().split() == ["#", "empty", "so", "far", *server.known_hosts_line().split()]
    async with connected(server, options, prompter):
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
        async with connected(server, options_for(server, tmp_path), prompter) as connection:
            assert (await connection.run(["echo", "in"])).text == "in"
    assert [(question.title, question.prompt, question.echo) for question in prompter.questions] == [
        ("Round 1", "Second factor\nPassword:", False),
        ("Round 2", "Second factor\nCode:", True),
        ("Round 2", "Second factor\nPin:", False),
    ]


async def test_d03_a_question_may_take_longer_than_the_network(tmp_path: Path):
    class Slow(ScriptedPrompter):
        async def ask_secret(self, question):
            await asyncio.sleep(9)
            return await super().ask_secret(question)

    async with SshServer(tmp_path / "server", password="right") as server:
        options = options_for(server, tmp_path, connect_timeout_s=8.0)
        async with connected(server, options, Slow(answers=["right"])) as connection:
            assert not connection.lost


async def test_d16_a_passphrase_is_asked_for_and_asked_again(tmp_path: Path):
    locked = make_key(tmp_path / "locked", passphrase="open")
    async with SshServer(tmp_path / "server", (locked.with_suffix(".pub"),)) as server:
        prompter = ScriptedPrompter(answers=["wrong", "open"])
        async with connected(server, options_for(server, tmp_path, locked), prompter):
            assert [question.prompt for question in prompter.questions] == [
                f"Passphrase for {locked}",
                f"Not the right passphrase. Passphrase for {locked}",
            ]


async def test_d16_no_passphrase_is_asked_for_a_key_the_host_would_not_take(
    server: SshServer, tmp_path: Path, key: Path
):
    locked = make_key(tmp_path / "locked", passphrase="open")
    prompter = ScriptedPrompter()
    async with connected(server, options_for(server, tmp_path, locked, key), prompter):
        assert prompter.questions == []


async def test_a_key_that_does_not_say_what_it_is_is_opened_last(
    server: SshServer, tmp_path: Path, key: Path
):
    pem = tmp_path / "pem"
    pem.write_bytes(asyncssh.read_private_key(key).export_private_key("pkcs8-pem", "open"))
    prompter = ScriptedPrompter(answers=["open"])
    async with connected(server, options_for(server, tmp_path, pem), prompter):
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
