"""Opens the screen on a session: a live one, the demo's, or a recorded one."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from specttui.demo.host import DemoHost, DemoTarget
from specttui.host.target import ConnectOptions, Target
from specttui.session import folders
from specttui.session.options import SessionOptions
from specttui.session.replay import AS_FAST_AS_POSSIBLE, Replay
from specttui.session.replay_session import ReplaySession
from specttui.session.session import Session
from specttui.ui.app import SpecttuiApp
from specttui.ui.prompter import ScreenPrompter

#: How long the demo may take to bring its first server up before the screen opens on a loading one.
DEMO_WAIT_S = 20.0


def run_live(
    host: str, *, readonly: bool, server_port: int | None, log_path: str | None, use_ssh_config: bool
) -> None:
    """Open the screen on a host; returns when the user leaves.

    Raises:
        SpecttuiError: The host's name cannot be read, or the session's folder cannot be made.
    """
    options = SessionOptions(
        target=Target.parse(host),
        connect=ConnectOptions(use_ssh_config=use_ssh_config),
        readonly=readonly,
        server_port=server_port,
        log_path=log_path,
    )
    asyncio.run(_show(options))


def run_demo(profile: str) -> None:
    """Open the screen on the simulated host.

    Raises:
        DemoError: The demo cannot run on this machine.
    """
    asyncio.run(_demo(profile))


def run_replay(session: str, *, speed: float) -> None:
    """Open the screen on a recording.

    Args:
        session: A session folder, its id or a part of it, or `latest`.
        speed: Recorded seconds per second; 0 is as fast as possible.

    Raises:
        RecordingError: There is no such recording.
    """
    replay = Replay(folders.resolve(session), speed or AS_FAST_AS_POSSIBLE, hold_at_end=True)
    played = ReplaySession(replay)
    app = SpecttuiApp(played, replay=True, start=played.start)
    sys.exit(app.run() or 0)


def demo_options(target: DemoTarget, server_port: int) -> SessionOptions:
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
        name="demo",
    )


async def _demo(profile: str) -> None:
    print("Starting the simulated host ...", file=sys.stderr)
    async with DemoHost(profile=profile) as demo:
        await demo.wait_ready(DEMO_WAIT_S)
        await _show(demo_options(demo.demo_target(), demo.server_port))


async def _show(options: SessionOptions) -> None:
    prompter = ScreenPrompter()
    session = Session(options, prompter)
    app = SpecttuiApp(session, start=session.start, prompter=prompter)
    try:
        code = await app.run_async()
    finally:
        await session.close()
    print(f"Session recorded in {session.folder.path}", file=sys.stderr)
    if session.patched:
        print(
            f"The worker file is still patched. Restore it with: specttui restore {options.target}",
            file=sys.stderr,
        )
    if code:
        sys.exit(code)
