"""A session's options from the command line and the settings: the command line wins."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.settings_file import WHOLE

from specttui.config import Settings
from specttui.config.reader import parse
from specttui.errors import ConfigError, UsageError
from specttui.host.managers import ManagerCommands
from specttui.host.target import ConnectOptions, Target
from specttui.session.choose import options_of_all, session_options
from specttui.session.options import SessionOptions

SETTINGS = parse(WHOLE, Path("/settings.toml"))


def test_a_profile_says_everything() -> None:
    assert session_options("gpu", SETTINGS) == SessionOptions(
        target=Target("10.1.230.174", "root", 2222),
        readonly=True,
        server_port=30001,
        log_path="/var/log/sglang.log",
        name="gpu",
        via=("docker", "exec", "-i", "the server"),
        sudo="yes",
        targets=SETTINGS.probe_targets,
        commands=ManagerCommands(stop=("systemctl", "stop", "sglang"), start=("start", "{command}")),
        roll_back=True,
    )


def test_the_command_line_wins() -> None:
    options = session_options("gpu", SETTINGS, server_port=1, log_path="/other", use_ssh_config=False)
    assert (options.server_port, options.log_path) == (1, "/other")
    assert options.connect == ConnectOptions(use_ssh_config=False)
    assert session_options("other", SETTINGS, readonly=True).readonly
    assert not session_options("other", SETTINGS).readonly


def test_without_a_profile_the_name_is_where_to_connect() -> None:
    assert session_options("me@gpu-host:2222", Settings()) == SessionOptions(Target("gpu-host", "me", 2222))


def test_a_profiles_host_that_cannot_be_read() -> None:
    settings = parse('[hosts.gpu]\nhost = "a b"', Path("/settings.toml"))
    with pytest.raises(UsageError, match="cannot be used: 'a b'"):
        session_options("gpu", settings)


def test_a_servers_name_stands_for_all_its_hosts() -> None:
    text = '[hosts.a]\nhost = "root@gpu-a"\n[servers.kimi]\nnodes = ["a", "gpu-b:2222"]'
    settings = parse(text, Path("/s.toml"))
    options = options_of_all(["kimi", "gpu-c"], settings, server_port=30001)
    assert [(each.shown_name, str(each.target), each.server_port) for each in options] == [
        ("a", "root@gpu-a", 30001),
        ("gpu-b:2222", "gpu-b:2222", 30001),
        ("gpu-c", "gpu-c", 30001),
    ]


def test_a_server_of_one_host_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"servers\.kimi\.nodes"):
        parse('[servers.kimi]\nnodes = ["a"]', Path("/s.toml"))
