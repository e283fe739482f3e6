"""Several demo hosts whose simulated servers are the nodes of one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from types import TracebackType
from typing import Self

from specttui.demo.host import DemoHost
from specttui.demo.loopback import ReservedPort
from specttui.errors import DemoError


class DemoCluster:
    """Demo hosts on loopback, each with a node of one server; an async context manager.

    Each host has its own SSH server, home, package, worker file and log. As they share one machine's
    processes, their nodes' commands differ in `--port`, too, besides `--node-rank`: by its port each is told
    from the others, though only the first node's answers.

    Args:
        nodes: How many hosts, at least 2.
        profile: As for `DemoHost`; its GPUs are shared out to the hosts.
        speed: Divides the simulated server's loading time, which is about 3 s at 1.
        start_server: Start the server on entering.
        traffic: Simulated clients that keep asking by themselves.
        steps: Speculative steps of the first server; 0 starts it without speculation.
        flags: Further flags of the first server, on every node.
        env: Further variables of the first server, on every node.
        seed: Makes noise and acceptance repeatable.

    Attributes:
        hosts: The hosts, the one whose node answers clients first.
        dist_port: Where the nodes meet, on 127.0.0.1.

    Raises:
        DemoError: There are too few nodes; or, on entering, the machine cannot host them.
    """

    def __init__(
        self,
        nodes: int,
        *,
        profile: str = "mission",
        speed: float = 1.0,
        start_server: bool = True,
        traffic: int = 1,
        steps: int = 5,
        flags: Sequence[str] = (),
        env: Mapping[str, str] | None = None,
        seed: int | None = None,
    ) -> None:
        if nodes < 2:
            raise DemoError("A server spans two hosts or more", remedy="Use the demo host for a single one.")
        self._meeting = ReservedPort()
        self.dist_port = self._meeting.number
        self.hosts = tuple(
            DemoHost(
                profile=profile,
                speed=speed,
                start_server=False,
                traffic=traffic,
                steps=steps,
                flags=flags,
                env=env,
                seed=seed,
                nodes=nodes,
                node_rank=rank,
                dist_port=self.dist_port,
            )
            for rank in range(nodes)
        )
        self._start_server = start_server
        self._open = AsyncExitStack()

    async def __aenter__(self) -> Self:
        async with AsyncExitStack() as opening:
            opening.callback(self._meeting.close)
            for host in self.hosts:
                await opening.enter_async_context(host)
            if self._start_server:
                self.start_server()
            self._open = opening.pop_all()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._open.aclose()

    @property
    def names(self) -> tuple[str, ...]:
        """The hosts' names, in their order."""
        return tuple(host.name for host in self.hosts)

    @property
    def head(self) -> DemoHost:
        """The host whose node answers clients."""
        return self.hosts[0]

    @property
    def server_port(self) -> int:
        """Where the server answers clients, on 127.0.0.1."""
        return self.head.server_port

    def start_server(self) -> None:
        """Start the node of every host, detached."""
        for host in self.hosts:
            host.start_server()

    async def wait_ready(self, timeout_s: float = 60.0) -> None:
        """Wait until the first server answers and has warmed up.

        Raises:
            DemoError: It does not within `timeout_s` seconds; the cause holds the end of every node's log.
        """
        try:
            await self.head.wait_ready(timeout_s)
        except DemoError as error:
            error.cause = "\n".join(f"{host.name}:\n{host.log_end()}" for host in self.hosts)
            raise
