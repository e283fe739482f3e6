"""Servers that we leave to their managers: containers, pods, jobs, supervisors; with the exact commands."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import NoReturn

from specttui.errors import RemoteCommandError, ServerManagedError
from specttui.events import Manager, ManagerKind
from specttui.host import manager as managers
from specttui.host.managers.way import Errand
from specttui.host.remote import Remote
from specttui.host.start import OnStart, Started
from specttui.host.stop import OnStop, Stoppable, StopReport

_TOOLS = ("docker", "podman")
_COMPOSE = "com.docker.compose."


@dataclass(frozen=True, slots=True)
class Container:
    """What the container's own manager says of it."""

    name: str
    restart_policy: str = ""
    project: str = ""
    service: str = ""
    folder: str = ""
    files: str = ""

    @classmethod
    def parse(cls, text: str) -> Container | None:
        """Read `docker inspect`'s answer; None for one of another shape."""
        with suppress(ValueError, LookupError, TypeError, AttributeError):
            facts = json.loads(text)[0]
            labels = facts["Config"].get("Labels") or {}
            return cls(
                name=str(facts["Name"]).lstrip("/"),
                restart_policy=str((facts.get("HostConfig", {}).get("RestartPolicy") or {}).get("Name", "")),
                project=str(labels.get(_COMPOSE + "project", "")),
                service=str(labels.get(_COMPOSE + "service", "")),
                folder=str(labels.get(_COMPOSE + "project.working_dir", "")),
                files=str(labels.get(_COMPOSE + "project.config_files", "")),
            )
        return None


class RefusedWay:
    """Refuses before anything is done; implements `Way`.

    Args:
        remote: The host.
        manager: Who manages the server.
    """

    def __init__(self, remote: Remote, manager: Manager) -> None:
        self._remote = remote
        self._manager = manager

    async def prepare(self, errand: Errand) -> None:
        """Refuse, and say what to do instead.

        Raises:
            ServerManagedError: Always.
        """
        del errand
        container = await self._container()
        if container is None:
            self._refuse()
        tool = self._manager.detail
        policy = container.restart_policy
        again = f", which its restart policy ({policy}) brings back" if policy not in {"", "no"} else ""
        raise ServerManagedError(
            f"The server runs in the container {container.name}",
            cause=f"It is the container's own program{again}, so its arguments are the container's.",
            remedy=container_remedy(tool, container),
        )

    def _refuse(self) -> NoReturn:
        name = f" ({self._manager.name[:60]})" if self._manager.name else ""
        raise ServerManagedError(
            f"The server is run by {self._manager.kind.value}{name}",
            cause="Killing it would bring it back with its old arguments.",
            remedy=managers.remedy(self._manager),
        )

    async def _container(self) -> Container | None:
        tool = self._manager.detail
        if self._manager.kind is not ManagerKind.DOCKER or tool not in _TOOLS:
            return None
        try:
            result = await self._remote.run([tool, "inspect", "--type", "container", self._manager.name])
        except RemoteCommandError:
            return None
        return Container.parse(result.text) if result.ok else None

    async def stop(
        self, server: Stoppable, on_step: OnStop, *, idle_mib: Mapping[int, int] | None = None
    ) -> StopReport:
        """Refuse.

        Raises:
            ServerManagedError: Always.
        """
        del server, on_step, idle_mib
        self._refuse()

    async def start(self, errand: Errand, on_step: OnStart) -> Started:
        """Refuse.

        Raises:
            ServerManagedError: Always.
        """
        del errand, on_step
        self._refuse()


def container_remedy(tool: str, container: Container) -> str:
    """The commands that change a container's server, and the profile that lets specttui run them."""
    name = shlex.quote(container.name)
    if container.service:
        files = "".join(f" -f {shlex.quote(file)}" for file in container.files.split(",") if file)
        base = f"{tool} compose{files} -p {shlex.quote(container.project)}"
        service = shlex.quote(container.service)
        by_hand = (
            f"Change the command of the service {container.service} in "
            f"{container.files or container.folder}, then run `{base} up -d {service}` and look again (f5)."
        )
        stop = f"{base} stop {service}"
    else:
        stop = f"{tool} stop {name}"
        comes_back = container.restart_policy not in {"", "no"}
        keep = f"`{tool} update --restart=no {name}` and " if comes_back else ""
        by_hand = f"Run {keep}`{stop}`, run the image again with the new arguments, and look again (f5)."
    words = json.dumps(shlex.split(stop))
    profile = f"Or give the host's profile a start and a stop ([hosts.NAME.commands]): stop = {words}."
    return f"{by_hand} {profile}"
