"""The command line and the settings file; and everything printed is plain."""

from __future__ import annotations

import ast
import tomllib
from pathlib import Path

import pytest

import specttui
from specttui.cli import main
from specttui.errors import SpecttuiError
from specttui.session import headless


def settings_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> Path:
    path = tmp_path / "settings.toml"
    path.write_text(text)
    monkeypatch.setenv("SPECTTUI_CONFIG", str(path))
    return path


def run(*arguments: str) -> int:
    """The exit status of a command line."""
    with pytest.raises(SystemExit) as left:
        main(list(arguments))
    return int(left.value.code or 0)


def test_config_prints_what_is_in_force(tmp_path, monkeypatch, capsys) -> None:
    path = settings_file(tmp_path, monkeypatch, "refresh_hz = 5\n[hosts.gpu]\nreadonly = true\n")
    assert run("config") == 0
    printed = capsys.readouterr().out
    assert printed.startswith(f"# {path}\n")
    shown = tomllib.loads(printed)
    assert shown["refresh_hz"] == 5.0
    assert (shown["hosts"]["gpu"]["host"], shown["hosts"]["gpu"]["readonly"]) == ("gpu", True)


def test_config_says_where_the_file_is(home_of_its_own: Path, capsys) -> None:
    assert run("config", "--path") == 0
    assert capsys.readouterr().out == f"{home_of_its_own}/.config/specttui/config.toml\n"


@pytest.mark.parametrize(
    ("text", "key", "meant"),
    [("refresh = 1", "refresh", "refresh_hz"), ('[keymap]\nrestarts = "f2"', "keymap.restarts", "restart")],
)
def test_a_wrong_key_is_named_before_anything_is_done(
    tmp_path, monkeypatch, capsys, text: str, key: str, meant: str
) -> None:
    path = settings_file(tmp_path, monkeypatch, text)
    assert run("config") == 1
    said = capsys.readouterr().err
    assert said.startswith(f"specttui: The settings file {path} cannot be used\n{key} is not a setting.\n")
    assert f"What to do: Did you mean {meant}? " in said


def test_every_command_that_connects_reads_the_settings(tmp_path, monkeypatch, capsys) -> None:
    settings_file(tmp_path, monkeypatch, "refresh = 1")
    for command in (["check", "h"], ["restore", "h"], ["doctor", "h"], ["h"], ["replay", "latest"]):
        assert run(*command) == 1
        assert "refresh is not a setting" in capsys.readouterr().err


def test_doctor_says_by_its_exit_status_whether_something_failed(tmp_path, monkeypatch, capsys) -> None:
    settings_file(tmp_path, monkeypatch, '[hosts.gpu]\nhost = "no..host"\n')
    assert run("doctor", "gpu", "--no-ssh-config") == 1
    printed = capsys.readouterr().out
    assert printed.startswith("gpu\n  ok    ssh configuration")
    assert "  fail  name               no..host is not known: " in printed
    assert "        What to do: Check its spelling" in printed


def test_what_a_host_says_is_printed_plain(monkeypatch, capsys) -> None:
    evil = "\x1b]0;owned\x07\x1b[2Jtext"
    monkeypatch.setattr(headless, "check_hosts", lambda *_, **__: f"{evil}\nmore")
    assert run("check", "h") == 0
    assert capsys.readouterr().out == "text\nmore\n"

    def fail(*_: object, **__: object) -> str:
        raise SpecttuiError(f"title {evil}", cause=evil, remedy=evil)

    monkeypatch.setattr(headless, "restore_hosts", fail)
    assert run("restore", "h") == 1
    assert capsys.readouterr().err == "specttui: title text\ntext\nWhat to do: text\n"


def test_nothing_is_printed_by_another_door() -> None:
    """`print` is for what runs on hosts and for the simulated server; everything else goes through `say`."""
    root = Path(specttui.__file__).parent
    elsewhere = ("host/remote_scripts/", "demo/simulated/", "probe/block/", "session/load_client.py")
    found = [
        f"{path.relative_to(root)}:{node.lineno}"
        for path in sorted(root.rglob("*.py"))
        if not str(path.relative_to(root)).startswith(elsewhere)
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print"
    ]
    assert found == []
