"""The program that changes units: whose manager it speaks to, and any words reach the server as meant."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support import fake_systemd
from support.local_remote import LocalRemote

from specttui.errors import ServerManagedError
from specttui.events import Launch, Manager, ManagerKind
from specttui.host.managers import NO_COMMANDS
from specttui.host.managers.choose import Ways
from specttui.host.managers.overrides import Unit, UnitOverrides
from specttui.host.managers.way import Errand, WayOptions
from specttui.host.remote_scripts import systemd_unit
from specttui.host.remote_scripts.systemd_unit import Control, Place

EVIL = "a'b\"c $(touch owned) `touch owned`;touch owned\n\x1b]0;owned\x07\\ %s ${HOME} -x ="
texts = st.lists(st.sampled_from((EVIL, "", "é", "\udcff", "%n", "$1", "\t")) | st.text(), max_size=4).map(
    lambda parts: "".join(parts).replace("\0", "")
)


def test_the_users_manager_is_found_without_a_login_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    runtime = f"/run/user/{os.geteuid()}"
    monkeypatch.delenv("XDG_RUNTIME_DIR", raising=False)
    monkeypatch.setattr(systemd_unit.os.path, "isdir", lambda path: path == runtime)
    user = Control("user")
    assert (user.words, user.env["XDG_RUNTIME_DIR"]) == (["systemctl", "--user"], runtime)
    assert "XDG_RUNTIME_DIR" not in Control("system").env
    monkeypatch.setenv("XDG_RUNTIME_DIR", "/elsewhere")
    assert Control("user").env["XDG_RUNTIME_DIR"] == "/elsewhere"


@pytest.mark.parametrize("runtime", ["/run/user/1000", "/tmp/runtime-me"])
def test_the_users_drop_ins_go_where_only_the_user_writes(
    monkeypatch: pytest.MonkeyPatch, runtime: str
) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", runtime)
    control = Control("user")
    paths = f"/home/me/.config/systemd/user /etc/systemd/user {runtime}/systemd/user /run/systemd/user\n"
    monkeypatch.setattr(control, "run", lambda *words: (0, paths))
    place = Place(control.folder(), "a@b.service")
    assert place.drop_in == f"{runtime}/systemd/user/a@b.service.d/zzz-specttui.conf"
    assert place.environment == f"{runtime}/specttui/a@b.service.env"


async def test_a_users_manager_that_does_not_answer_is_quoted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    systemd = fake_systemd.install(tmp_path / "systemd")  # no user has a manager
    monkeypatch.setenv("PATH", str(systemd.programs), prepend=":")
    remote = LocalRemote(tmp_path, env={"XDG_RUNTIME_DIR": str(tmp_path)})
    manager = Manager(kind=ManagerKind.SYSTEMD, name="a.service", detail="user")
    with pytest.raises(ServerManagedError) as refused:
        await Ways(remote, NO_COMMANDS, WayOptions()).way(manager).prepare(Errand(Launch(argv=("x",)), "s1"))
    assert refused.value.title == "systemd does not answer for the unit a.service"
    assert refused.value.cause == "Failed to connect to bus: No medium found"
    assert refused.value.remedy.startswith("Run `systemctl --user edit a.service`")


async def test_overrides_of_both_managers_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    systemd = fake_systemd.install(tmp_path / "systemd", "user")
    monkeypatch.setenv("PATH", str(systemd.programs), prepend=":")
    for folder in (systemd.root / "run/systemd/system", systemd.runtime / "systemd/user"):
        drop_in = folder / f"{folder.name}.service.d" / "zzz-specttui.conf"
        drop_in.parent.mkdir(parents=True)
        drop_in.touch()
    remote = LocalRemote(tmp_path, env={"XDG_RUNTIME_DIR": str(systemd.runtime)})
    assert await UnitOverrides(remote).find() == (
        Unit("system.service", "system"), Unit("user.service", "user"),
    )  # fmt: skip


@settings(max_examples=15, deadline=None)
@given(
    st.lists(texts, max_size=4),
    st.dictionaries(st.from_regex(r"[A-Z_][A-Z0-9_]{0,8}", fullmatch=True), texts, max_size=4),
)
def test_any_words_and_variables_reach_the_server_as_meant(words: list[str], env: dict[str, str]) -> None:
    """As systemd starts it: /bin/sh with our script, and an environment of the unit's own."""
    show = "import json, os, sys; json.dump([sys.argv[1:], dict(os.environ), os.getcwd()], sys.stdout)"
    with tempfile.TemporaryDirectory() as made:
        cwd = Path(made) / "it's $(here)\n"
        cwd.mkdir()
        place = Place(f"{made}/run/systemd/system", "a.service")
        Path(place.own).mkdir(parents=True)
        items = [f"{name}={value}".encode("utf-8", "surrogateescape") for name, value in env.items()]
        Path(place.environment).write_bytes(b"\0".join(items))
        argv = [sys.executable, "-S", "-c", show, *words]
        parameters = {"argv": argv, "cwd": str(cwd), "title": "a title"}
        script = systemd_unit._script(place, parameters)
        Path(place.script).write_bytes(script.encode("utf-8", "surrogateescape"))
        unit = {"PATH": os.environ["PATH"], "INVOCATION_ID": "fresh", "FROM_UNIT": "gone"}
        done = subprocess.run(["/bin/sh", place.script], env=unit, capture_output=True, check=True, cwd="/")
        assert not list(Path(made).rglob("owned"))
    seen_words, seen_env, seen_cwd = json.loads(done.stdout)
    ours = {name: value for name, value in seen_env.items() if name not in {"INVOCATION_ID", "LC_CTYPE"}}
    assert seen_words == words
    assert ours == {name: value for name, value in env.items() if name != "INVOCATION_ID"}
    assert (seen_env["INVOCATION_ID"], seen_cwd) == ("fresh", str(cwd))
