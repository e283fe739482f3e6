# ruff: noqa: ASYNC240 - the files and programs of a test are small and local
"""Quotes, newlines, `$()` and escape sequences in names and values are names and values, nothing else."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st
from support import fake_sudo
from support.fake_sglang import start_fake
from support.local_remote import LocalRemote
from support.prompters import ScriptedPrompter
from support.tail_collector import following

from specttui.events import Launch, LogKind, LogSource
from specttui.host.discovery import discover
from specttui.host.files import GuardedFile
from specttui.host.managers.by_command import _changed, _expanded, _shell
from specttui.host.managers.way import Errand
from specttui.host.sudo import Sudo
from specttui.host.tail import WholeFile
from specttui.session.checking import Checked
from specttui.session.checking_text import check_text
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


texts = st.lists(st.sampled_from(PIECES) | st.text(), max_size=5).map(
    lambda parts: "".join(parts).replace("\0", "")
)


@settings(max_examples=15, deadline=None)
@given(st.lists(texts, max_size=4), st.binary(max_size=200))
async def test_any_words_and_input_reach_a_command_under_sudo(words: list[str], data: bytes) -> None:
    with tempfile.TemporaryDirectory() as made:
        home = Path(made) / "home"
        home.mkdir()
        stand_in = fake_sudo.install(Path(made) / "programs", home / "protected")
        stand_in.wants(password := "it's $(secret)")
        remote = LocalRemote(home, env=stand_in.env)
        sudo = Sudo(remote, ScriptedPrompter(answers=[password]), "yes")
        show = "import json, sys; json.dump([sys.argv[1:], list(sys.stdin.buffer.read())], sys.stdout)"
        result = await sudo.run([sys.executable, "-S", "-c", show, *words], stdin=data)
        assert not list(home.rglob("owned"))
    assert json.loads(result.stdout) == [words, list(data)]
    assert password not in " ".join(word for command in remote.commands for word in command)


@settings(max_examples=15, deadline=None)
@given(
    st.lists(texts, max_size=4),
    st.dictionaries(st.from_regex(r"MY_[A-Z0-9_]{0,6}", fullmatch=True), texts, max_size=4),
)
def test_a_start_command_of_the_users_is_told_any_words_and_variables_as_they_are(
    words: list[str], variables: dict[str, str]
) -> None:
    """The words that take the place of `{command}` and `{env}`, and the file that a shell script reads."""
    launch = Launch(argv=tuple(words), env={"KEPT": "1", **variables})
    changed = _changed(
        Errand(launch, "s1", base=Launch(argv=(), env={"KEPT": "1", "MY_": "old", "GONE": "x"}))
    )
    assert _expanded(["start", "{env}", "--", "{command}", "{commands}"], launch, changed) == [
        "start",
        *(f"{name}={value}" for name, value in sorted(variables.items()) if changed.get(name) == value),
        "--",
        *words,
        "{commands}",
    ]
    with tempfile.TemporaryDirectory() as made:
        script = Path(made) / "environment.sh"
        script.write_bytes(_shell(changed).encode("utf-8", "surrogateescape"))
        show = "import json, os, sys; json.dump(dict(os.environ), sys.stdout)"
        line = '. "$1"; exec "$2" -S -c "$3"'
        done = subprocess.run(
            ["/bin/sh", "-c", line, "sh", script, sys.executable, show],
            env={"KEPT": "1", "MY_": "old", "GONE": "x"}, cwd=made, capture_output=True, check=True,
        )  # fmt: skip
        assert not (Path(made) / "owned").exists()
    seen = {
        name: value for name, value in json.loads(done.stdout).items() if name not in {"PWD", "LC_CTYPE", "_"}
    }
    assert seen == launch.env
