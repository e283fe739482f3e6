# ruff: noqa: ASYNC240 - the files of a test are small and local
"""API keys and tokens of a server's command line and environment stay between it and its host."""

from __future__ import annotations

import dataclasses
import stat
from pathlib import Path

import pytest
from support.demo_sessions import connected, options_for
from support.live_demo import decoding, until
from support.prompters import ScriptedPrompter

from specttui.demo.host import DemoHost
from specttui.launch.edits import SetEnv, SetFlag
from specttui.session.checking import check
from specttui.session.checking_text import check_json, check_text
from specttui.session.doctor import examine
from specttui.session.export import render

API_KEY = "SECRET123"
TOKEN = "hf_SecretSecretSecretSecret99"
ADDED = "another-secret-password"
URL_PASSWORD = "pass-in-a-url"
SECRETS = (API_KEY, TOKEN, ADDED, URL_PASSWORD)


def said_in(text: str) -> list[str]:
    return [secret for secret in SECRETS if secret in text]


def kept(folder: Path) -> list[Path]:
    """All files that the session left on this machine."""
    return [path for path in folder.rglob("*") if path.is_file()]


@pytest.fixture
async def demo():
    env = {"HF_TOKEN": TOKEN, "HTTPS_PROXY": f"http://me:{URL_PASSWORD}@proxy:3128"}
    async with DemoHost(profile="h200", speed=20, steps=3, flags=("--api-key", API_KEY), env=env) as host:
        yield host


async def test_no_secret_is_in_recordings_reports_logs_or_on_the_screen(
    demo: DemoHost, home_of_its_own: Path
) -> None:
    async with connected(demo) as (session, _):
        await until(session, decoding)
        await session.back_up()
        await session.patch()
        diff = session.preview_restart([SetEnv("MY_PASSWORD", ADDED)])
        await session.restart([SetFlag("--speculative-num-steps", "2"), SetEnv("MY_PASSWORD", ADDED)])
        await session.run_load(2, 4, 8)
        snapshot = await until(session, decoding)
        report = await session.export()
        assert session.launch is not None
        assert session.launch.env["HF_TOKEN"] == TOKEN
        assert session.launch.env["MY_PASSWORD"] == ADDED
        assert API_KEY in session.launch.argv
        await session.restore()
        await session.add_note("done")
        folder = session.folder.path
    shown = (repr(dataclasses.asdict(snapshot)), repr(diff.lines), repr(diff.changes), repr(diff.warnings))
    assert [said_in(text) for text in shown] == [[], [], [], []]
    assert {path.relative_to(folder).name for path in kept(folder)} >= {"events.jsonl", report.name}
    assert {path: said_in(path.read_text("utf-8", "replace")) for path in kept(home_of_its_own)} == {
        path: [] for path in kept(home_of_its_own)
    }
    for form in ("markdown", "json", "csv", "trace"):
        assert said_in(render(folder, form)) == []


async def test_no_secret_is_printed_by_check_and_doctor(demo: DemoHost) -> None:
    checked = await check(options_for(demo), ScriptedPrompter())
    examination = await examine(options_for(demo), ScriptedPrompter())
    assert len(checked.discovery.servers) == 1
    for text in (check_text(checked), repr(check_json(checked)), examination.as_text(), repr(examination)):
        assert "sglang" in text.lower()
        assert said_in(text) == []


async def test_what_a_session_keeps_is_for_its_user_alone(demo: DemoHost, home_of_its_own: Path) -> None:
    async with connected(demo) as (session, _):
        await session.patch()
        await session.export()
        await session.restore()
        folder = session.folder.path
    every = [folder, *folder.rglob("*")]
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in every}
    expected = {path.name: 0o700 if path.is_dir() else 0o600 for path in every}
    assert modes == expected
    assert {"events.jsonl", "report.md", "backups"} <= set(modes)
    startup = [path for path in home_of_its_own.rglob("*") if path.is_file()]
    assert {path.name: stat.S_IMODE(path.stat().st_mode) & 0o077 for path in startup} == {
        path.name: 0 for path in startup
    }
    on_host = list((demo.home / ".cache" / "specttui").rglob("*"))
    assert on_host
    readable = [path.name for path in on_host if path.stat().st_mode & 0o077 and path.is_file()]
    assert [name for name in readable if not name.startswith("probe-")] == []
