"""The user's ssh configuration: what it says, and what is wrong with it, by file and line."""

from pathlib import Path

import pytest

from specttui.errors import ConfigError
from specttui.host import ssh_config
from specttui.host.target import ConnectOptions, Target

GPU = Target("gpu")


@pytest.fixture
def config(home_of_its_own: Path) -> Path:
    folder = home_of_its_own / ".ssh"
    folder.mkdir()
    return folder / "config"


def _write(path: Path, text: str) -> None:
    path.write_text(text)


def _options(config: Path) -> ConnectOptions:
    return ConnectOptions(ssh_config_paths=(config,))


async def test_a_host_block_is_followed(config: Path, home_of_its_own: Path):
    _write(
        config,
        "Host gpu\n HostName 10.9.8.7\n Port 2200\n User engineer\n IdentityFile ~/.ssh/work\n"
        " IdentitiesOnly yes\n ProxyJump bastion,inner\n UserKnownHostsFile ~/.ssh/kh\n ConnectTimeout 7\n"
        " GlobalKnownHostsFile /dev/null\n HostKeyAlias gpu-alias\n IdentityAgent ~/agent.sock\n",
    )
    route = await ssh_config.route(GPU, _options(config))
    home = home_of_its_own
    assert (route.host, route.port, route.user) == ("10.9.8.7", 2200, "engineer")
    assert (route.record_name, route.record_port) == ("gpu-alias", 22)
    assert (route.proxy_jump, route.proxy_command) == ("bastion,inner", None)
    assert route.known_hosts == (home / ".ssh/kh", Path("/dev/null"))
    assert (route.identity_files, route.identities_only) == ((home / ".ssh/work",), True)
    assert (route.connect_timeout_s, route.agent_path) == (7.0, str(home / "agent.sock"))


async def test_what_the_user_writes_wins_over_the_block(config: Path):
    _write(config, "Host gpu\n Port 2200\n User engineer\n")
    route = await ssh_config.route(Target("gpu", "root", 22), _options(config))
    assert (route.port, route.user) == (22, "root")


async def test_without_configuration_the_usual_places_hold(home_of_its_own: Path, monkeypatch):
    monkeypatch.setenv("SSH_AUTH_SOCK", "/run/agent")
    route = await ssh_config.route(GPU, ConnectOptions(use_ssh_config=False))
    assert (route.host, route.port, route.record_name) == ("gpu", 22, "gpu")
    assert route.known_hosts[:2] == (
        home_of_its_own / ".ssh/known_hosts",
        home_of_its_own / ".ssh/known_hosts2",
    )
    assert route.known_hosts[2] == Path("/etc/ssh/ssh_known_hosts")
    assert (route.identity_files, route.agent_path) == (None, "/run/agent")


async def test_the_users_own_file_is_found(config: Path):
    _write(config, "Host gpu\n HostName 10.9.8.7\n")
    assert (await ssh_config.route(GPU, ConnectOptions())).host == "10.9.8.7"
    assert (await ssh_config.route(GPU, ConnectOptions(use_ssh_config=False))).host == "gpu"


@pytest.mark.parametrize(
    ("value", "path"),
    [("none", None), ("SSH_AUTH_SOCK", "/run/agent"), ("$OTHER_AGENT", "/run/other"), ("$UNSET_AGENT", None)],
)
async def test_the_agent_may_be_named_by_a_variable(config: Path, monkeypatch, value: str, path: str | None):
    monkeypatch.setenv("SSH_AUTH_SOCK", "/run/agent")
    monkeypatch.setenv("OTHER_AGENT", "/run/other")
    _write(config, f"IdentityAgent {value}\n")
    assert (await ssh_config.route(GPU, _options(config))).agent_path == path


