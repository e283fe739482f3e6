"""Logs of containers and units, through stand-ins for docker and journalctl that keep a log of their own."""

from __future__ import annotations

import json
import stat
import sys
from pathlib import Path

import pytest
from support.local_remote import LocalRemote
from support.tail_collector import following

from specttui.events import LogKind, LogSource
from specttui.host.remote_scripts import follow_command
from specttui.host.tail import FromEnd, Notice, WholeFile, follow

_DOCKER = """\
import sys, time
arguments = sys.argv[1:]
with open({calls!r}, "a") as calls:
    calls.write(" ".join(arguments) + "\\n")
if arguments[-1] != "abc123":
    sys.exit("Error: No such container: " + arguments[-1])
since = arguments[arguments.index("--since") + 1] if "--since" in arguments else ""
seen = 0
for _ in range({rounds}):
    lines = open({log!r}).read().splitlines(keepends=True)
    for line in lines[seen:]:
        if line.split(" ")[0] >= since:
            sys.stdout.write(line)
            sys.stdout.flush()
    seen = len(lines)
    time.sleep(0.05)
"""

_JOURNAL = """\
import json, sys, time
arguments = sys.argv[1:]
with open({calls!r}, "a") as calls:
    calls.write(" ".join(arguments) + "\\n")
after = [a.partition("=")[2] for a in arguments if a.startswith("--after-cursor=")]
for line in open({log!r}).read().splitlines():
    if not line.startswith("{{") or not after or json.loads(line)["__CURSOR"] > after[0]:
        print(line, flush=True)
time.sleep({rounds} * 0.05)
"""


class Tool:
    """A stand-in on PATH: what it was called with, and the log that it has."""

    def __init__(self, folder: Path, name: str, program: str, rounds: int) -> None:
        self.calls = folder / "calls"
        self.log = folder / f"{name}.log"
        self.log.touch()
        path = folder / name
        text = program.format(calls=str(self.calls), log=str(self.log), rounds=rounds)
        path.write_text(f"#!{sys.executable}\n{text}")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)

    def append(self, *lines: str) -> None:
        with self.log.open("a") as file:
            file.write("".join(line + "\n" for line in lines))


