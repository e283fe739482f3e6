"""The demo host as an SSH host: logins, bytes, signals, and cut connections."""

import asyncio
import stat

import asyncssh
import pytest
from support.demo_client import PATIENCE_S, all_gone, login, processes_of, sh

from specttui.demo.host import DemoHost
from specttui.errors import DemoError


@pytest.fixture
async def host():
    async with DemoHost(start_server=False) as host:
        yield host


async def test_a_command_runs_in_the_scratch_home(host):
    async with login(host) as connection:
        assert await sh(connection, 'pwd; echo "$HOME $USER"') == f"{host.home}\n{host.home} demo\n"


async def test_the_folder_and_the_key_are_private(host):
    assert stat.S_IMODE(host.scratch.root.stat().st_mode) == 0o700
    assert stat.S_IMODE(host.client_key_path.stat().st_mode) == 0o600


async def test_bytes_pass_unchanged_both_ways_and_apart(host):
    data = bytes(range(256)) * 2000
    async with login(host) as connection:
        result = await connection.run("tee /dev/stderr", input=data, encoding=None)
    assert result.stdout == data
    assert result.stderr == data


async def test_exit_status_and_signal_reach_the_client(host):
    async with login(host) as connection:
        assert (await connection.run("exit 7")).exit_status == 7
        assert (await connection.run("kill -9 $$")).exit_signal[0] == "KILL"


async def test_a_login_without_a_command_is_a_shell(host):
    async with login(host) as connection:
        assert (await connection.run(None, input="echo $((6 * 7))\n")).stdout == "42\n"


async def test_a_signal_reaches_the_command(host):
    async with login(host) as connection, connection.create_process("echo up; exec sleep 300") as process:
        assert await process.stdout.readline() == "up\n"
        process.send_signal("TERM")
        assert (await process.wait()).exit_signal[0] == "TERM"


async def test_a_closed_channel_ends_its_commands_group(host):
    async with login(host) as connection:
        process = await connection.create_process("sleep 300 & echo up; wait")
        assert await process.stdout.readline() == "up\n"
        process.close()
        assert await all_gone(host.demo_id)


async def test_a_detached_command_outlives_its_channel(host):
    async with login(host) as connection:
        await sh(connection, "setsid sleep 300 >/dev/null 2>&1 </dev/null & exit 0")
    await asyncio.sleep(0.2)
    assert await processes_of(host.demo_id, 1) == 1


async def test_cut_connections_end_commands_and_are_noticed(host):
    async with login(host) as connection:
        process = await connection.create_process("echo up; exec sleep 300")
        assert await process.stdout.readline() == "up\n"
        host.kill_connections()
        await asyncio.wait_for(connection.wait_closed(), PATIENCE_S)
        assert await all_gone(host.demo_id)


async def test_refused_logins_are_let_in_again(host):
    host.refuse_logins(300)
    with pytest.raises((OSError, asyncssh.Error)):
        async with login(host):
            pass
    host.refuse_logins(0)
    async with login(host) as connection:
        assert await sh(connection, "echo in") == "in\n"


@pytest.mark.parametrize("wrong", ["key", "user"])
async def test_only_the_demos_key_and_user_may_log_in(host, wrong):
    options = {
        "key": {"client_keys": [asyncssh.generate_private_key("ssh-ed25519")]},
        "user": {"username": "root"},
    }
    with pytest.raises(asyncssh.PermissionDenied):
        async with login(host, **options[wrong]):
            pass


async def test_nvidia_smi_answers_what_it_is_asked(host):
    query = "nvidia-smi --query-gpu=index,name,memory.total,memory.used --format=csv,noheader,nounits"
    async with login(host) as connection:
        rows = (await sh(connection, query)).splitlines()
        with_units = await sh(connection, "nvidia-smi --query-gpu=memory.used --format=csv")
        unknown = await connection.run("nvidia-smi --query-gpu=nonsense --format=csv")
    assert rows == [f"{index}, NVIDIA H20-like PCIe, 97871, 4" for index in range(8)]
    assert with_units.splitlines()[:2] == ["memory.used", "4 MiB"]
    assert unknown.exit_status == 2
    assert unknown.stdout == 'Field "nonsense" is not a valid field to query.\n\n'


def test_an_unknown_profile_is_refused():
    with pytest.raises(DemoError) as raised:
        DemoHost(profile="b200")
    assert raised.value.remedy == "Use one of: mission, h200."


async def test_other_systems_are_told_so(monkeypatch):
    monkeypatch.setattr("sys.platform", "darwin")
    with pytest.raises(DemoError, match="needs Linux"):
        async with DemoHost():
            pass


async def test_a_temporary_folder_that_cannot_be_used_is_explained(monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", "/no/such/folder")
    with pytest.raises(DemoError) as raised:
        async with DemoHost():
            pass
    assert "/no/such/folder" in raised.value.cause
    assert "TMPDIR" in raised.value.remedy
