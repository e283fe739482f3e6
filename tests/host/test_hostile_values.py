# ruff: noqa: ASYNC240 - the files and programs of a test are small and local
"""Quotes, newlines, `$()` and escape sequences in names and values are names and values, nothing else."""

from __future__ import annotations

import hashlib
import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st
from support.fake_sglang import start_fake
from support.local_remote import LocalRemote
from support.prompters import ScriptedPrompter
from support.tail_collector import following

from specttui.events import LogKind, LogSource
from specttui.host.discovery import discover
from specttui.host.files import GuardedFile
from specttui.host.sudo import Sudo
from specttui.host.tail import WholeFile
from specttui.session.checking import Checked, check_text
from specttui.session.printing import plain

ORIGINAL = b"original\n"
EVIL = "a'b\"c $(touch owned) `touch owned` ;touch owned\n\x1b]0;owned\x07\x1b[2J\\ -rf * %s {} #"
PIECES = (
    "'",
    '"',
    "$(touch owned)",
    "`touch owned`",
    "\n",
    "\x1b[2J",
    "\\",
    " ",
    "-rf",
    "*",
    "%s",
    "é",
    ";",
    "&",
)
names = (
    st.lists(st.sampled_from(PIECES) | st.text("ab.", max_size=3), min_size=1, max_size=6)
    .map("".join)
    .filter(lambda name: name not in {"", ".", ".."} and len(name.encode()) < 100)
)


@settings(max_examples=15, deadline=None)
@given(names, names)
async def test_a_file_with_any_name_is_patched_and_restored_and_no_other(folder: str, name: str) -> None:
    with tempfile.TemporaryDirectory() as made:
        home = Path(made)
        path = home / folder / name
        path.parent.mkdir()
        path.write_bytes(ORIGINAL)
        remote = LocalRemote(home)
        guarded = GuardedFile(remote, str(path), "s1", home / "local", Sudo(remote, ScriptedPrompter()))
        contents = await guarded.read()
        backup = await guarded.back_up(contents)
        await guarded.replace(b"patched\n", hashlib.sha256(ORIGINAL).hexdigest())
        assert path.read_bytes() == b"patched\n"
        assert Path(backup.remote_path).read_bytes() == ORIGINAL
        await guarded.restore()
        assert path.read_bytes() == ORIGINAL
        assert [each.name for each in path.parent.iterdir()] == [name]
        assert not list(home.rglob("owned"))


async def test_a_log_with_any_name_is_followed(tmp_path: Path) -> None:
    log = tmp_path / EVIL.replace("/", "_")
    log.write_bytes(b"line\n")
    async with following(
        LocalRemote(tmp_path), LogSource(kind=LogKind.FILE, path=str(log)), WholeFile()
    ) as seen:
        await seen.until_data(b"line\n")
    assert not list(tmp_path.rglob("owned"))


async def test_a_server_with_such_flags_variables_and_model_is_read_word_for_word(tmp_path: Path) -> None:
    server = start_fake(tmp_path, "--model-path", EVIL, fake={"MY_VARIABLE": EVIL, "SGLANG_EVIL": EVIL})
    remote = LocalRemote(tmp_path)
    try:
        discovery = await discover(remote, port=server.port)
    finally:
        server.kill()
    found = discovery.servers[0]
    assert found.launch.argv[-1] == EVIL
    assert (found.launch.env["MY_VARIABLE"], found.launch.env["SGLANG_EVIL"]) == (EVIL, EVIL)
    assert found.info.model_path == EVIL
    printed = plain(check_text(Checked("gpu-host", discovery, (None,))))
    assert "touch owned" in printed
    assert not set(printed) & {"\x1b", "\x07"}
    assert not list(tmp_path.rglob("owned"))
