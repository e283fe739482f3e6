"""One session's hands on a host whose servers belong to other accounts, with the real sudo between."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from contextlib import suppress
from pathlib import Path

from specttui.config import SudoMode
from specttui.events import ServerStopping
from specttui.host.discovery import discover
from specttui.host.found import FoundServer
from specttui.host.managers import NO_COMMANDS, ManagerCommands
from specttui.host.readiness import Readiness, ReadyLimits
from specttui.host.ready import endpoint_of
from specttui.host.server import ServerControl
from specttui.host.start import Started
from specttui.host.stop import StopLimits
from specttui.host.sudo import Sudo
from support.accounts import PASSWORD, Account
from support.fake_sglang import READY, FakeServer, alive
from support.foreign_server import SECRETS
from support.prompters import ScriptedPrompter

QUICK = StopLimits(10.0, 20.0, 20.0, 1.0)
#: What sudo lets the engineer do; OWNER stands for the server's account.
FREE = "USER ALL=(ALL) NOPASSWD: ALL"
FREE_ROOT = "USER ALL=(root) NOPASSWD: ALL"
FREE_OWNER = "USER ALL=(OWNER) NOPASSWD: ALL"
ASKING = "USER ALL=(ALL) ALL"
ASKING_ROOT = "USER ALL=(root) ALL"


class Desk:
    """One session's hands on the host, as the engineer's account."""

    def __init__(
        self,
        engineer: Account,
        *answers: str | None,
        mode: SudoMode = "auto",
        commands: ManagerCommands = NO_COMMANDS,
    ) -> None:
        self.prompter = ScriptedPrompter(answers=list(answers))
        self.remote = engineer.remote
        self.sudo = Sudo(self.remote, self.prompter, mode)
        self.steps: list[ServerStopping] = []
        self.started: list[Started] = []
        self.control = ServerControl(
            self.remote,
            "s1",
            stop_limits=QUICK,
            ready_limits=ReadyLimits(poll_s=0.2),
            commands=commands,
            sudo=self.sudo,
        )

    async def find(self, server: FakeServer, *, ask: bool = False) -> FoundServer:
        found = await discover(self.remote, port=server.port, sudo=self.sudo, ask=ask)
        assert [one.pid for one in found.servers] == [server.pid]
        return found.servers[0]

    async def restart(self, found: FoundServer, **changes: object) -> Started:
        """Stop it, start it again with these changes to its launch, and wait until it serves."""
        launch = found.launch.model_copy(update=changes)
        restart = self.control.restart(
            found.manager, launch, port=found.port, label="again", base=found.launch
        )
        await restart.prepare()
        await restart.stop(found, self.steps.append)
        started = await restart.start(found.info.log, lambda _: None)
        self.started.append(started)
        wait_for(Path(started.log_path), READY, started.log_offset)
        readiness = Readiness()
        readiness.saw_ready_line()
        waiting = self.control.wait_ready(started, endpoint_of(launch), readiness, lambda _: None)
        assert (await asyncio.wait_for(waiting, 60)).pid == started.pid
        return started

    def clear_away(self) -> None:
        """Whatever a test left behind that went wrong; the accounts' own processes end with the accounts."""
        for started in self.started:
            with suppress(ProcessLookupError):
                os.killpg(started.session, signal.SIGKILL)

    async def end(self, found: FoundServer, started: Started) -> None:
        """Stop what was started, see that its script noted how it ended, and take its files away."""
        restart = self.control.restart(started.manager, found.launch, port=0, label="", base=None)
        await restart.stop(started, lambda _: None)
        assert not alive(started.pid)
        wait_for(Path(started.exit_path), "0\n")
        script = Path(started.script_path)
        for path in script.parent.glob(f"{script.stem}.*"):
            path.unlink()

    def secrets_told(self) -> list[str]:
        """Secrets that were ever on a command line."""
        words = "\0".join(word for command in self.remote.commands for word in command)
        return [secret for secret in (PASSWORD, "battery", *SECRETS) if secret in words]


def wait_for(path: Path, text: str, offset: int = 0) -> None:
    """Wait until a text stands in a file."""
    deadline = time.monotonic() + 60
    while not path.exists() or text.encode() not in path.read_bytes()[offset:]:
        assert time.monotonic() < deadline, path.read_bytes() if path.exists() else f"no {path}"
        time.sleep(0.02)


def all_of(server: FakeServer) -> list[int]:
    return [server.pid, *server.children]