@pytest.fixture
def remote(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> LocalRemote:
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    return LocalRemote(tmp_path)


CONTAINER = LogSource(kind=LogKind.DOCKER, path="abc123", detail="docker")
UNIT = LogSource(kind=LogKind.JOURNAL, path="sglang.service", detail="system")


async def test_docker_lines_lose_their_stamps(remote: LocalRemote, tmp_path: Path) -> None:
    docker = Tool(tmp_path, "docker", _DOCKER, rounds=2000)
    docker.append("2026-11-29T12:00:00.000000001Z one", "2026-11-29T12:00:00.000000002Z ")
    async with following(remote, CONTAINER, FromEnd(12800)) as tail:
        await tail.until_data(b"one\n\n")
        docker.append("2026-11-29T12:00:01.000000000Z two")
        await tail.until_data(b"two\n")
    assert tail.data == b"one\n\ntwo\n"
    assert docker.calls.read_text() == "logs --follow --timestamps --tail 100 abc123\n"


async def test_docker_goes_on_after_the_last_line_although_stamps_repeat(
    remote: LocalRemote, tmp_path: Path
) -> None:
    docker = Tool(tmp_path, "docker", _DOCKER, rounds=2000)
    docker.append("2026-11-29T12:00:00.000000001Z one", *["2026-11-29T12:00:00.000000002Z same"] * 2)
    async with following(remote, CONTAINER, WholeFile()) as tail:
        await tail.until_data(b"one\nsame\nsame\n")
    docker.append("2026-11-29T12:00:00.000000002Z third same", "2026-11-29T12:00:03.000000000Z later")
    async with following(remote, CONTAINER, tail.position) as again:
        await again.until_data(b"later\n")
    assert again.data == b"third same\nlater\n"
    assert docker.calls.read_text().splitlines() == [
        "logs --follow --timestamps --tail all abc123",
        "logs --follow --timestamps --since 2026-11-29T12:00:00.000000002Z abc123",
    ]


async def test_docker_that_ends_silently_is_called_again(remote: LocalRemote, tmp_path: Path) -> None:
    docker = Tool(tmp_path, "docker", _DOCKER, rounds=1)
    docker.append("2026-11-29T12:00:00.000000001Z one")
    async with following(remote, CONTAINER) as tail:
        await tail.until_data(b"one\n")
        docker.append("2026-11-29T12:00:01.000000000Z two")
        await tail.until_data(b"two\n")
    assert tail.data == b"one\ntwo\n"


async def test_docker_that_refuses_says_why(remote: LocalRemote, tmp_path: Path) -> None:
    Tool(tmp_path, "docker", _DOCKER, rounds=1)
    gone = LogSource(kind=LogKind.DOCKER, path="gone", detail="docker")
    items = [item async for item in follow(remote, gone)]
    assert items == [
        Notice(
            "cannot_follow",
            "Error: No such container: gone (exit status 1). Restart the server through specttui, which "
            "appends its output to a file.",
        )
    ]


async def test_journal_entries_of_every_kind(remote: LocalRemote, tmp_path: Path) -> None:
    journal = Tool(tmp_path, "journalctl", _JOURNAL, rounds=2000)
    entries = [
        {"__CURSOR": "a1", "MESSAGE": "plain ▇"},
        {"__CURSOR": "a2", "MESSAGE": [27, 91, 51, 51, 109, 255]},
        {"__CURSOR": "a3", "MESSAGE": None},
        {"__CURSOR": "a3b", "MESSAGE": ["two", "values"]},
        {"__CURSOR": "a4", "MESSAGE": "Suppressed 23 messages from sglang.service"},
        {"__CURSOR": "a5", "MESSAGE": "last"},
    ]
    journal.append(*(json.dumps(entry) for entry in entries))
    async with following(remote, UNIT) as tail:
        await tail.until_data(b"last\n")
    assert tail.data == "plain ▇\n".encode() + b"\x1b[33m\xff\n\ntwo\nvalues\nlast\n"
    assert Notice("suppressed", "Suppressed 23 messages from sglang.service") in tail.items
    assert tail.notices == ["suppressed"]
    assert tail.position.cursor == "a5"


async def test_journal_goes_on_after_its_cursor(remote: LocalRemote, tmp_path: Path) -> None:
    journal = Tool(tmp_path, "journalctl", _JOURNAL, rounds=2000)
    journal.append(json.dumps({"__CURSOR": "a1", "MESSAGE": "one"}))
    async with following(remote, UNIT, FromEnd(1280)) as tail:
        await tail.until_data(b"one\n")
    journal.append(json.dumps({"__CURSOR": "a2", "MESSAGE": "two"}))
    async with following(remote, UNIT, tail.position) as again:
        await again.until_data(b"two\n")
    assert again.data == b"two\n"
    shown = "--follow --all --output=json --output-fields=MESSAGE"
    assert journal.calls.read_text().splitlines() == [
        f"{shown} --lines=10 --unit sglang.service",
        f"{shown} --no-tail --after-cursor=a1 --unit sglang.service",
    ]


HINT = "Hint: You are currently not seeing messages from other users and the system."


async def test_a_journal_that_this_account_may_not_see_says_so(remote: LocalRemote, tmp_path: Path) -> None:
    journal = Tool(tmp_path, "journalctl", _JOURNAL, rounds=2000)
    journal.append(HINT)
    async with following(remote, UNIT) as tail:
        await tail.until(lambda seen: "cannot_follow" in seen.notices)
    [notice] = [item for item in tail.items if isinstance(item, Notice)]
    assert notice.detail == (
        f"journalctl says: {HINT} No line of this unit came: add this account to the group systemd-journal, "
        "or restart the server through specttui with its output in a file."
    )


def test_a_hint_is_no_complaint_where_lines_come(monkeypatch: pytest.MonkeyPatch) -> None:
    """An account's own unit is seen without the journal's groups, and journalctl hints all the same."""
    monkeypatch.setattr(follow_command, "_DOUBT_S", 0.1)
    monkeypatch.setattr(follow_command, "_SILENCE_S", 1.0)
    frames = Frames("a1")
    entry = json.dumps({"__CURSOR": "a1", "MESSAGE": "a line"})

    class Own(follow_command.Journal):
        def argv(self) -> list[str]:
            program = f"import time; print({HINT!r}); print({entry!r}, flush=True); time.sleep(60)"
            return [sys.executable, "-c", program]

    parameters = {"tool": "user", "name": "sglang.service", "lines": 0, "cursor": ""}
    assert follow_command.Relay(Own(parameters), frames).run() == 0  # type: ignore[arg-type]
    assert (frames.data, frames.notices) == (b"a line\n", [])


class Silent:
    """A tool's log that gives one line and then falls silent, as docker's does after some rotations."""

    cursor = ""
    said = b""
    doubt = ""

    def argv(self) -> list[str]:
        return [sys.executable, "-c", "import time; print('a line', flush=True); time.sleep(60)"]

    def text(self, line: bytes, out: object) -> bytes:
        self.cursor = "here"
        return line


class Frames:
    """Keeps what is sent."""

    def __init__(self, cursor: str) -> None:
        self.data = b""
        self.notices: list[str] = []
        self._cursor = cursor

    def check_reader(self) -> None:
        return

    def notice(self, what: str, detail: str = "") -> None:
        self.notices.append(what)

    def send(self, kind: str, data: bytes = b"", **fields: object) -> None:
        assert (kind, fields["cursor"]) == ("data", self._cursor)
        self.data += data


def test_a_tool_that_falls_silent_is_ended_so_that_it_is_called_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """CASES E03: `docker logs --follow` can stop for ever while the container goes on."""
    monkeypatch.setattr(follow_command, "_SILENCE_S", 0.3)
    frames = Frames("here")
    relay = follow_command.Relay(Silent(), frames)  # type: ignore[arg-type]
    assert relay.run() == 0
    assert frames.data == b"a line\n"
