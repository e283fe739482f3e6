"""Where the output goes, and what to do where it cannot be followed."""

from __future__ import annotations

import pytest

from specttui.events import LogKind, LogSource, Manager, ManagerKind
from specttui.host.facts import Output, Reader
from specttui.host.log_source import log_source, proposal

DOCKER = Manager(kind=ManagerKind.DOCKER, name="abc", detail="docker")
SYSTEMD = Manager(kind=ManagerKind.SYSTEMD, name="s.service", detail="system")
TMUX = Manager(kind=ManagerKind.TMUX, name="%1")
TEE = Reader(pid=7, title="tee", files=("/old", "/logs/tee.log"))
OTHER = Reader(pid=7, title="my-forwarder", files=("/data/x",))


@pytest.mark.parametrize(
    ("output", "manager", "expected"),
    [
        (Output(stdout="/a", stderr="/b"), Manager(), LogSource(kind=LogKind.FILE, path="/b")),
        (
            Output(stderr="/b", root="/proc/5/root"),
            DOCKER,
            LogSource(kind=LogKind.FILE, path="/proc/5/root/b"),
        ),
        (
            Output(stderr="/b.log (deleted)", descriptor="/proc/5/fd/2"),
            Manager(),
            LogSource(kind=LogKind.FILE, path="/proc/5/fd/2", detail="deleted: /b.log"),
        ),
        (Output(stderr="/dev/null"), DOCKER, LogSource(kind=LogKind.NULL, path="/dev/null")),
        (
            Output(stderr="/dev/pts/3"),
            TMUX,
            LogSource(kind=LogKind.TERMINAL, path="/dev/pts/3", detail="tmux"),
        ),
        (Output(stderr="/dev/pts/0"), DOCKER, LogSource(kind=LogKind.DOCKER, path="abc", detail="docker")),
        (Output(stderr="pipe:[12]"), DOCKER, LogSource(kind=LogKind.DOCKER, path="abc", detail="docker")),
        (
            Output(stderr="socket:[12]"),
            SYSTEMD,
            LogSource(kind=LogKind.JOURNAL, path="s.service", detail="system"),
        ),
        (
            Output(stderr="pipe:[12]", readers=(TEE,)),
            TMUX,
            LogSource(kind=LogKind.FILE, path="/logs/tee.log", detail="written by tee"),
        ),
        (
            Output(stderr="pipe:[12]", readers=(OTHER,)),
            Manager(),
            LogSource(kind=LogKind.PIPE, detail="pipe:[12]"),
        ),
        (Output(), Manager(), LogSource(kind=LogKind.UNKNOWN)),
    ],
)
def test_sources(output: Output, manager: Manager, expected: LogSource) -> None:
    assert log_source(output, manager) == expected


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        (LogKind.TERMINAL, ">> FILE 2>&1"),
        (LogKind.NULL, ">> FILE 2>&1"),
        (LogKind.UNKNOWN, ">> FILE 2>&1"),
        (LogKind.PIPE, "the program at the pipe's end"),
    ],
)
def test_what_cannot_be_followed_has_a_proposal(kind: LogKind, words: str) -> None:
    assert words in proposal(LogSource(kind=kind))


@pytest.mark.parametrize("kind", [LogKind.FILE, LogKind.DOCKER, LogKind.JOURNAL])
def test_what_can_be_followed_has_none(kind: LogKind) -> None:
    assert proposal(LogSource(kind=kind, path="x")) == ""
