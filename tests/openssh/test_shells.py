"""A real OpenSSH server with every login shell people have, and start-up files that talk."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from support.logins import options_for, target_of
from support.processes import survivors
from support.prompters import ScriptedPrompter
from support.sshd import Sshd, find_shell, make_key

from specttui.host.connection import Connection, connect

pytestmark = pytest.mark.openssh

SHELLS = ["sh", "bash", "dash", "fish", "tcsh"]
HOSTILE = [
    "",
    "it's",
    '"$HOME"',
    "$(id)",
    "`id`",
    "!!",
    "a\nb",
    "\\",
    "\\'",
    "%s",
    "*",
    "é漢😀",
    "-n",
    "\x1b]0;x\x07",
]
NOTICE = "printf '\\033[33mquota: 90 %%\\033[0m\\n'"


@pytest.fixture(params=SHELLS)
def shell(request: pytest.FixtureRequest) -> str:
    return find_shell(request.param)


@pytest.fixture
async def connection(tmp_path: Path, shell: str) -> AsyncIterator[Connection]:
    key = make_key(tmp_path / "id_ed25519")
    with Sshd(tmp_path / "sshd", key.with_suffix(".pub"), shell) as server:
        _talk_at_start(server.home)
        options = options_for(server, tmp_path, key)
        connection = await connect(target_of(server, server.user), ScriptedPrompter(), options)
        yield connection
        await connection.close()


def _talk_at_start(home: Path) -> None:
    """Start-up files that print a coloured notice on both outputs, for every shell."""
    notice = f"{NOTICE}; {NOTICE} >&2\n"
    for name in (".bashrc", ".profile", ".zshenv"):
        (home / name).write_text(notice)
    (home / ".tcshrc").write_text(f"{NOTICE}\n{NOTICE} > /dev/stderr\nset prompt='%# '\nset noglob\n")
    (home / ".config/fish").mkdir(parents=True)
    (home / ".config/fish/config.fish").write_text(f"{NOTICE}\n{NOTICE} >&2\n")


async def test_d13_arguments_arrive_as_they_were_meant(connection: Connection):
    result = await connection.run(["printf", "%s\\0", *HOSTILE])
    assert result.stdout == b"".join(word.encode() + b"\0" for word in HOSTILE)
    assert (result.stderr, result.exit_status) == (b"", 0)


async def test_d14_what_shells_print_at_start_reaches_no_result(connection: Connection):
    script = 'printf "%s|%s|" "$A" "$PWD"; cat; echo trouble >&2; exit 6'
    result = await connection.run(
        ["sh", "-c", script], stdin=b"\x00in", env={"A": "x 'y' !"}, cwd="/", timeout_s=60
    )
    assert (result.stdout, result.stderr, result.exit_status) == (b"x 'y' !|/|\x00in", b"trouble\n", 6)


async def test_a_stream_starts_clean_and_its_command_dies_with_it(connection: Connection, tmp_path: Path):
    pids = tmp_path / "pids"
    script = f"sleep 600 & echo $! $$ >{pids}; echo begun; exec sleep 600"
    async with connection.stream(["sh", "-c", script]) as chunks:
        assert await anext(chunks) == b"begun\n"
    assert await asyncio.to_thread(survivors, pids.read_text().split()) == []


async def test_a_command_that_takes_too_long_dies(connection: Connection, tmp_path: Path):
    pids = tmp_path / "pids"
    script = f"sleep 600 & echo $! $$ >{pids}; sleep 600"
    with pytest.raises(Exception, match="took longer than 3 s"):
        await connection.run(["sh", "-c", script], timeout_s=3)
    assert await asyncio.to_thread(survivors, pids.read_text().split()) == []
