"""`specttui doctor`: every step that works is said, every one that does not ends with what to do."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from support.demo_sessions import options_for as demo_options
from support.fake_docker import install as install_docker
from support.local_remote import LocalRemote
from support.logins import options_for, target_of
from support.prompters import ScriptedPrompter
from support.ssh_server import SshServer
from support.sshd import make_key

from specttui.demo.host import DemoHost
from specttui.host.files import GuardedFile
from specttui.host.locks import this_machine as this_user
from specttui.host.remote import CommandResult
from specttui.host.target import ConnectOptions, Target
from specttui.probe.patch import apply
from specttui.session.doctor import Examination, examine
from specttui.session.doctor.findings import Finding, Findings
from specttui.session.doctor.inside import inside
from specttui.session.doctor.way_in import this_machine
from specttui.session.options import SessionOptions

ALL_STEPS = [
    "ssh configuration", "name", "port", "host key", "authentication", "commands", "shells", "start-up files",
    "sessions", "sftp", "system", "tools", "cache folder", "python", "leftovers", "GPUs", "SGLang", "log",
    "worker file", "writing it", "disk", "restarts",
]  # fmt: skip


@pytest.fixture
async def demo() -> AsyncIterator[DemoHost]:
    async with DemoHost(speed=20, steps=3) as host:
        await host.wait_ready()
        yield host


async def examined(options: SessionOptions) -> Examination:
    return await examine(options, ScriptedPrompter())


def by_step(examination: Examination) -> dict[str, Finding]:
    return {finding.step: finding for finding in examination.findings}


async def test_a_host_on_which_everything_works(demo: DemoHost) -> None:
    examination = await examined(demo_options(demo))
    assert [finding.step for finding in examination.findings] == ALL_STEPS
    assert {finding.status for finding in examination.findings} == {"ok", "info"}
    assert examination.healthy
    steps = by_step(examination)
    assert steps["port"].detail.startswith(f"{demo.port} open after ")
    assert "SSH-2.0-AsyncSSH" in steps["port"].detail
    assert steps["authentication"].detail == f"key {demo.client_key_path}"
    assert steps["sessions"].detail == "4 commands at a time"
    assert steps["GPUs"].detail.startswith("8 x ")
    assert f"port {demo.server_port}, serving" in steps["SGLang"].detail
    assert steps["log"].detail == f"file {demo.log_path}"
    assert steps["worker file"].detail == f"EAGLEWorkerV2 (EAGLE v2) in {demo.worker_path}, original"
    assert steps["cache folder"].detail == f"{demo.home}/.cache/specttui can be written"


async def test_nothing_is_changed_on_the_host(demo: DemoHost) -> None:
    log, before = demo.log_path, {path: path.stat().st_mtime_ns for path in demo.scratch.site.rglob("*.py")}
    await examined(demo_options(demo))
    assert {path: path.stat().st_mtime_ns for path in demo.scratch.site.rglob("*.py")} == before
    assert [path.name for path in demo.home.iterdir() if path.name not in {"models", log.name}] == []


async def test_the_report_has_a_word_per_step_and_json_says_the_same(demo: DemoHost) -> None:
    examination = await examined(demo_options(demo))
    lines = examination.as_text().splitlines()
    assert lines[0] == "demo"
    assert [line.split()[0] for line in lines[1:-1]] == [each.status for each in examination.findings]
    assert lines[-1] == "21 ok, 0 warn, 0 fail"
    data = json.loads(json.dumps(examination.as_data()))
    assert (data["host"], data["healthy"]) == ("demo", True)
    assert data["steps"][1] == {
        "step": "name", "status": "ok", "detail": "127.0.0.1", "remedy": "",
    }  # fmt: skip


async def test_a_patched_file_and_a_server_that_is_not_there(demo: DemoHost) -> None:
    original = demo.worker_path.read_bytes()
    demo.worker_path.write_bytes(apply(original, session_id="s1", utc="2026-11-29T12:00:00Z"))
    patched = by_step(await examined(demo_options(demo)))["worker file"]
    assert (patched.status, patched.remedy) == (
        "warn",
        "Go on with it, or bring the original back: specttui restore demo",
    )
    findings = (await examined(replace(demo_options(demo), server_port=1))).findings
    # Other tests' servers come and go on this machine, and are told of as well.
    missing = next(each for each in findings if each.detail == "No SGLang server serves port 1.")
    assert (missing.step, missing.status) == ("SGLang", "fail")
    assert missing.remedy.startswith("These ports are served: ")
    assert str(demo.server_port) in missing.remedy


async def test_what_dead_sessions_left_and_living_ones_use_is_named(demo: DemoHost, tmp_path: Path) -> None:
    remote = LocalRemote(demo.home)
    guarded = GuardedFile(remote, str(demo.worker_path), "s1", tmp_path)
    backup = (await guarded.back_up()).remote_path
    living = by_step(await examined(demo_options(demo)))
    assert living["other sessions"].status == "info"
    who = f"Session s1 of {this_user()} works on {demo.worker_path}, taken "
    assert living["other sessions"].detail.startswith(who)
    assert living["leftovers"].detail == "none"
    await guarded.release()
    dead = by_step(await examined(demo_options(demo)))
    assert "other sessions" not in dead
    assert (dead["leftovers"].status, dead["leftovers"].detail) == (
        "warn",
        f"Dead sessions left: backup {backup}.",
    )
    assert dead["leftovers"].remedy.endswith("specttui restore demo")
    await guarded.restore()
    (demo.home / ".cache/specttui/probe-s1.json").write_text("{}")
    harmless = by_step(await examined(demo_options(demo)))["leftovers"]
    assert (harmless.status, harmless.detail) == (
        "info",
        "1 old control files and launch scripts, which harm nobody",
    )


async def test_through_a_transport(demo: DemoHost, tmp_path: Path) -> None:
    docker = install_docker(tmp_path / "docker", "box")
    (docker.root("box") / "bin").symlink_to(demo.scratch.programs)
    options = replace(demo_options(demo), via=docker.via("box"))
    examination = await examined(options)
    assert examination.healthy
    steps = by_step(examination)
    assert steps["transport"].detail.endswith(f"({docker.program} exec -i box)")
    assert steps["cache folder"].detail == f"{docker.root('box')}/.cache/specttui can be written"
    gone = await examined(replace(options, via=docker.via("gone")))
    last = gone.findings[-1]
    assert (last.step, last.status) == ("transport", "fail")
    assert "No such container: gone" in last.detail
    assert "docker exec: -i" in last.remedy


# The way in


async def last_step(options: SessionOptions) -> Finding:
    """The step at which the examination ended; it failed, with a remedy."""
    examination = await examined(options)
    assert not examination.healthy
    last = examination.findings[-1]
    assert last.status == "fail"
    assert last.remedy
    assert "What to do: " + last.remedy in examination.as_text()
    return last


async def test_a_name_that_nobody_knows() -> None:
    # Two dots in a row are no name, so nobody is asked for it.
    options = SessionOptions(Target("no..host"), ConnectOptions(use_ssh_config=False))
    last = await last_step(options)
    assert last.step == "name"
    assert last.detail.startswith("no..host is not known: ")


async def test_a_port_on_which_nobody_listens(demo: DemoHost) -> None:
    options = demo_options(demo)
    port = demo.port
    await demo.ssh.stop()
    last = await last_step(options)
    assert last.step == "port"
    assert last.detail.startswith(f"127.0.0.1, port {port}: ")


async def test_an_ssh_configuration_that_cannot_be_read(tmp_path: Path) -> None:
    config = tmp_path / "config"
    config.write_text("Host gpu\n  ServerAliveInterval 30s\n")
    options = SessionOptions(Target("gpu"), ConnectOptions(ssh_config_paths=(config,)))
    last = await last_step(options)
    assert last.step == "ssh configuration"
    assert str(config) in last.detail
    assert "--no-ssh-config" in last.remedy


async def test_every_setting_that_is_not_followed_is_named_once(demo: DemoHost, tmp_path: Path) -> None:
    config = tmp_path / "config"
    config.write_text(
        "Host *\n  StrictHostKeyChecking no\n  ControlMaster auto\n  ControlMaster yes\n"
        "  ProxyUseFdpass yes\n"
        f"Host gpu\n  HostName 127.0.0.1\n  Port {demo.port}\n  User {demo.username}\n"
    )
    known = demo_options(demo).connect
    connect = replace(known, use_ssh_config=True, ssh_config_paths=(config,))
    examination = await examined(replace(demo_options(demo), target=Target("gpu"), connect=connect))
    warned = [each for each in examination.findings if each.status == "warn"]
    assert [each.step for each in warned] == ["ssh configuration"] * 3
    assert f"{config}, line 2: StrictHostKeyChecking no is not followed" in warned[0].detail
    assert f"{config}, line 3: Connection sharing is not supported" in warned[1].detail
    assert f"{config}, line 5: ProxyUseFdpass is not supported" in warned[2].detail
    assert examination.healthy


@pytest.fixture
def key(tmp_path: Path) -> Path:
    return make_key(tmp_path / "id_ed25519")


def on(server: SshServer, folder: Path, *keys: Path) -> SessionOptions:
    return SessionOptions(target_of(server), options_for(server, folder, *keys))


async def test_a_host_key_that_is_not_known_or_not_the_one_on_record(tmp_path: Path, key: Path) -> None:
    async with SshServer(tmp_path / "server", authorized_keys=(key.with_suffix(".pub"),)) as server:
        options = on(server, tmp_path, key)
        other = make_key(tmp_path / "other").with_suffix(".pub").read_text()
        (tmp_path / "known_hosts").write_text(f"[127.0.0.1]:{server.port} {other}")
        changed = await last_step(options)
        (tmp_path / "known_hosts").write_text("")
        unknown = await last_step(options)
    assert (changed.step, unknown.step) == ("host key", "host key")
    assert "is not the one on record" in changed.detail
    assert "ssh-keygen -R" in changed.remedy
    assert "is not known and was not accepted" in unknown.detail


async def test_a_login_that_is_refused_says_what_was_tried(tmp_path: Path, key: Path) -> None:
    wrong = make_key(tmp_path / "wrong")
    async with SshServer(tmp_path / "server", authorized_keys=(key.with_suffix(".pub"),)) as server:
        last = await last_step(on(server, tmp_path, wrong))
    assert last.step == "authentication"
    assert f"Tried: key {wrong}. The host takes: publickey." in last.detail


async def test_d15_an_account_that_runs_no_commands(tmp_path: Path, key: Path) -> None:
    public = (key.with_suffix(".pub"),)
    async with SshServer(tmp_path / "server", authorized_keys=public, exec_allowed=False) as server:
        examination = await examined(on(server, tmp_path, key))
    assert [(each.step, each.status) for each in examination.findings[-3:]] == [
        ("host key", "ok"), ("authentication", "ok"), ("commands", "fail"),
    ]  # fmt: skip
    assert "account with a shell" in examination.findings[-1].remedy


async def test_d14_a_shell_that_prints_on_start(tmp_path: Path, key: Path) -> None:
    noise = b"\x1b[33mWelcome to\nthe cluster\x1b[0m\n"
    public = (key.with_suffix(".pub"),)
    async with SshServer(tmp_path / "server", authorized_keys=public, start_up_text=noise) as server:
        examination = await examined(on(server, tmp_path, key))
    said = by_step(examination)["start-up files"]
    assert said.status == "warn"
    assert "Welcome to the cluster" in said.detail.replace("\x1b[33m", "").replace("\x1b[0m", "")
    assert by_step(examination)["python"].status == "ok"


# Where commands end up


class AnsweringRemote:
    """Answers by the last word but one of what is run."""

    name = "odd-host"

    def __init__(self, answers: Mapping[str, CommandResult]) -> None:
        self._answers = answers

    async def run(self, argv, **options) -> CommandResult:
        for words, result in self._answers.items():
            if any(words in word for word in argv):
                return result
        return CommandResult(tuple(argv), 0, b"", b"")


def answer(stdout: bytes = b"", status: int = 0, stderr: bytes = b"") -> CommandResult:
    return CommandResult((), status, stdout, stderr)


LINUX = answer(b"Linux\n6.1.0\nproc\n")
OPTIONS = SessionOptions(Target("odd-host"))


@pytest.mark.parametrize(
    ("answers", "step", "detail", "goes_on"),
    [
        (
            {"uname": answer(b"Darwin\n23.1\n")},
            "system",
            "It is Darwin 23.1, without a readable /proc.",
            False,
        ),
        ({"uname": answer(b"")}, "system", "It is unknown, without a readable /proc.", False),
        (
            {"uname": LINUX, "command -v": answer(b"sha256sum dd "), "XDG_CACHE_HOME": answer(b"yes\n/c")},
            "tools",
            "These are missing: sha256sum, dd.",
            True,
        ),
        (
            {"uname": LINUX, "XDG_CACHE_HOME": answer(b"no\n/home/me/.cache/specttui")},
            "cache folder",
            "/home/me/.cache/specttui cannot be written.",
            True,
        ),
        (
            {
                "uname": LINUX,
                "XDG_CACHE_HOME": answer(b"yes\n/c"),
                "readlink": answer(status=127, stderr=b"no Python"),
            },
            "python",
            "no Python",
            False,
        ),
    ],
)
async def test_what_is_missing_on_the_host(
    answers: dict[str, CommandResult], step: str, detail: str, goes_on: bool
) -> None:
    found = Findings()
    assert await inside(AnsweringRemote(answers), OPTIONS, found) is goes_on  # type: ignore[arg-type]
    bad = [each for each in found.all if each.status in {"warn", "fail"}]
    assert [(each.step, each.detail) for each in bad] == [(step, detail)]
    assert bad[0].remedy


@pytest.mark.parametrize(("platform", "status"), [("win32", "warn"), ("darwin", "info"), ("linux", None)])
def test_d19_what_this_machine_does_not_support_is_said(platform: str, status: str | None) -> None:
    found = Findings()
    this_machine(platform, found)
    assert [each.status for each in found.all] == ([status] if status else [])
    if status == "warn":
        assert "ProxyCommand" in found.all[0].detail
        assert "WSL" in found.all[0].remedy
