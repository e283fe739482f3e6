# ruff: noqa: ASYNC221, ASYNC240 - the files and programs of a test are small and local
"""Starting: the same words, the same environment, detached, with nothing secret in sight."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.fake_sglang import alive
from support.local_remote import LocalRemote

from specttui.errors import LaunchError, ServerStartError
from specttui.events import Launch, ServerStarting
from specttui.host.remote_scripts import launch_script
from specttui.host.rights import Rights
from specttui.host.start import Started, before_start, start

_PRINTER = """\
import json, os, sys
facts = {"argv": sys.argv[1:], "env": dict(os.environ), "cwd": os.getcwd(), "sid": os.getsid(0),
         "links": [os.readlink(f"/proc/self/fd/{n}") for n in range(3)],
         "open": sorted(os.listdir("/proc/self/fd"))}
print("FACTS " + json.dumps(facts), flush=True)
sys.exit(7)
"""


@pytest.fixture
def remote(tmp_path: Path) -> LocalRemote:
    return LocalRemote(tmp_path)


@pytest.fixture
def printer(tmp_path: Path) -> Path:
    path = tmp_path / "printer.py"
    path.write_text(_PRINTER)
    return path


def wait_for(path: Path, text: str) -> str:
    """Wait until a text stands in a file."""
    deadline = time.monotonic() + 60
    while not path.exists() or text not in path.read_text(errors="replace"):
        assert time.monotonic() < deadline, path.read_text(errors="replace") if path.exists() else "no file"
        time.sleep(0.02)
    return path.read_text(errors="replace")


async def run_printer(remote: LocalRemote, launch: Launch) -> tuple[Started, dict[str, object]]:
    started = await start(remote, launch, "s1", lambda _: None)
    wait_for(Path(started.exit_path), "\n")
    text = Path(started.log_path).read_bytes()[started.log_offset :].decode()
    return started, json.loads(text.partition("FACTS ")[2])


async def test_words_environment_and_folder_arrive_unchanged(
    remote: LocalRemote, printer: Path, tmp_path: Path
) -> None:
    argv = (
        sys.executable,
        str(printer),
        "",
        "a b",
        "it's",
        '"$HOME"',
        "new\nline",
        "\\",
        "é▇😀",
        "--x=*",
        "-m",
        "#",
    )
    env = {"A": "", "B": "x=y\n'z' $HOME", "C": "▇", "LANG": "C", "HF_TOKEN": "hf_secret"}
    cwd = tmp_path / "a folder"
    cwd.mkdir()
    launch = Launch(argv=argv, env=env, cwd=str(cwd), log_path=str(tmp_path / "my server.log"))
    started, facts = await run_printer(remote, launch)
    assert facts["argv"] == list(argv[2:])
    seen = facts["env"]
    assert isinstance(seen, dict)
    assert {name: value for name, value in seen.items() if name != "LC_CTYPE"} == env
    assert facts["cwd"] == str(cwd)
    assert started.log_path == str(tmp_path / "my server.log")
    assert started.note == ""


async def test_it_is_detached(remote: LocalRemote, printer: Path) -> None:
    launch = Launch(argv=(sys.executable, str(printer)), cwd="/")
    started, facts = await run_printer(remote, launch)
    assert facts["sid"] not in {os.getsid(0), started.pid}
    assert facts["links"] == ["/dev/null", started.log_path, started.log_path]
    assert facts["open"] == ["0", "1", "2", "3"]  # 3 is the listing itself
    assert Path(started.exit_path).read_text() == "7\n"


async def test_files_in_the_cache_folder_are_for_the_user_only(
    remote: LocalRemote, printer: Path, tmp_path: Path
) -> None:
    launch = Launch(
        argv=(sys.executable, str(printer), "--api-key", "sk-1"), env={"HF_TOKEN": "hf_1"}, cwd="/"
    )
    started, _ = await run_printer(remote, launch)
    script = Path(started.script_path)
    assert script.parent == tmp_path / ".cache" / "specttui"
    assert script.parent.stat().st_mode & 0o777 == 0o700
    assert script.stat().st_mode & 0o777 == 0o700
    assert script.with_suffix(".env").stat().st_mode & 0o777 == 0o600
    assert Path(started.log_path).stat().st_mode & 0o777 == 0o600
    shown = [word for command in remote.commands for word in command]
    assert not any("hf_1" in word or "sk-1" in word for word in shown)


async def test_the_script_can_be_run_by_hand(remote: LocalRemote, printer: Path) -> None:
    started, facts = await run_printer(remote, Launch(argv=(sys.executable, str(printer), "x"), cwd="/"))
    again = subprocess.run([started.script_path], capture_output=True, check=False)
    assert again.returncode == 7
    by_hand = json.loads(again.stdout.decode().partition("FACTS ")[2])
    assert (by_hand["argv"], by_hand["env"]) == (facts["argv"], facts["env"])


async def test_the_log_is_appended_to(remote: LocalRemote, printer: Path, tmp_path: Path) -> None:
    log = tmp_path / "server.log"
    log.write_bytes(b"from before\n")
    launch = Launch(argv=(sys.executable, str(printer)), cwd="/", log_path=str(log))
    started, _ = await run_printer(remote, launch)
    assert started.log_offset == 12
    assert log.read_bytes().startswith(b"from before\nFACTS ")


async def test_a_log_that_cannot_be_written_is_replaced(
    remote: LocalRemote, printer: Path, tmp_path: Path
) -> None:
    launch = Launch(
        argv=(sys.executable, str(printer)), cwd="/", log_path=str(tmp_path / "no" / "server.log")
    )
    started, _ = await run_printer(remote, launch)
    assert Path(started.log_path).parent == tmp_path / ".cache" / "specttui"
    assert started.note == f"{tmp_path / 'no' / 'server.log'}: No such file or directory"


async def test_the_event_shows_no_secret(remote: LocalRemote, printer: Path) -> None:
    events: list[ServerStarting] = []
    launch = Launch(
        argv=(sys.executable, str(printer), "--api-key", "sk-123456"),
        env={"NCCL_PROTO": "LL", "X_TOKEN": "t"},
    )
    started = await start(remote, launch, "s1", events.append, label="steps 2, LL")
    assert [(event.pid, event.label) for event in events] == [(started.pid, "steps 2, LL")]
    assert events[0].launch.argv == (sys.executable, str(printer), "--api-key", "***")
    assert events[0].launch.env == {"NCCL_PROTO": "LL"}


async def test_a_missing_folder_says_so(remote: LocalRemote, printer: Path) -> None:
    launch = Launch(argv=(sys.executable, str(printer)), cwd="/no/such/folder")
    with pytest.raises(ServerStartError) as caught:
        await start(remote, launch, "s1", lambda _: None)
    assert caught.value.cause.endswith(
        "FileNotFoundError: [Errno 2] No such file or directory: '/no/such/folder'"
    )


async def test_an_account_without_a_home_has_its_files_elsewhere(tmp_path: Path, printer: Path) -> None:
    own = Path("/var/tmp") / f"specttui-{os.geteuid()}"
    known = own.exists()
    (tmp_path / "file").write_text("")
    remote = LocalRemote(tmp_path, env={"HOME": str(tmp_path / "file")})
    started, _ = await run_printer(remote, Launch(argv=(sys.executable, str(printer)), cwd="/"))
    folder = Path(started.script_path).parent
    try:
        assert folder == own / "specttui"
        assert own.stat().st_mode & 0o777 == 0o700
    finally:
        for path in folder.glob(f"{Path(started.script_path).stem}.*"):
            path.unlink()
        if not known:
            folder.rmdir()
            own.rmdir()


async def test_an_account_without_a_name_is_known_by_its_number(remote: LocalRemote, printer: Path) -> None:
    launch = Launch(argv=(sys.executable, str(printer)), cwd="/", user=str(os.geteuid()))
    started, _ = await run_printer(remote, launch)
    assert started.user == str(os.geteuid())


@pytest.mark.skipif(os.geteuid() != 0, reason="only root could become somebody else")
async def test_root_does_not_become_a_number(remote: LocalRemote, printer: Path) -> None:
    launch = Launch(argv=(sys.executable, str(printer)), cwd="/", user="3999999999")
    with pytest.raises(LaunchError) as refused:
        await before_start(remote, launch, Rights(remote))
    assert refused.value.title == "The server runs as 3999999999, and this account is root"


async def test_nothing_to_start_is_refused(remote: LocalRemote) -> None:
    with pytest.raises(LaunchError, match="There is no command to start"):
        await start(remote, Launch(argv=()), "s1", lambda _: None)
    assert remote.commands == []


async def test_it_outlives_the_connection(remote: LocalRemote) -> None:
    launch = Launch(argv=("sleep", "600"), env={"PATH": os.environ["PATH"]}, cwd="/")
    started = await start(remote, launch, "s1", lambda _: None)
    try:
        assert alive(started.pid)
        assert Path(f"/proc/{started.pid}/cmdline").read_bytes() == b"sleep\x00600\x00"
    finally:
        os.kill(started.pid, 9)


words = st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=12), max_size=6)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(arguments=words)
def test_any_words_survive_the_script(arguments: list[str], tmp_path: Path) -> None:
    base = str(tmp_path / "launch it's")
    Path(base + ".env").write_bytes(b"")
    argv = ["/usr/bin/printf", "%s\\0", "first", *arguments]
    text = launch_script.render(argv, "/", base, "any\ntitle")
    done = subprocess.run(["/bin/sh", "-c", text], capture_output=True, check=True)
    assert done.stdout == b"".join(word.encode() + b"\0" for word in ["first", *arguments])
