"""Sessions on a scratch SSH host whose servers a test starts as it likes."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from specttui.events import Event
from specttui.session.options import SessionOptions
from specttui.session.session import Session
from support.logins import options_for, target_of
from support.prompters import ScriptedPrompter
from support.ssh_server import SshServer
from support.sshd import make_key


@asynccontextmanager
async def ssh_host(folder: Path) -> AsyncIterator[SshServer]:
    """A scratch SSH host; programs come from this process's PATH at each command."""
    key = make_key(folder / "id_ed25519")
    async with SshServer(folder / "host", (key.with_suffix(".pub"),)) as server:
        yield server


@asynccontextmanager
async def session_on(
    server: SshServer, folder: Path, port: int, **options: object
) -> AsyncIterator[tuple[Session, list[Event]]]:
    """A started session that looks at one port's server, and the events it emits."""
    chosen = SessionOptions(
        target=target_of(server),
        connect=options_for(server, folder, folder / "id_ed25519"),
        server_port=port,
        **options,  # type: ignore[arg-type]
    )
    session = Session(chosen, ScriptedPrompter())
    events: list[Event] = []
    session.emitter.listen(lambda envelope: events.append(envelope.event))
    try:
        await session.start()
        yield session, events
    finally:
        await session.close()


def of(events: list[Event], kind: type[Event]) -> list[Event]:
    """Those of one kind, in order."""
    return [event for event in events if isinstance(event, kind)]
