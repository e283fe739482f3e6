"""`specttui doctor` against real OpenSSH servers, as people have set theirs up."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.logins import options_for, target_of
from support.prompters import ScriptedPrompter
from support.sshd import Sshd, find_shell, make_key

from specttui.session.doctor import examine
from specttui.session.doctor.findings import Finding
from specttui.session.options import SessionOptions

pytestmark = pytest.mark.openssh


@pytest.fixture
def key(tmp_path: Path) -> Path:
    return make_key(tmp_path / "id_ed25519")


async def steps(server: Sshd, folder: Path, *keys: Path) -> dict[str, Finding]:
    connect = options_for(server, folder, *keys, probe_timeout_s=10.0)
    options = SessionOptions(target_of(server, server.user), connect)
    examination = await examine(options, ScriptedPrompter())
    for finding in examination.findings:
        assert (finding.remedy != "") == (finding.status in {"warn", "fail"}), finding
    return {finding.step: finding for finding in examination.findings}


@pytest.mark.parametrize("shell", ["bash", "dash", "fish", "tcsh"])
async def test_every_login_shell_passes(tmp_path: Path, key: Path, shell: str):
    with Sshd(tmp_path / "sshd", key.with_suffix(".pub"), find_shell(shell)) as server:
        found = await steps(server, tmp_path, key)
    assert "SSH-2.0-OpenSSH" in found["port"].detail
    works = [
        "host key",
        "authentication",
        "commands",
        "shells",
        "start-up files",
        "sessions",
        "system",
        "python",
    ]
    assert {step: found[step].status for step in works} == dict.fromkeys(works, "ok")
    assert found["authentication"].detail == f"key {key}"
    assert found["sessions"].detail == "4 commands at a time"
    assert found["sftp"].status == "info"
    assert found["sftp"].detail.startswith("does not work (")


async def test_d10_a_server_that_allows_two_sessions_is_a_warning(tmp_path: Path, key: Path):
    with Sshd(tmp_path / "sshd", key.with_suffix(".pub"), settings=("MaxSessions 2",)) as server:
        found = await steps(server, tmp_path, key)
    assert found["sessions"].status == "warn"
    assert found["sessions"].detail == "The server allows 2 commands at a time; specttui would use 4."
    assert "MaxSessions" in found["sessions"].remedy
    assert found["python"].status == "ok"


async def test_d14_a_start_up_file_that_prints_and_breaks_sftp(tmp_path: Path, key: Path):
    chatty = tmp_path / "chatty"
    chatty.write_text('#!/bin/sh\nprintf "\\033[33mHello\\033[0m\\n"\nexec /bin/sh "$@"\n')
    chatty.chmod(0o755)
    with Sshd(tmp_path / "sshd", key.with_suffix(".pub"), str(chatty)) as server:
        found = await steps(server, tmp_path, key)
    assert found["start-up files"].status == "warn"
    assert "Hello" in found["start-up files"].detail
    assert found["sftp"].detail.endswith("it is not needed")
    assert found["python"].status == "ok"


async def test_sftp_that_works_is_said(tmp_path: Path, key: Path):
    # Without a forced command the subsystem is the server's own.
    settings = ("Subsystem sftp internal-sftp", "Match User nobody", "ForceCommand false", "Match all")
    with Sshd(tmp_path / "sshd", key.with_suffix(".pub"), settings=settings) as server:
        found = await steps(server, tmp_path, key)
    assert found["sftp"].detail == "works; it is not needed"


async def test_d15_an_account_for_file_transfer_alone(tmp_path: Path, key: Path):
    settings = ("Subsystem sftp internal-sftp", "ForceCommand internal-sftp")
    with Sshd(tmp_path / "sshd", key.with_suffix(".pub"), settings=settings) as server:
        found = await steps(server, tmp_path, key)
    assert (found["authentication"].status, found["commands"].status) == ("ok", "fail")
    assert "python" not in found


async def test_a_key_that_the_host_does_not_take(tmp_path: Path, key: Path):
    with Sshd(tmp_path / "sshd", key.with_suffix(".pub")) as server:
        found = await steps(server, tmp_path, make_key(tmp_path / "wrong"))
    assert found["host key"].status == "ok"
    assert found["authentication"].status == "fail"
    assert "The host takes: publickey." in found["authentication"].detail
