"""A whole session, logged in as an engineer through a real sshd, with a server of somebody else's."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest
from support.accounts import PASSWORD, Account
from support.fake_sglang import FakeServer, alive
from support.foreign_desk import ASKING, FREE, QUICK, all_of
from support.foreign_server import HOSTILE, SECRETS, env_of, numbers_of, server_of
from support.logins import options_for, target_of
from support.prompters import ScriptedPrompter
from support.sshd import Sshd, make_key
from support.waiting import eventually

from specttui.errors import LaunchError
from specttui.events import ServerReady
from specttui.host.readiness import ReadyLimits
from specttui.launch.edits import SetEnv
from specttui.session.doctor import examine
from specttui.session.doctor.findings import Finding
from specttui.session.options import SessionOptions
from specttui.session.session import Session

pytestmark = pytest.mark.openssh

LL = SetEnv("NCCL_PROTO", "LL")


@pytest.fixture
def server(engineer: Account, owner: Account) -> Iterator[FakeServer]:
    """The owner's, with a log that only the owner may read."""
    with server_of(owner, engineer.folder / "server") as running:
        running.log.chmod(0o600)
        yield running


@pytest.fixture
def options(engineer: Account, server: FakeServer, tmp_path: Path) -> Iterator[SessionOptions]:
    key = make_key(tmp_path / "id_ed25519")
    public = Path(shutil.copy(key.with_suffix(".pub"), engineer.folder))
    with Sshd(engineer.folder, public) as sshd:
        yield SessionOptions(
            target_of(sshd, engineer.name),
            options_for(sshd, tmp_path, key),
            server_port=server.port,
            stop_limits=QUICK,
            ready_limits=ReadyLimits(poll_s=0.2),
        )


@asynccontextmanager
async def session_of(
    options: SessionOptions, *answers: str | None
) -> AsyncIterator[tuple[Session, ScriptedPrompter]]:
    prompter = ScriptedPrompter(answers=list(answers))
    session = Session(options, prompter)
    try:
        await session.start()
        yield session, prompter
    finally:
        await session.close()
    recorded = (session.folder.path / "events.jsonl").read_text()
    assert [secret for secret in (PASSWORD, "battery", *SECRETS) if secret in recorded] == []


async def restarted(session: Session, server: FakeServer, owner: Account) -> None:
    """Restart with another variable: the owner's server goes, and comes back as the owner's."""
    before = env_of(server.pid)
    assert session.preview_restart([LL]).errors == ()
    ready: list[int] = []
    session.emitter.listen(
        lambda envelope: ready.append(envelope.event.pid) if isinstance(envelope.event, ServerReady) else None
    )
    await session.restart([LL])
    assert [alive(pid) for pid in all_of(server)] == [False] * 4
    assert env_of(ready[0]) == before | {"NCCL_PROTO": "LL"}
    assert numbers_of(ready[0])["Uid"] == [str(owner.uid)] * 4
    assert session.launch is not None
    assert session.launch.env["HOSTILE"] == HOSTILE
    assert session.launch.log_path == str(server.log)


def followers(owner: Account) -> list[int]:
    """The programs of ours that follow a log as the owner."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            ours = b"follow_file" in (entry / "cmdline").read_bytes()
            if ours and entry.stat().st_uid == owner.uid:
                found.append(int(entry.name))
    return found


async def test_without_a_password(options: SessionOptions, server: FakeServer, owner: Account):
    async with session_of(options) as (session, prompter):
        await eventually(lambda: session.snapshot().log_lines != ())
        await restarted(session, server, owner)
        await restarted_again(session, owner)
        assert len(followers(owner)) == 1
    assert prompter.questions == []
    await eventually(lambda: followers(owner) == [])


async def restarted_again(session: Session, owner: Account) -> None:
    """The session goes on with the server that it started."""
    assert session.state.server is not None
    pid = session.state.server.pid
    await session.restart_last_good()
    assert not alive(pid)
    assert session.state.server.pid != pid
    assert numbers_of(session.state.server.pid)["Uid"] == [str(owner.uid)] * 4


async def test_with_a_password(
    engineer: Account, options: SessionOptions, server: FakeServer, owner: Account
):
    engineer.may(ASKING)
    async with session_of(options, None, PASSWORD) as (session, prompter):
        assert prompter.questions == []
        assert "Look again (f5) and give your password for sudo" in session.preview_restart([LL]).errors[0]
        for restart in (session.restart([LL]), session.restart_last_good()):
            with pytest.raises(LaunchError, match="This server cannot be restarted from here"):
                await restart
        assert [alive(pid) for pid in all_of(server)] == [True] * 4
        await session.rediscover()
        assert len(prompter.questions) == 1
        assert session.state.run is not None
        assert session.state.run.run_id == 1
        await session.rediscover()
        assert [question.title for question in prompter.questions] == [f"sudo on {session.name}"] * 2
        await restarted(session, server, owner)
        assert len(followers(owner)) == 1
    assert len(prompter.questions) == 2
    await eventually(lambda: followers(owner) == [])


@pytest.mark.parametrize(
    ("rule", "status", "words"),
    [
        (FREE, "ok", "signals and start go through sudo as OWNER"),
        (ASKING, "warn", "ENGINEER may not read its environment. sudo asks for a password."),
    ],
)
async def test_the_doctor_says_whether_a_restart_would_work(
    engineer: Account, owner: Account, options: SessionOptions, rule: str, status: str, words: str
):
    engineer.may(rule)
    found: dict[str, Finding] = {
        finding.step: finding for finding in (await examine(options, ScriptedPrompter())).findings
    }
    assert found["restarts"].status == status
    assert found["restarts"].detail.endswith(
        words.replace("OWNER", owner.name).replace("ENGINEER", engineer.name)
    )
    assert found["log"].status == ("ok" if status == "ok" else "fail")


@pytest.fixture(autouse=True)
def free(engineer: Account) -> None:
    engineer.may(FREE)
