"""Stop a server: end its processes by name and start time, then wait for its ports and its memory."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from specttui.errors import ServerManagedError, SpecttuiError
from specttui.events import Gpu, Manager, ServerStopping
from specttui.host import manager as managers
from specttui.host.gpus import sample_gpus
from specttui.host.memory_release import release_memory
from specttui.host.other_user import OtherUser
from specttui.host.processes import ProcessId
from specttui.host.remote import Remote
from specttui.host.remote_python import run_program
from specttui.host.runner import Runner

_SLICE_S = 2.0
#: A loop around a server starts it again within this time.
_RETURN_S = 1.0

OnStop = Callable[[ServerStopping], None]


class ServerStopError(SpecttuiError):
    """A server could not be stopped, or something else took its place."""


class Stoppable(Protocol):
    """A server that can be stopped: one that was found, or one that we started."""

    @property
    def tree(self) -> tuple[ProcessId, ...]:
        """Its processes, the launcher first."""
        ...

    @property
    def sessions(self) -> tuple[int, ...]:
        """The process sessions that hold nothing but this server."""
        ...

    @property
    def ports(self) -> tuple[int, ...]:
        """The TCP ports that are its own."""
        ...

    @property
    def manager(self) -> Manager:
        """Who brought it up."""
        ...

    @property
    def user(self) -> str:
        """Whom it runs as, "" for the account that we logged in to."""
        ...


@dataclass(frozen=True, slots=True)
class StopLimits:
    """How long each step may take, in seconds. A request in flight takes part of the first."""

    terminate_s: float = 30.0
    kill_s: float = 15.0
    port_s: float = 60.0
    memory_s: float = 60.0


@dataclass(frozen=True, slots=True)
class EndBy:
    """Another way to end a server than by signals: through whoever manages it.

    Attributes:
        words: What is done, for the user to read.
        run: Does it, and returns when it is done or under way.
        signals: Ask the launcher by a signal besides: nobody manages the server after all.
    """

    words: str
    run: Callable[[], Awaitable[None]]
    signals: bool = False


#: What stopping is given when nobody says otherwise.
DEFAULT_STOP_LIMITS = StopLimits()


@dataclass(frozen=True, slots=True)
class StopReport:
    """What stopping did. `memory_released` is None where no GPU can be seen."""

    killed: tuple[ProcessId, ...] = ()
    gpus_before: tuple[Gpu, ...] = ()
    gpus_after: tuple[Gpu, ...] = ()
    memory_released: bool | None = None


async def stop(
    remote: Remote,
    server: Stoppable,
    on_step: OnStop,
    *,
    limits: StopLimits = DEFAULT_STOP_LIMITS,
    idle_mib: Mapping[int, int] | None = None,
    by: EndBy | None = None,
    through: OtherUser | None = None,
) -> StopReport:
    """Stop a server and wait until its ports are free and its GPU memory is back.

    Can be cancelled at any point; then the server may be half stopped, and stopping again goes on.

    Args:
        remote: The host.
        server: The server.
        on_step: Called with each step: terminate, kill, port, memory, stopped.
        limits: How long to wait for what.
        idle_mib: Used memory by GPU index before the server was started, where it is known; without it
            the memory counts as released when it does not fall any more.
        by: How to end it instead of by signals; whatever it leaves is killed.
        through: What has the rights of the server's user, where the account has not.

    Raises:
        ServerManagedError: A manager would bring it back; the remedy says what to do instead.
        ServerStopError: Something of it is left, or its port is taken by somebody else.
        ConnectionLostError: The connection broke; look again before anything else.
    """
    if by is None:
        refuse_managed(server.manager)
    before = await sample_gpus(remote)
    tree = _Tree(through or remote, server)
    killed = await _end_processes(tree, on_step, limits, by, through.words if through else "")
    await _free_ports(tree, on_step, limits)
    after, released = await release_memory(remote, before, on_step, limits.memory_s, idle_mib)
    on_step(ServerStopping(step="stopped"))
    return StopReport(killed, before, after, released)


def refuse_managed(manager: Manager) -> None:
    """Refuse what a service manager would bring back with the old arguments.

    Raises:
        ServerManagedError: It would.
    """
    if manager.restarts_by_itself:
        name = f" ({manager.name[:60]})" if manager.name else ""
        raise ServerManagedError(
            f"The server is run by {manager.kind.value}{name}",
            cause="Killing it would bring it back with its old arguments.",
            remedy=managers.remedy(manager),
        )


class _Tree:
    """The server's processes as we know them so far; each look adds what has come since."""

    def __init__(self, remote: Runner, server: Stoppable) -> None:
        self.remote = remote
        self.ports = server.ports
        self.known = [[process.pid, process.start_ticks] for process in server.tree]
        self.sessions = list(server.sessions)
        self.alive: tuple[ProcessId, ...] = ()
        self.holders: list[dict[str, Any]] = []
        self.successors: list[dict[str, Any]] = []
        self.denied: list[int] = []

    async def look(self, signal: str = "", *, everyone: bool = False, wait_s: float = 0.0) -> None:
        """Send a signal, if any, wait for the end a little, and see what is left."""
        parameters = {
            "known": self.known,
            "sessions": self.sessions,
            "signal": signal,
            "everyone": everyone,
            "wait_s": wait_s,
            "ports": list(self.ports),
        }
        answer = await run_program(self.remote, "stop_tree", parameters)
        self.known += [pair for pair in answer["seen"] if pair not in self.known]
        self.sessions, self.denied = answer["sessions"], answer["denied"]
        self.ports = tuple(answer["ports"])
        self.holders, self.successors = answer["holders"], answer["successors"]
        self.alive = tuple(ProcessId(**process) for process in answer["alive"])

    async def wait_for_end(self, limit_s: float) -> None:
        """Wait until nothing is left, or the limit is over."""
        clock = asyncio.get_running_loop().time
        deadline = clock() + limit_s
        while self.alive and clock() < deadline:
            await self.look(wait_s=min(_SLICE_S, max(0.0, deadline - clock())))


