"""Several hosts on the command line: each is worked on, and what fails on one keeps no other from it."""

from __future__ import annotations

import json

import pytest

from specttui.cli import main
from specttui.config import Settings
from specttui.errors import SpecttuiError, WorkerFileError
from specttui.session import headless, restoring
from specttui.session.options import SessionOptions


def run(*arguments: str) -> int:
    with pytest.raises(SystemExit) as ended:
        main(list(arguments))
    return int(ended.value.code or 0)


@pytest.mark.parametrize("command", [[], ["check"], ["restore"], ["doctor"]])
def test_no_host_is_told_with_what_to_do(command: list[str], capsys) -> None:
    assert run(*command) == 1
    assert capsys.readouterr().err == (
        "specttui: No host is named\nWhat to do: Give one (specttui HOST), or try: specttui demo\n"
    )


def test_doctor_looks_at_each(capsys) -> None:
    assert run("doctor", "no..a", "no..b", "--no-ssh-config") == 1
    first, second = capsys.readouterr().out.split("\n\n")
    assert first.startswith("no..a\n")
    assert second.startswith("no..b\n")


def test_doctor_prints_a_list_for_several_and_an_object_for_one(capsys) -> None:
    run("doctor", "no..a", "no..b", "--no-ssh-config", "--json")
    assert [each["host"] for each in json.loads(capsys.readouterr().out)] == ["no..a", "no..b"]
    run("doctor", "no..a", "--no-ssh-config", "--json")
    assert json.loads(capsys.readouterr().out)["host"] == "no..a"


def restore(hosts: list[str]) -> str:
    return headless.restore_hosts(hosts, Settings(), path=None, server_port=None, use_ssh_config=False)


def test_restore_goes_on_after_a_host_that_fails(monkeypatch) -> None:
    async def fake(options: SessionOptions, path: str | None) -> str:
        assert path is None
        if options.shown_name in {"b", "c"}:
            raise WorkerFileError(f"no {options.shown_name}", cause="disk full", remedy="make room")
        return "/w.py: restored"

    monkeypatch.setattr(restoring, "restore", fake)
    with pytest.raises(SpecttuiError) as failed:
        restore(["a", "b", "c", "d"])
    assert failed.value.title == "b: no b"
    assert failed.value.remedy == "make room"
    assert failed.value.cause.splitlines() == [
        "disk full",
        "c: no c", "disk full", "What to do: make room",
        "a: /w.py: restored", "d: /w.py: restored",
    ]  # fmt: skip


def test_restore_names_hosts_only_where_there_are_several(monkeypatch) -> None:
    async def fake(options: SessionOptions, path: str | None) -> str:
        del options, path
        return "/w.py: restored"

    monkeypatch.setattr(restoring, "restore", fake)
    assert restore(["a"]) == "/w.py: restored"
    assert restore(["a", "b"]) == "a: /w.py: restored\nb: /w.py: restored"
