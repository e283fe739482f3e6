"""Opens the screen on a session: a live one, the demo's, or a recorded one."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from specttui.config import Loaded
from specttui.demo.cluster import DemoCluster
from specttui.demo.host import DemoHost, DemoTarget
from specttui.host.target import ConnectOptions, Target
from specttui.session import folders
from specttui.session.choose import options_of_all
from specttui.session.options import SessionOptions
from specttui.session.printing import say
from specttui.session.replay import AS_FAST_AS_POSSIBLE, Replay
from specttui.session.replay_session import ReplaySession
from specttui.session.session import Session
from specttui.ui.app import SpecttuiApp
from specttui.ui.preferences import app_options
from specttui.ui.prompter import ScreenPrompter

#: How long the demo may take to bring its first server up before the screen opens on a loading one.
DEMO_WAIT_S = 20.0


def run_live(
    hosts: Sequence[str],
    loaded: Loaded,
    *,
    readonly: bool,
    server_port: int | None,
    log_path: str | None,
    use_ssh_config: bool,
) -> None:
    """Open the screen on the hosts of a server; returns when the user leaves.

    Args:
        hosts: Where to connect, or names of the settings.
        loaded: The user's settings.
        readonly: Remove every action that changes the host.
        server_port: The server to look at.
        log_path: The server's log.
        use_ssh_config: Read ~/.ssh/config.

    Raises:
        SpecttuiError: A host's name or the settings cannot be used, or the session's folder cannot be made.
    """
    options = options_of_all(
        hosts,
        loaded.settings,
        readonly=readonly,
        server_port=server_port,
        log_path=log_path,
        use_ssh_config=use_ssh_config,
    )
    asyncio.run(_show(options, app_options(loaded)))


def run_demo(profile: str, loaded: Loaded, *, nodes: int = 1) -> None:
    """Open the screen on the simulated host.

    Args:
        profile: Which story it tells.
        loaded: The user's settings.
        nodes: How many hosts its server spans.

    Raises:
        ConfigError: The settings cannot be used.
        DemoError: The demo cannot run on this machine.
    """
    asyncio.run(_demo(profile, nodes, app_options(loaded)))


def run_replay(session: str, loaded: Loaded, *, speed: float) -> None:
    """Open the screen on a recording.

    Args:
        session: A session folder, its id or a part of it, or `latest`.
        loaded: The user's settings.
        speed: Recorded seconds per second; 0 is as fast as possible.

    Raises:
        RecordingError: There is no such recording.
    """
    replay = Replay(folders.resolve(session), speed or AS_FAST_AS_POSSIBLE, hold_at_end=True)
    played = ReplaySession(replay)
    app = SpecttuiApp(played, replay=True, start=played.start, **app_options(loaded))
    sys.exit(app.run() or 0)


def demo_options(target: DemoTarget, server_port: int, name: str = "demo") -> SessionOptions:
    """How to connect to a demo host: its own keys, nothing of the user's."""
    return SessionOptions(
        target=Target(host=target.host, user=target.username, port=target.port),
        connect=ConnectOptions(
            use_ssh_config=False,
            use_agent=False,
            client_keys=(Path(target.client_key_path),),
            known_hosts_paths=(Path(target.known_hosts_path),),
        ),
        server_port=server_port,
        mode="demo",
        name=name,
    )


def cluster_options(cluster: DemoCluster) -> tuple[SessionOptions, ...]:
    """How to connect to every host of a simulated server that spans several."""
    return tuple(demo_options(host.demo_target(), host.server_port, host.name) for host in cluster.hosts)


async def _demo(profile: str, nodes: int, screen: Mapping[str, Any]) -> None:
    say("Starting the simulated host ...", stream=sys.stderr)
    if nodes > 1:
        async with DemoCluster(nodes, profile=profile) as cluster:
            await cluster.wait_ready(DEMO_WAIT_S)
            await _show(cluster_options(cluster), screen)
        return
    async with DemoHost(profile=profile) as demo:
        await demo.wait_ready(DEMO_WAIT_S)
        await _show([demo_options(demo.demo_target(), demo.server_port)], screen)


async def _show(options: Sequence[SessionOptions], screen: Mapping[str, Any]) -> None:
    prompter = ScreenPrompter()
    session = Session(options[0], prompter, others=options[1:])
    app = SpecttuiApp(session, start=session.start, prompter=prompter, **screen)
    try:
        code = await app.run_async()
    finally:
        await session.close()
    say(f"Session recorded in {session.folder.path}", stream=sys.stderr)
    if session.patched:
        say(
            f"The worker file is still patched. Restore it with: specttui restore {session.name}",
            stream=sys.stderr,
        )
    if code:
        sys.exit(code)
