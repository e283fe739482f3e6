"""A session in a process of its own that is killed in the middle: nothing of it gets to clean up."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

from specttui.demo.host import DemoHost, DemoTarget

_TIMEOUT_S = 120.0


async def kill_after(demo: DemoHost, work: str) -> None:
    """Start a session on a demo host, let it do something, and kill its process.

    Args:
        demo: The host.
        work: `back_up`, `patch`, `hook` or `edit`.
    """
    target = {name: str(value) for name, value in asdict(demo.demo_target()).items()}
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "support.killed_session",
        json.dumps({"target": target, "server_port": demo.server_port, "work": work}),
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    async with asyncio.timeout(_TIMEOUT_S):
        said, _ = await process.communicate()
    assert process.returncode == -signal.SIGKILL, said.decode()


async def _work(given: dict[str, Any]) -> None:
    from specttui.session.session import Session
    from specttui.ui.start import demo_options
    from support.prompters import ScriptedPrompter

    told = given["target"]
    paths = {name: Path(told[name]) for name in ("client_key_path", "known_hosts_path")}
    target = DemoTarget(**{**told, **paths, "port": int(told["port"])})
    session = Session(demo_options(target, given["server_port"]), ScriptedPrompter())
    await session.start()
    match given["work"]:
        case "back_up":
            await session.back_up()
        case "patch":
            await session.patch()
        case "hook":
            await session.patch(way="import_hook")
        case "edit":
            view = await session.view_draft_config()
            await session.edit_draft_config(view.text + "\n")
    os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    asyncio.run(_work(json.loads(sys.argv[1])))