async def _end_processes(
    tree: _Tree, on_step: OnStop, limits: StopLimits, by: EndBy | None, through: str
) -> tuple[ProcessId, ...]:
    """Ask the launcher or its manager to end it, which ends its workers; then kill what is left."""
    processes = f"process {tree.known[0][0]} and the {len(tree.known) - 1} below it"
    how = by.words if by else through
    on_step(ServerStopping(step="terminate", detail=f"{processes}: {how}" if how else processes))
    if by is not None:
        await by.run()
    await tree.look("TERM" if by is None or by.signals else "", wait_s=_SLICE_S)
    if by is None:
        _check_allowed(tree)
    await tree.wait_for_end(limits.terminate_s)
    left = tree.alive
    if left:
        on_step(ServerStopping(step="kill", detail=_listed(left)))
        await tree.look("KILL", everyone=True, wait_s=_SLICE_S)
        _check_allowed(tree)
        await tree.wait_for_end(limits.kill_s)
    if tree.alive:
        raise ServerStopError(
            "Some of the server's processes cannot be killed",
            cause=_listed(tree.alive),
            remedy="They hang in the kernel, mostly in the GPU driver; look at `dmesg`, or restart the host.",
        )
    return left


def _check_allowed(tree: _Tree) -> None:
    if tree.denied:
        pids = " ".join(str(pid) for pid in tree.denied)
        raise ServerStopError(
            "This account may not end the server",
            cause=f"Not permitted for process {pids}.",
            remedy="Log in as the server's user or as root.",
        )


async def _free_ports(tree: _Tree, on_step: OnStop, limits: StopLimits) -> None:
    on_step(ServerStopping(step="port", detail=", ".join(str(port) for port in tree.ports)))
    clock = asyncio.get_running_loop().time
    deadline = clock() + limits.port_s
    while tree.holders and not tree.successors:
        if clock() > deadline:
            holder = tree.holders[0]
            raise ServerStopError(
                f"Port {holder['port']} is still taken",
                cause=f"Process {holder['pid'] or 'of another user'} listens on it: {holder['command']}",
                remedy="End that process if it is not needed, or choose another --port for the restart.",
            )
        await asyncio.sleep(min(0.5, limits.port_s))
        await tree.look()
    await _check_not_back(tree)


async def _check_not_back(tree: _Tree) -> None:
    """Recognise a loop around the server that starts it again, a moment after it ended."""
    if not tree.successors:
        await asyncio.sleep(_RETURN_S)
        await tree.look()
    if tree.successors:
        back = tree.successors[0]
        raise ServerManagedError(
            "The server is being started again by something else",
            cause=f"Process {back['pid']} is new: {back['command']}",
            remedy="A script that runs it in a loop may do that: end the script, then the server.",
        )


def _listed(processes: tuple[ProcessId, ...]) -> str:
    return ", ".join(f"{process.pid} {process.title}".strip() for process in processes)
