"""Reaching a host: ports, names, proxy commands, jumps that cannot be followed."""

import asyncio
import socket
from pathlib import Path

import pytest
from support.fake_sglang import free_port
from support.logins import connected, options_for, target_of
from support.prompters import ScriptedPrompter
from support.ssh_server import SshServer

from specttui.errors import (
    ConfigError,
    ConnectionFailedError,
)
from specttui.host.connection import connect
from specttui.host.target import ConnectOptions, Target


async def test_a_refused_port():
    port = free_port()
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
    async with connected(server, options) as connection:
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
