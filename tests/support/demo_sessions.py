"""A live session on a demo host, as `specttui HOST` has it but for the screen."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from specttui.demo.host import DemoHost
from specttui.events import Envelope, Event
from specttui.host.target import ConnectOptions, Target
from specttui.session.options import SessionOptions
from specttui.session.session import Session
from support.prompters import ScriptedPrompter


def options_for(demo: DemoHost, *, log_path: str | None = None) -> SessionOptions:
    """How to connect to a demo host: its own keys, nothing of the user's."""
    target = demo.demo_target()
    return SessionOptions(
        target=Target(host=target.host, user=target.username, port=target.port),
        connect=ConnectOptions(
            use_ssh_config=False,
            use_agent=False,
            client_keys=(target.client_key_path,),
            known_hosts_paths=(target.known_hosts_path,),
        ),
        server_port=demo.server_port,
        log_path=log_path,
        name="demo",
    )


@asynccontextmanager
async def connected(
    demo: DemoHost, *, log_path: str | None = None
) -> AsyncIterator[tuple[Session, list[Event]]]:
    """A started session and the events it emits, from its start on."""
    session = Session(options_for(demo, log_path=log_path), ScriptedPrompter())
    events: list[Event] = []

    def keep(envelope: Envelope) -> None:
        events.append(envelope.event)

    session.emitter.listen(keep)
    try:
        await session.start()
        yield session, events
    finally:
        await session.close()
