"""Sessions on a demo host, over its own SSH server or a real OpenSSH one, and what is read off them."""

from __future__ import annotations

import asyncio
import shlex
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import asyncssh

from specttui.demo.host import DemoHost
from specttui.events import Envelope, Event
from specttui.session.options import SessionOptions
from specttui.session.session import Session
from specttui.state.snapshot import RunRow, Snapshot
from specttui.ui.start import demo_options
from support.logins import options_for, target_of
from support.prompters import ScriptedPrompter
from support.sshd import Sshd

Kind = TypeVar("Kind", bound=Event)

#: As long as anything may take on a machine that is busy with other things.
PATIENCE_S = 60.0
_POLL_S = 0.05


def options_of(host: DemoHost) -> SessionOptions:
    """How `specttui demo` connects to its host."""
    return demo_options(host.demo_target(), host.server_port)


@contextmanager
def openssh_in_front_of(host: DemoHost, folder: Path, under: Sequence[str] = ()) -> Iterator[SessionOptions]:
    """OpenSSH's sshd as another door to the same demo host: same home, programs and environment.

    Args:
        host: The demo host.
        folder: Where the server's keys and configuration go.
        under: A program with arguments that runs every command, for instance to take rights away.
    """
    folder.mkdir(parents=True, exist_ok=True)
    public_key = folder / "authorized_key"
    asyncssh.read_private_key(str(host.client_key_path)).write_public_key(str(public_key))
    wrapper = folder / "as_on_the_demo_host"
    wrapper.write_text(_login_script(host, under))
    wrapper.chmod(0o755)
    with Sshd(folder, public_key, settings=(f"ForceCommand exec {wrapper}",)) as server:
        yield replace(
            options_of(host),
            target=target_of(server, server.user),
            connect=options_for(server, folder, host.client_key_path),
            mode="live",
        )


def _login_script(host: DemoHost, under: Sequence[str]) -> str:
    """What a login on the demo host finds, as a script that runs one command in it."""
    not_a_logins = {"PYTHONPATH", "SPECTTUI_DEMO_OWNER"}
    variables = [f"{name}={value}" for name, value in host.server_env.items() if name not in not_a_logins]
    command = shlex.join([*under, "env", "-i", *variables, "/bin/sh", "-c"])
    return f'#!/bin/sh\ncd {shlex.quote(str(host.home))} && exec {command} "$SSH_ORIGINAL_COMMAND"\n'


@asynccontextmanager
async def started_session(options: SessionOptions) -> AsyncIterator[Session]:
    """A session that is connected and has found its server; closed in the end."""
    async with unstarted_session(options) as session:
        await session.start()
        yield session


@asynccontextmanager
async def unstarted_session(options: SessionOptions) -> AsyncIterator[Session]:
    """A session that does nothing yet; closed in the end."""
    session = Session(options, ScriptedPrompter())
    try:
        yield session
    finally:
        await session.close()


class Recorder:
    """Keeps the events of a session from now on."""

    def __init__(self, session: Session) -> None:
        self.envelopes: list[Envelope] = []
        session.emitter.listen(self.envelopes.append)

    def of(self, kind: type[Kind]) -> list[Kind]:
        """Those of one kind, in order."""
        return [envelope.event for envelope in self.envelopes if isinstance(envelope.event, kind)]


async def until(
    session: Session, condition: Callable[[Snapshot], bool], seconds: float = PATIENCE_S
) -> Snapshot:
    """The first snapshot of which the condition holds; fails with the last one's story otherwise."""
    clock = asyncio.get_running_loop().time
    deadline = clock() + seconds
    while True:
        snapshot = session.snapshot()
        if condition(snapshot):
            return snapshot
        assert clock() < deadline, f"it did not happen within {seconds:g} s:\n{story(snapshot)}"
        await asyncio.sleep(_POLL_S)


def story(snapshot: Snapshot) -> str:
    """What a snapshot says of the session's state, for a test that fails."""
    lines = [
        f"connection {snapshot.connection}: {snapshot.connection_detail}",
        f"server {snapshot.server_phase}: {snapshot.server_detail}",
        f"command {snapshot.command}",
        *(f"run {run.run_id} {run.label}: {run.samples} lines, {run.cycles} cycles" for run in snapshot.runs),
        *(f"alert: {alert.message}" for alert in snapshot.alerts),
        *snapshot.log_lines[-15:],
    ]
    return "\n".join(lines)


def current_run(snapshot: Snapshot) -> RunRow | None:
    """The run in progress."""
    return next((run for run in snapshot.runs if run.current), None)


def decoding(snapshot: Snapshot, lines: int = 1) -> bool:
    """Whether the server serves and so many decode lines of its run were seen."""
    run = current_run(snapshot)
    return snapshot.server_phase == "serving" and run is not None and run.samples >= lines
