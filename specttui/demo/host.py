"""The demo host: a machine to connect to, in a temporary folder of this one."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import time
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

import asyncssh

from specttui.demo.loopback import ReservedPort, answers
from specttui.demo.processes import kill_marked, owner_variable
from specttui.demo.scratch import Scratch, login_environment
from specttui.demo.server_command import on_each_node, server_argv
from specttui.demo.simulated.sglang.simulation.timing import PROFILES
from specttui.demo.ssh import DemoSSHServer
from specttui.errors import DemoError
from specttui.launch.nodes import NodePlace

_USERNAME = "demo"
_READY = "The server is fired up and ready to roll!"
_READY_POLL_S = 0.1
_LOG_END_CHARACTERS = 2000


@dataclass(frozen=True, slots=True)
class DemoTarget:
    """How to log in to a demo host."""

    host: str
    port: int
    username: str
    client_key_path: Path
    known_hosts_path: Path


class DemoHost:
    """An SSH host on loopback with a simulated SGLang server; an async context manager.

    Leaving it stops every process that was started on it, and deletes its folder.

    Args:
        profile: "mission" (8 PCIe GPUs, a 1T-parameter target) or "h200".
        speed: Divides the simulated server's loading time, which is about 3 s at 1.
        start_server: Start the server on entering.
        traffic: Simulated clients that keep asking by themselves.
        steps: Speculative steps of the first server; 0 starts it without speculation.
        flags: Further flags of the first server.
        env: Further variables of the first server.
        seed: Makes noise and acceptance repeatable.
        nodes: How many hosts the server spans; see `DemoCluster`.
        node_rank: Which of them this is; node 0 answers clients.
        dist_port: Where the nodes meet, on 127.0.0.1.

    Raises:
        DemoError: On entering: the machine cannot host it.
    """

    def __init__(
        self,
        *,
        profile: str = "mission",
        speed: float = 1.0,
        start_server: bool = True,
        traffic: int = 1,
        steps: int = 5,
        flags: Sequence[str] = (),
        env: Mapping[str, str] | None = None,
        seed: int | None = None,
        nodes: int = 1,
        node_rank: int = 0,
        dist_port: int = 0,
    ) -> None:
        if profile not in PROFILES:
            raise DemoError(
                f"There is no demo profile {profile!r}", remedy=f"Use one of: {', '.join(PROFILES)}."
            )
        self.profile, self.steps = profile, steps
        self.nodes, self.node_rank = nodes, node_rank
        self._place = NodePlace(node_rank, nodes, f"127.0.0.1:{dist_port}" if nodes > 1 else "")
        self._machine = on_each_node(PROFILES[profile], nodes)
        self.demo_id = uuid.uuid4().hex
        self._port: ReservedPort | None = None
        self._start_server = start_server
        self._flags = tuple(flags)
        self._settings = {
            "SPECTTUI_DEMO_PROFILE": profile,
            "SPECTTUI_DEMO_SPEED": str(speed),
            "SPECTTUI_DEMO_TRAFFIC": str(traffic),
            **({} if seed is None else {"SPECTTUI_DEMO_SEED": str(seed)}),
        }
        self._env = dict(env or {})
        self._scratch: Scratch | None = None
        self._ssh: DemoSSHServer | None = None

    async def __aenter__(self) -> Self:
        if not sys.platform.startswith("linux"):
            raise DemoError(
                "The demo host needs Linux",
                cause=f"It runs real processes and reads /proc, which {sys.platform} does not have.",
                remedy="Run the demo on a Linux machine or in a container.",
            )
        try:
            await self._set_up()
        except OSError as error:
            await self._tear_down()
            raise DemoError(
                "The demo host could not be set up",
                cause=str(error),
                remedy="Check that the temporary folder is writable and may hold programs (TMPDIR sets it).",
            ) from error
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._tear_down()

    @property
    def name(self) -> str:
        """What to call the host: its node where there are several."""
        return f"node{self.node_rank}" if self.nodes > 1 else "demo"

    @property
    def scratch(self) -> Scratch:
        """The folder with everything."""
        assert self._scratch is not None
        return self._scratch

    @property
    def ssh(self) -> DemoSSHServer:
        """The SSH server."""
        assert self._ssh is not None
        return self._ssh

    @property
    def port(self) -> int:
        """The SSH server's port on 127.0.0.1."""
        return self.ssh.port

    @property
    def server_port(self) -> int:
        """The simulated server's port on 127.0.0.1, its own for as long as the host is up; 0 before."""
        return self._port.number if self._port is not None else 0

    @property
    def username(self) -> str:
        """Who may log in."""
        return _USERNAME

    @property
    def home(self) -> Path:
        """The login's home folder."""
        return self.scratch.home

    @property
    def client_key_path(self) -> Path:
        """The private key that may log in."""
        return self.scratch.root / "client_key"

    @property
    def known_hosts_path(self) -> Path:
        """A known_hosts file with the host's key."""
        return self.scratch.root / "known_hosts"

    @property
    def worker_path(self) -> Path:
        """The worker file that runs by default (with overlap)."""
        return self.scratch.worker_path()

    @property
    def log_path(self) -> Path:
        """The first server's log."""
        return self.scratch.log_path

    @property
    def server_argv(self) -> tuple[str, ...]:
        """The first server's command line."""
        argv = server_argv(self.scratch, self._machine, self._place, self.server_port, self.steps)
        return (*argv, *self._flags)

    @property
    def server_env(self) -> dict[str, str]:
        """The first server's whole environment."""
        return {
            **self._login_env(),
            "PYTHONPATH": str(self.scratch.site),
            "SPECTTUI_DEMO_OWNER": owner_variable(),
            **self._env,
        }

    def demo_target(self) -> DemoTarget:
        """How to log in."""
        return DemoTarget("127.0.0.1", self.port, self.username, self.client_key_path, self.known_hosts_path)

    def kill_connections(self) -> None:
        """Cut every SSH connection at once."""
        self.ssh.kill_connections()

    def refuse_logins(self, duration_s: float) -> None:
        """Drop new SSH connections for so many seconds; 0 lets them in again."""
        self.ssh.refuse(duration_s)

    def start_server(self) -> None:
        """Start the simulated server, detached, with its output appended to `log_path`."""
        with self.log_path.open("ab") as log:
            subprocess.run(
                ["/bin/sh", "-c", '"$@" &', "sh", *self.server_argv],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=self.server_env,
                cwd=self.home,
                start_new_session=True,
                check=True,
            )

    async def wait_ready(self, timeout_s: float = 30.0) -> None:
        """Wait until the first simulated server answers and has warmed up.

        Raises:
            DemoError: It does not within `timeout_s` seconds; the cause holds the end of its log. Or this is
                a node of a larger server that answers nobody.
        """
        if self.node_rank:
            raise DemoError(
                f"{self.name} answers no clients", remedy="Wait for node0, which answers when all are ready."
            )
        deadline = time.monotonic() + timeout_s
        while not (self._warmed_up() and await asyncio.to_thread(answers, self.server_port)):
            if time.monotonic() > deadline:
                raise DemoError(
                    "The simulated server did not come up",
                    cause=self.log_end(),
                    remedy="Start the demo again; if it happens twice, please report it with this text.",
                )
            await asyncio.sleep(_READY_POLL_S)

    def log_end(self) -> str:
        """The last of the first server's log, "" without one."""
        return self._log_text()[-_LOG_END_CHARACTERS:]

    def _log_text(self) -> str:
        if not self.log_path.exists():
            return ""
        return self.log_path.read_text(encoding="utf-8", errors="replace")

    def _warmed_up(self) -> bool:
        return _READY in self._log_text()

    async def _set_up(self) -> None:
        self._scratch = Scratch(self._machine)
        self._scratch.fill()
        self._port = ReservedPort()
        key = asyncssh.generate_private_key("ssh-ed25519")
        self._ssh = DemoSSHServer(self.username, key, self._login_env(), self.home)
        await self._ssh.start()
        self._write_keys(key)
        if self._start_server:
            self.start_server()

    async def _tear_down(self) -> None:
        if self._ssh is not None:
            await self._ssh.stop()
        await kill_marked(self.demo_id)
        if self._port is not None:
            self._port.close()
        if self._scratch is not None:
            self._scratch.remove()

    def _login_env(self) -> dict[str, str]:
        return {**login_environment(self.scratch, self.username, self.demo_id), **self._settings}

    def _write_keys(self, key: asyncssh.SSHKey) -> None:
        _write_private(self.client_key_path, key.export_private_key())
        host_key = self.ssh.host_key.export_public_key().decode().strip()
        self.known_hosts_path.write_text(f"[127.0.0.1]:{self.port} {host_key}\n", encoding="utf-8")


def _write_private(path: Path, data: bytes) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)
