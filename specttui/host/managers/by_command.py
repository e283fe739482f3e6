"""The user's own commands: run as the profile has them, and told what the server is to be."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence

from specttui.errors import RemoteCommandError, ServerStartError
from specttui.events import Launch, ServerStarting
from specttui.host.managers.appearing import as_started, launchers, new_server
from specttui.host.managers.commands import ManagerCommands
from specttui.host.managers.detached import DetachedWay
from specttui.host.managers.log_mark import mark
from specttui.host.managers.way import Errand, WayOptions
from specttui.host.remote import Remote
from specttui.host.rights import Rights
from specttui.host.start import OnStart, Started
from specttui.host.stop import EndBy, OnStop, ServerStopError, Stoppable, StopReport, refuse_managed, stop
from specttui.launch.redact import redact
from specttui.log.text import safe_lines

#: A word of a command that stands for the server's whole command line.
COMMAND_WORD = "{command}"
#: A word of a command that stands for the changed variables, as NAME=value words.
ENV_WORD = "{env}"
ARGV_VARIABLE = "SPECTTUI_ARGV_JSON"
ENV_FILE_VARIABLE = "SPECTTUI_ENV_FILE"
_COMMAND_S = 600.0

#: Writes a file for nobody else to read, and says where.
_KEEP = (
    'umask 077 && d="${XDG_CACHE_HOME:-$HOME/.cache}/specttui" && mkdir -p "$d" && '
    'cat >"$d/$1.new" && mv -f "$d/$1.new" "$d/$1" && printf %s "$d/$1"'
)


class CommandsWay:
    """Stops and starts by the profile's commands, one of which may be missing; implements `Way`.

    Args:
        remote: The host.
        commands: The commands.
        options: Limits.
        rights: For the one of the two that we do ourselves.
    """

    def __init__(
        self, remote: Remote, commands: ManagerCommands, options: WayOptions, rights: Rights
    ) -> None:
        self._remote = remote
        self._commands = commands
        self._options = options
        self._rights = rights
        self._detached = DetachedWay(remote, options, rights)

    async def prepare(self, errand: Errand) -> None:
        """Nothing is needed beforehand for commands, which are the user's own.

        Raises:
            LaunchError: One of the two is missing, and this account has not the rights to do it itself.
        """
        if not self._commands.start:
            await self._detached.prepare(errand)
        elif not self._commands.stop:
            await self._rights.of(errand.launch.user)

    async def stop(
        self, server: Stoppable, on_step: OnStop, *, idle_mib: Mapping[int, int] | None = None
    ) -> StopReport:
        """Run the stop command and wait for the server's processes, ports and memory.

        Raises:
            ServerStopError: The command failed, or left something.
            ServerManagedError: There is no stop command, and a manager would bring the server back.
        """
        if not self._commands.stop:
            refuse_managed(server.manager)
            return await self._detached.stop(server, on_step, idle_mib=idle_mib)
        unmanaged = not server.manager.restarts_by_itself
        by = EndBy(shlex.join(self._commands.stop), self._run_stop, signals=unmanaged)
        return await stop(
            self._remote,
            server,
            on_step,
            limits=self._options.stop_limits,
            idle_mib=idle_mib,
            by=by,
            through=await self._rights.at_hand(server.user),
        )

    async def _run_stop(self) -> None:
        result = await self._remote.run(self._commands.stop, timeout_s=_COMMAND_S)
        if not result.ok:
            raise ServerStopError(
                f"The profile's stop command failed (exit status {result.exit_status})",
                cause=_said(result.stdout, result.stderr),
                remedy=f"Run it by hand on the host: {shlex.join(self._commands.stop)}",
            )

    async def start(self, errand: Errand, on_step: OnStart) -> Started:
        """Run the start command and find the server that it brings up.

        Raises:
            ServerStartError: The command failed, or no server appeared.
        """
        if not self._commands.start:
            return await self._detached.start(errand, on_step)
        changed = _changed(errand)
        env_file = await self._keep(f"{errand.session_id}.environment.sh", _shell(changed))
        argv = _expanded(self._commands.start, errand.launch, changed)
        variables = {ARGV_VARIABLE: json.dumps(errand.launch.argv), ENV_FILE_VARIABLE: env_file}
        known = await launchers(self._remote, errand.port, self._rights)
        before = await mark(self._remote, errand.log)
        result = await self._remote.run(argv, env=variables, timeout_s=_COMMAND_S)
        if not result.ok:
            raise ServerStartError(
                f"The profile's start command failed (exit status {result.exit_status})",
                cause=_said(result.stdout, result.stderr),
                remedy=f"Run it by hand on the host: {shlex.join(self._commands.start)}",
            )
        found = await new_server(
            self._remote, errand.port, known, self._options, "The start command", self._rights
        )
        on_step(ServerStarting(pid=found.pid, launch=redact(errand.launch), label=errand.label))
        return as_started(found, before)

    async def _keep(self, name: str, text: str) -> str:
        result = await self._remote.run(["sh", "-c", _KEEP, "sh", name], stdin=text.encode())
        if not result.ok:
            raise RemoteCommandError(
                f"The environment for the start command cannot be written on {self._remote.name}",
                cause=_said(result.stderr),
                remedy="Check the home folder's free space and rights.",
            )
        return result.text


def _changed(errand: Errand) -> dict[str, str | None]:
    """The variables that differ from the launch that the session met; None for one that is gone."""
    before, after = (errand.base or errand.launch).env, errand.launch.env
    names = sorted(before.keys() | after.keys())
    return {name: after.get(name) for name in names if before.get(name) != after.get(name)}


def _shell(changed: Mapping[str, str | None]) -> str:
    """The changes as lines that `.` reads in any POSIX shell."""
    lines = (
        f"unset {name}" if value is None else f"export {name}={shlex.quote(value)}"
        for name, value in changed.items()
    )
    return "".join(line + "\n" for line in lines)


def _expanded(words: Sequence[str], launch: Launch, changed: Mapping[str, str | None]) -> list[str]:
    """The start command with its placeholders filled in; other words stay as they are."""
    env = [f"{name}={value}" for name, value in changed.items() if value is not None]
    filled = {COMMAND_WORD: list(launch.argv), ENV_WORD: env}
    return [word for given in words for word in filled.get(given, [given])]


def _said(*outputs: bytes) -> str:
    said = "\n".join(text for out in outputs if (text := out.decode("utf-8", "replace").strip()))
    return "\n".join(safe_lines(said))[-2000:]
