"""The drop-ins with which we change systemd units: put in place, found again, taken back."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal

from specttui.errors import RemoteCommandError, ServerManagedError, ServerStartError
from specttui.events import Launch, Manager, ManagerKind
from specttui.host.remote_python import run_program
from specttui.host.runner import Runner
from specttui.host.stop import ServerStopError
from specttui.host.sudo import Sudo

#: One of systemd's two managers.
Scope = Literal["system", "user"]

_JOB_S = 330.0
_STEP_S = 90.0
_SCOPES: tuple[Scope, ...] = ("system", "user")
_TITLE = re.compile(r"session (?P<session>[^ ,]+), (?P<moment>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d) UTC")


@dataclass(frozen=True, slots=True, order=True)
class Unit:
    """A unit of the system's manager or of the user's."""

    name: str
    scope: Scope = "system"

    @classmethod
    def of(cls, manager: Manager) -> Unit:
        """The unit that a discovered manager names."""
        return cls(manager.name, "user" if manager.detail == "user" else "system")

    @property
    def manager(self) -> Manager:
        """The manager as discovery would name it."""
        return Manager(kind=ManagerKind.SYSTEMD, name=self.name, detail=self.scope)

    @property
    def control(self) -> str:
        """How its manager is called on a shell."""
        return "systemctl --user" if self.scope == "user" else "sudo systemctl"


@dataclass(frozen=True, slots=True)
class DropIn:
    """An override as it lies on the host: `written` is None and `session_id` empty where it does not say."""

    path: str
    session_id: str = ""
    written: datetime | None = None

    @classmethod
    def parse(cls, path: str, title: str) -> DropIn:
        """Read the title that an override begins with."""
        found = _TITLE.search(title)
        if not found:
            return cls(path)
        return cls(path, found["session"], datetime.fromisoformat(f"{found['moment']}+00:00"))


@dataclass(frozen=True, slots=True)
class UnitState:
    """What was seen of a unit.

    `ours` is True while it has an override, this session's or a dead one's; `complaint` is what systemctl
    said where it does not answer.
    """

    folder: str
    allowed: bool
    ours: bool
    drop_in: str
    properties: dict[str, str]
    complaint: str


class UnitOverrides:
    """The overrides of one host.

    Args:
        remote: The host.
        sudo: For the system's units, where the account is not root; without it those are left alone.
    """

    def __init__(self, remote: Runner, sudo: Sudo | None = None) -> None:
        self._remote = remote
        self._sudo = sudo
        self._root: Runner | None = None
        self._active: dict[Unit, DropIn] = {}

    @property
    def active(self) -> tuple[Unit, ...]:
        """The units that have an override of ours, this session's or found."""
        return tuple(sorted(self._active))

    def drop_in(self, unit: Unit) -> DropIn:
        """The override of an active unit."""
        return self._active[unit]

    async def find(self) -> tuple[Unit, ...]:
        """Look for overrides that sessions left; those found count as active.

        Raises:
            ConnectionLostError: The connection broke.
        """
        try:
            answer = await self._step(self._remote, "find", Unit(""))
        except RemoteCommandError:
            return self.active  # without Python on the host there is nothing of ours
        for scope in _SCOPES:
            for each in answer[scope]:
                self._active[Unit(each["unit"], scope)] = DropIn.parse(each["drop_in"], each["title"])
        return self.active

    async def look(self, unit: Unit) -> UnitState:
        """Look at a unit, as the account that may change it where there is one."""
        answer = await self._step(self._remote, "look", unit)
        if unit.scope == "system" and not answer["allowed"] and answer["folder"]:
            answer["allowed"] = await self._become_root()
        if answer["ours"]:
            self._active.setdefault(unit, DropIn(answer["drop_in"]))
        return UnitState(
            answer["folder"],
            answer["allowed"],
            answer["ours"],
            answer["drop_in"],
            answer["unit"],
            answer["complaint"],
        )

    async def write(self, unit: Unit, launch: Launch, session_id: str) -> str:
        """Let the unit run this launch from its next start on; returns the drop-in's path.

        Raises:
            ServerManagedError: It cannot be put in place; nothing was changed.
        """
        moment = datetime.now(UTC)
        answer = await self._step(
            await self._remote_for(unit),
            "write",
            unit,
            argv=list(launch.argv),
            env=launch.env,
            cwd=launch.cwd,
            title=f"Written by specttui, session {session_id}, {moment:%Y-%m-%d %H:%M:%S} UTC.",
        )
        if answer["error"]:
            raise ServerManagedError(
                f"The unit {unit.name} cannot be changed",
                cause=answer["error"],
                remedy=f"Change it by hand: {unit.control} edit {unit.name}",
            )
        self._active[unit] = DropIn(str(answer["drop_in"]), session_id, moment)
        return str(answer["drop_in"])

    async def undo(self, unit: Unit) -> None:
        """Let the unit run what its own files say, from its next start on.

        Raises:
            ServerManagedError: The override cannot be removed.
        """
        answer = await self._step(await self._remote_for(unit), "undo", unit)
        if answer["error"]:
            raise ServerManagedError(
                f"The override of {unit.name} cannot be taken back",
                cause=answer["error"],
                remedy=f"Remove zzz-specttui.conf from {unit.name}.d and run: {unit.control} daemon-reload",
            )
        self._active.pop(unit, None)

    async def stop(self, unit: Unit) -> None:
        """Stop the unit, and wait for it.

        Raises:
            ServerStopError: systemd could not.
        """
        answer = await self._step(await self._remote_for(unit), "stop", unit, timeout_s=_JOB_S)
        if answer["error"]:
            raise ServerStopError(
                f"The unit {unit.name} cannot be stopped",
                cause=answer["error"],
                remedy=f"Look at it with: systemctl status {unit.name}",
            )

    async def start(self, unit: Unit) -> tuple[int, int]:
        """Start the unit; its main process as pid and start ticks.

        Raises:
            ServerStartError: It did not start.
        """
        answer = await self._step(await self._remote_for(unit), "start", unit, timeout_s=_JOB_S)
        if not answer["pid"]:
            raise ServerStartError(
                f"The unit {unit.name} did not start",
                cause=answer["error"],
                remedy=f"Look at it with: systemctl status {unit.name}",
            )
        return answer["pid"], answer["start_ticks"]

    async def _become_root(self) -> bool:
        if self._root is None and self._sudo is not None and await self._sudo.is_way():
            self._root = self._sudo
        return self._root is not None

    async def _remote_for(self, unit: Unit) -> Runner:
        """The account that may change the unit; another session's override may need root just as well."""
        if unit.scope == "system" and self._root is None:
            await self.look(unit)
        return self._root if unit.scope == "system" and self._root is not None else self._remote

    async def _step(
        self, remote: Runner, step: str, unit: Unit, *, timeout_s: float = _STEP_S, **parameters: object
    ) -> dict[str, Any]:
        given = {"step": step, "scope": unit.scope, "unit": unit.name, **parameters}
        answer: dict[str, Any] = await run_program(remote, "systemd_unit", given, timeout_s=timeout_s)
        return answer


def in_words(units: Sequence[Unit]) -> tuple[str, ...]:
    """What a user is told about overrides in place."""
    return tuple(f"The unit {unit.name} runs with an override of ours." for unit in units)
