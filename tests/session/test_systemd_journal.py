"""Units whose log is the journal, the system's and a user's own: whole restarts, every line told once."""

from __future__ import annotations

import shlex
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from support import fake_systemd
from support.fake_sglang import READY, alive, free_port, launch_argv, write_package
from support.fake_systemd import FakeSystemd
from support.prompters import ScriptedPrompter
from support.ssh_server import SshServer
from support.ssh_sessions import of, session_on, ssh_host
from support.waiting import eventually

from specttui.errors import ServerStartError
from specttui.events import ConnectionUp, Event, LogKind, LogLines, ServerArguments, ServerFailed, ServerReady
from specttui.host.discovery import discover
from specttui.launch.edits import SetEnv, SetFlag
from specttui.log.text import for_view
from specttui.session.restoring import restore

UNIT = "sglang@kimi.service"
#: More than journalctl's JSON shows of a field when it is not asked for all.
LONG_PATH = "/m/" + "x" * 5000


class Unit:
    """A host with one unit that serves and writes to the journal."""

    def __init__(self, systemd: FakeSystemd, server: SshServer, folder: Path) -> None:
        self.systemd = systemd
        self.server = server
        self.folder = folder
        self.port = free_port()

    async def serve(self) -> int:
        """Write the unit and start it; its main process."""
        write_package(self.folder / "packages")
        argv = [*launch_argv(self.port), "--model-path", LONG_PATH, "--speculative-num-steps", "3"]
        environment = f"PYTHONPATH={self.folder / 'packages'} SECRET_TOKEN=hf_abc"
        self.systemd.write_unit(
            UNIT, shlex.join(argv), None, Restart="always", RestartSec="0.3", Environment=environment
        )
        self.systemd.systemctl("start", UNIT)
        await eventually(lambda: any(READY in line for line in self.systemd.journal(UNIT)), 60)
        return self.systemd.main_pid(UNIT)


@pytest.fixture(params=["system", "user"])
async def unit(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Unit]:
    systemd = fake_systemd.install(tmp_path / "systemd", request.param)
    monkeypatch.setenv("PATH", str(systemd.programs), prepend=":")
    monkeypatch.setattr("specttui.host.reading.manager_of", fake_systemd.manager_by_mark)
    async with ssh_host(tmp_path) as server:
        server.environment["XDG_RUNTIME_DIR"] = str(systemd.runtime)  # as pam_systemd sets it
        try:
            yield Unit(systemd, server, tmp_path)
        finally:
            systemd.stop_all()


def lines_of(events: list[Event]) -> list[str]:
    return [line for event in of(events, LogLines) for line in event.lines]


def all_is_told(unit: Unit, events: list[Event]) -> bool:
    """Whether every line of the journal was told, each once and in order, cut to what the view shows."""
    written = [for_view(line) for line in unit.systemd.journal(UNIT) if line]
    return [line for line in lines_of(events) if line] == written


async def test_the_journal_is_followed_through_a_whole_restart_and_a_cut(unit: Unit) -> None:
    old_pid = await unit.serve()
    async with session_on(unit.server, unit.folder, unit.port) as (session, events):
        server = session.state.server
        assert (server.log.kind, server.log.path, server.log.detail) == (
            LogKind.JOURNAL, UNIT, unit.systemd.scope,
        )  # fmt: skip
        await eventually(lambda: all_is_told(unit, events))

        await session.restart([SetFlag("--speculative-num-steps", "2"), SetEnv("NCCL_PROTO", "LL")])
        await eventually(lambda: all_is_told(unit, events))
        assert sum(READY in line for line in lines_of(events)) == 2
        assert [event.arguments["model_path"] for event in of(events, ServerArguments)] == [LONG_PATH] * 2
        [found] = (await discover(session.head.remote, port=unit.port)).servers
        assert of(events, ServerReady)[-1].pid == found.pid == unit.systemd.main_pid(UNIT) != old_pid
        assert found.launch.argv[-2:] == ("--speculative-num-steps", "2")
        assert found.launch.env["NCCL_PROTO"] == "LL"
        assert not alive(old_pid)

        unit.server.drop()
        await eventually(lambda: len(of(events, ConnectionUp)) == 2)
        await session.restart([SetFlag("--speculative-num-steps", "4")])
        await eventually(lambda: all_is_told(unit, events))
        assert sum(READY in line for line in lines_of(events)) == 3
    field = "--user-unit" if unit.systemd.scope == "user" else "--unit"
    followed = [words for words in unit.systemd.journal_calls() if words.startswith("--follow")]
    shown = "--follow --all --output=json --output-fields=MESSAGE"
    assert followed[0] == f"{shown} --lines=2048 {field} {UNIT}"
    assert all(words.startswith(f"{shown} --no-tail --after-cursor=s=") for words in followed[1:])
    assert len(followed) == 4


async def test_the_drop_in_lies_in_the_managers_own_volatile_folder_and_is_taken_back(unit: Unit) -> None:
    await unit.serve()
    unit_file = (unit.systemd.unit_files / UNIT).read_bytes()
    user = unit.systemd.scope == "user"
    run = unit.systemd.runtime if user else unit.systemd.root / "run"
    place = run / "systemd" / ("user" if user else "system") / f"{UNIT}.d" / "zzz-specttui.conf"
    async with session_on(unit.server, unit.folder, unit.port) as (session, _):
        await session.restart([SetFlag("--speculative-num-steps", "2")])
        assert unit.systemd.drop_ins == [place]
        assert {path.name: path.stat().st_mode & 0o777 for path in (run / "specttui").iterdir()} == {
            f"{UNIT}.sh": 0o600, f"{UNIT}.env": 0o600,
        }  # fmt: skip
    text = await restore(session.options, prompter=ScriptedPrompter())
    assert text == f"{UNIT}: runs its own command again from its next start on"
    assert unit.systemd.drop_ins == []
    assert not (run / "specttui").exists()
    assert (unit.systemd.unit_files / UNIT).read_bytes() == unit_file
    scopes = {words.startswith("--user ") for words in unit.systemd.calls("start", "stop", "daemon-reload")}
    assert scopes == {user}


async def test_a_start_that_fails_is_diagnosed_from_the_journal(unit: Unit) -> None:
    await unit.serve()
    async with session_on(unit.server, unit.folder, unit.port, roll_back=True) as (session, events):
        with pytest.raises(ServerStartError) as failed:
            await session.restart([SetEnv("FAKE_IMPORT", "no_such_worker")])
        [diagnosis] = [event.diagnosis for event in of(events, ServerFailed)]
        assert "No module named 'sglang.srt.speculative.no_such_worker'" in diagnosis.title
        assert failed.value.title == diagnosis.title
        assert "serves again" in failed.value.remedy
        assert len((await discover(session.head.remote, port=unit.port)).servers) == 1
        await eventually(lambda: all_is_told(unit, events))  # of three servers in one journal
