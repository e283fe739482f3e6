"""What discovery hands to the session: servers with all that a restart needs, and what stood in the way."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from specttui.events import FileState, Launch, Manager, ServerInfo
from specttui.host.processes import Listener, ProcessId
from specttui.host.worker_choice import WorkerChoice


class InspectionLike(Protocol):
    """What discovery needs of an inspected worker file; `specttui.probe.Inspection` has it."""

    @property
    def state(self) -> FileState:
        """Original, patched by us, or changed by somebody else."""
        ...

    @property
    def family(self) -> str:
        """The worker's family, "" when it is none that we know."""
        ...

    @property
    def worker_class(self) -> str:
        """The class that holds the cycle."""
        ...


class InspectSource(Protocol):
    """Inspects a worker file's bytes; `specttui.probe.inspect` is one."""

    def __call__(self, source: bytes, path: str = "", /) -> InspectionLike:
        """Say what a worker file is; never raises for odd bytes."""
        ...


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that discovery could not see or that the user should know, and what to do about it."""

    text: str
    remedy: str = ""

    def __str__(self) -> str:
        """Both in one line."""
        return f"{self.text} {self.remedy}".rstrip()


@dataclass(frozen=True, slots=True)
class FoundServer:
    """A running server.

    Attributes:
        info: What may be shown and recorded: secrets redacted, the environment cut to what matters.
        launch: The full launch, secrets included, for a restart. Never put it into an event.
        choice: Which worker runs and why.
        tree: The launcher and all processes below it, the launcher first.
        session: The process session that holds nothing but this server, 0 when it shares one.
        listening: The TCP sockets that the tree listens on.
        server_args: The resolved arguments as the running server told them; empty when it did not answer.
        sources: The worker files' bytes by path.
        config: The values of its `--config` file, None without one.
        serving: True when its endpoint answered.
        problems: What could not be seen of it.
        obstacles: Those of the problems that keep it from being restarted: its environment cannot be read,
            its command line is lost or is not that of a launcher.
    """

    info: ServerInfo
    launch: Launch
    choice: WorkerChoice
    tree: tuple[ProcessId, ...] = ()
    session: int = 0
    listening: tuple[Listener, ...] = ()
    server_args: Mapping[str, object] = field(default_factory=dict)
    sources: Mapping[str, bytes] = field(default_factory=dict)
    config: Mapping[str, object] | None = None
    serving: bool = False
    problems: tuple[Problem, ...] = ()
    obstacles: tuple[Problem, ...] = ()

    @property
    def restartable(self) -> bool:
        """True when all is known that a restart needs."""
        return not self.obstacles

    @property
    def user(self) -> str:
        """Whom it runs as."""
        return self.launch.user

    def or_fuller(self, later: FoundServer) -> FoundServer:
        """This one, or a later look at the same server, unless that tells less."""
        return self if self.restartable and not later.restartable else later

    @property
    def pid(self) -> int:
        """The launcher."""
        return self.info.pid

    @property
    def port(self) -> int:
        """The port that clients use."""
        return self.info.port

    @property
    def manager(self) -> Manager:
        """Who brought it up."""
        return self.info.manager

    @property
    def sessions(self) -> tuple[int, ...]:
        """The session that is all its own, if it has one."""
        return (self.session,) if self.session else ()

    @property
    def ports(self) -> tuple[int, ...]:
        """The port family: what clients use and whatever else the tree listens on."""
        return tuple(sorted({self.info.port, *(listener.port for listener in self.listening)}))


@dataclass(frozen=True, slots=True)
class Discovery:
    """The servers of a host, the likeliest first, and what could not be seen."""

    servers: tuple[FoundServer, ...] = ()
    problems: tuple[Problem, ...] = ()
