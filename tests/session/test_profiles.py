"""What a profile changes about a session: a container to go through, sudo, the user's own workers."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
from support import fake_docker, fake_sudo
from support.demo_sessions import options_for
from support.live_demo import decoding, started_session, until
from support.prompters import ScriptedPrompter

from specttui.config.reader import parse
from specttui.demo.host import DemoHost
from specttui.events import FileState
from specttui.launch.edits import SetFlag
from specttui.probe import remove
from specttui.session.checking import check
from specttui.session.restoring import restore
from specttui.session.session import Session

PASSWORD = "correct horse"


@pytest.fixture
async def demo() -> AsyncIterator[DemoHost]:
    async with DemoHost(profile="h200", speed=20, steps=3) as host:
        await host.wait_ready()
        yield host


async def test_a_whole_session_through_a_container(demo: DemoHost, tmp_path: Path) -> None:
    docker = fake_docker.install(tmp_path / "docker", "box")
    (docker.root("box") / "bin").symlink_to(demo.scratch.programs)
    original = demo.worker_path.read_bytes()
    options = replace(options_for(demo), via=docker.via("box"))
    async with started_session(options) as session:
        await until(session, decoding)
        await session.patch()
        assert remove(demo.worker_path.read_bytes()) == original
        await session.restart([SetFlag("--speculative-num-steps", "2")])
        measured = await until(session, lambda now: decoding(now) and now.probe.status == "live")
        assert [run.label for run in measured.runs] == ["steps 3", "steps 2"]
    said = (await restore(options, prompter=ScriptedPrompter())).splitlines()
    assert said[0].endswith(")")
    assert demo.worker_path.read_bytes() == original
    assert (docker.root("box") / ".cache" / "specttui").is_dir()
    assert not (demo.home / ".cache").exists()
    assert {tuple(call[:3]) for call in docker.calls()} == {("exec", "-i", "box")}


def _with_sudo(demo: DemoHost) -> fake_sudo.FakeSudo:
    """A sudo on the host's PATH, and a worker's folder that only it may write."""
    return fake_sudo.install(demo.scratch.root / "sudo", demo.worker_path.parent)


async def _patched_through_sudo(demo: DemoHost, session: Session) -> None:
    preview = await session.preview_patch()
    assert preview.way == "file"
    await session.patch()
    assert remove(demo.worker_path.read_bytes()) != demo.worker_path.read_bytes()


async def test_a_worker_file_that_is_roots_with_a_password(demo: DemoHost) -> None:
    original = demo.worker_path.read_bytes()
    stand_in = _with_sudo(demo)
    stand_in.wants(PASSWORD)
    for name in ("sudo", "dd", "mv", "rm"):
        (demo.scratch.programs / name).symlink_to(stand_in.folder / name)
    prompter = ScriptedPrompter(answers=[PASSWORD])
    session = Session(replace(options_for(demo), sudo="yes"), prompter)
    try:
        await session.start()
        await _patched_through_sudo(demo, session)
        await session.restore()
        assert demo.worker_path.read_bytes() == original
        recorded = (session.folder.path / "events.jsonl").read_text()
    finally:
        await session.close()
    assert [question.echo for question in prompter.questions] == [False]
    assert PASSWORD not in recorded
    assert not [word for call in stand_in.calls() for word in call if PASSWORD in word]


MINE = """
class HomeMadeWorker:
    def decode_once(self, batch):
        drafts = self.proposer.propose(batch)
        return self.judge(batch, drafts)
"""
SETTINGS = """
[[targets]]
class = "HomeMadeWorker"
cycle_method = "decode_once"
phases = { draft = "self.proposer.propose", verify = "self.judge" }
"""


async def test_a_users_own_target_makes_an_unknown_worker_known(demo: DemoHost) -> None:
    demo.worker_path.write_text(MINE)
    unknown = await check(options_for(demo), ScriptedPrompter())
    assert unknown.discovery.servers[0].info.worker.class_name == "EAGLEWorkerV2"
    assert unknown.discovery.servers[0].info.worker.family == ""
    targets = parse(SETTINGS, Path("/settings.toml")).probe_targets
    options = replace(options_for(demo), targets=targets)
    worker = (await check(options, ScriptedPrompter())).discovery.servers[0].info.worker
    assert (worker.class_name, worker.family, worker.state) == (
        "HomeMadeWorker", "custom", FileState.ORIGINAL,
    )  # fmt: skip
    async with started_session(options) as session:
        preview = await session.preview_patch()
        assert sorted(preview.phases_found) == ["accept_counts", "draft", "verify"]
        assert preview.cycle_method == "decode_once"
        await session.patch()
        assert remove(demo.worker_path.read_bytes()) == MINE.encode()
        await session.restore()


async def test_a_users_own_target_names_a_file_that_no_rule_leads_to(demo: DemoHost) -> None:
    (demo.worker_path.parent / "home_made_worker.py").write_text(MINE)
    for known in ("eagle_worker.py", "eagle_worker_v2.py"):
        (demo.worker_path.parent / known).unlink()
    targets = parse(SETTINGS, Path("/settings.toml")).probe_targets
    found = (await check(replace(options_for(demo), targets=targets), ScriptedPrompter())).discovery.servers[
        0
    ]
    assert found.info.worker.path.endswith("/home_made_worker.py")
    assert found.choice.why == "a target in the settings names it"