@pytest.mark.parametrize(
    ("line", "cause"),
    [
        ("PubkeyAuthentication unbound", "Invalid PubkeyAuthentication boolean value: unbound"),
        ("ServerAliveInterval 30s", "Invalid ServerAliveInterval integer value: 30s"),
        ("ConnectTimeout 1m", "Invalid ConnectTimeout integer value: 1m"),
        ("Compression delayed", "Invalid Compression boolean value: delayed"),
        ("Port 2222 # lab", "Extra data at end: # lab"),
    ],
)
async def test_d06_values_only_openssh_takes_are_named_by_file_and_line(config: Path, line: str, cause: str):
    _write(config, f"Host gpu\n  HostName 10.9.8.7\n  {line}\n")
    with pytest.raises(ConfigError) as refused:
        await ssh_config.route(GPU, _options(config))
    assert refused.value.cause == f"{config} line 3: {cause}"
    assert "--no-ssh-config" in refused.value.remedy
    assert (await ssh_config.route(Target("other"), _options(config))).host == "other"


async def test_d08_an_unset_variable_is_named_by_file_and_line(config: Path, monkeypatch):
    monkeypatch.delenv("NOAGENT", raising=False)
    _write(config, "Host gpu\n  IdentityAgent ${NOAGENT}\n")
    with pytest.raises(ConfigError) as refused:
        await ssh_config.route(GPU, _options(config))
    assert refused.value.cause == f"{config}, line 2: the environment variable NOAGENT is not set"


async def test_an_unknown_token_is_named_by_file_and_line(config: Path):
    _write(config, "Host gpu\n  IdentityFile ~/.ssh/%Z\n")
    with pytest.raises(ConfigError) as refused:
        await ssh_config.route(GPU, _options(config))
    assert refused.value.cause == f"{config}, line 2: the token %Z is not known here"


async def test_a_place_inside_an_included_file_is_found(config: Path):
    _write(config.parent / "extra", "# one\nIdentityAgent ${NOAGENT}\n")
    _write(config, "Include extra\n")
    with pytest.raises(ConfigError) as refused:
        await ssh_config.route(GPU, _options(config))
    assert refused.value.cause.startswith(f"{config.parent / 'extra'}, line 2: ")


@pytest.mark.parametrize(
    ("line", "notice"),
    [
        (
            "StrictHostKeyChecking no",
            "StrictHostKeyChecking no is not followed; host keys are always checked.",
        ),
        ("StrictHostKeyChecking=accept-new", "StrictHostKeyChecking accept-new is not followed; "),
        ("ControlMaster auto", "Connection sharing is not supported; specttui logs in on its own, "),
        ("UserKnownHostsFile /dev/null", "No host key is kept, so every host counts as unknown."),
        ("PKCS11Provider /usr/lib/x.so", "PKCS11Provider is not read; load its keys into the agent"),
        ('Match exec "test %h = gpu1"', "Match exec with % or = is not evaluated as ssh would"),
    ],
)
def test_d02_d04_d07_what_is_not_followed_is_said_once(config: Path, line: str, notice: str):
    _write(config, f"Host *\n  {line}\n  {line}\n")
    said = ssh_config.notices(GPU, _options(config))
    assert len(said) == 1
    assert said[0].startswith(f"{config}, line 2: {notice}")


@pytest.mark.parametrize(
    "line", ["StrictHostKeyChecking ask", "ControlMaster no", "Match host gpu", "Port 22"]
)
def test_what_is_followed_is_not_mentioned(config: Path, line: str):
    _write(config, f"{line}\n")
    assert ssh_config.notices(GPU, _options(config)) == ()


def test_blocks_for_other_hosts_are_not_mentioned(config: Path):
    _write(config, "Host lab* !gpu\n  StrictHostKeyChecking no\nHost * !gpu\n  ControlMaster auto\n")
    assert ssh_config.notices(GPU, _options(config)) == ()


async def test_d18_settings_that_asyncssh_does_not_know_are_no_error(config: Path):
    _write(config, "Host unix/* vsock/*\n  ProxyCommand x %h\n  ProxyUseFdpass yes\nHost gpu\n  Port 2200\n")
    assert (await ssh_config.route(GPU, _options(config))).port == 2200
