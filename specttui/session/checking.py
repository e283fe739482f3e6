"""`specttui check` and `specttui restore`: a short visit to a host, without the screen."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial

from specttui.errors import RemoteCommandError, UsageError
from specttui.events import FileState
from specttui.host.discovery import discover
from specttui.host.files import GuardedFile
from specttui.host.found import Discovery, FoundServer
from specttui.host.leftovers import find_journals
from specttui.host.link import Link
from specttui.host.managers.overrides import UnitOverrides
from specttui.host.prompts import Prompter
from specttui.host.remote import Remote
from specttui.host.sudo import Sudo
from specttui.host.transport import reached
from specttui.probe.inspection import Inspection, inspect
from specttui.probe.patch import remove
from specttui.probe.targets import Target
from specttui.session import folders
from specttui.session.console import ConsolePrompter
from specttui.session.options import SessionOptions


@dataclass(frozen=True, slots=True)
class Checked:
    """What a check saw: the servers, and each server's worker file inspected."""

    host: str
    discovery: Discovery
    inspections: tuple[Inspection | None, ...]


async def check(options: SessionOptions, prompter: Prompter | None = None) -> Checked:
    """Look at a host and go; changes nothing there.

    Args:
        options: The host, and how to reach it.
        prompter: Asked about host keys and for secrets; the terminal by default.

    Raises:
        SpecttuiError: The host cannot be reached or looked at.
    """
    inspecting = partial(inspect, targets=options.targets)
    asked = prompter or ConsolePrompter()
    async with visit(options, asked) as remote:
        discovery = await discover(
            remote,
            port=options.server_port,
            log_path=options.log_path,
            inspect_source=inspecting,
            sudo=Sudo(remote, asked, options.sudo),
        )
    inspections = tuple(_inspection(server, options.targets) for server in discovery.servers)
    return Checked(options.name or str(options.target), discovery, inspections)


async def restore(options: SessionOptions, path: str | None = None, prompter: Prompter | None = None) -> str:
    """Bring back what sessions changed on a host, with only what lies there.

    That is patched worker files, edited draft configurations, and overrides of systemd units.

    Args:
        options: The host, and how to reach it; its `server_port` names the server whose worker is meant.
        path: The file; by default every file that a session noted on the host or that a server runs, and
            every override.
        prompter: Asked about host keys and for secrets; the terminal by default.

    Returns:
        One line per file and override: what was done.

    Raises:
        UsageError: The host's profile is read-only.
        SpecttuiError: The host cannot be reached, or a file cannot be restored; the others were.
    """
    if options.readonly:
        raise UsageError(
            "restore would change the host, and its profile is read-only",
            remedy="Take `readonly` out of the profile, or name the host itself.",
        )
    asked = prompter or ConsolePrompter()
    async with visit(options, asked) as remote:
        sudo = Sudo(remote, asked, options.sudo)
        paths = [path] if path else await _candidates(remote, options, sudo)
        lines = [await _restore_one(remote, each, sudo) for each in paths]
        lines += [] if path else await _undo_overrides(remote, sudo)
    return "\n".join(lines) or "Nothing to restore: no session left a change, no server's worker is patched."


async def _undo_overrides(remote: Remote, sudo: Sudo) -> list[str]:
    overrides = UnitOverrides(remote, sudo)
    lines = []
    for unit in await overrides.find():
        await overrides.undo(unit)
        lines.append(f"{unit.name}: runs its own command again from its next start on")
    return lines


@asynccontextmanager
async def visit(options: SessionOptions, prompter: Prompter) -> AsyncIterator[Remote]:
    """A host, connected for as long as the context lasts."""
    link = Link(options.target, prompter, options.connect)
    await link.start()
    try:
        yield reached(link, options.via)
    finally:
        await link.close()


async def _candidates(remote: Remote, options: SessionOptions, sudo: Sudo) -> list[str]:
    """Files that sessions noted on the host, and patched files of running servers, each once."""
    paths = [record.path for record in await find_journals(remote)]
    try:
        discovery = await discover(remote, port=options.server_port, inspect_source=inspect, sudo=sudo)
    except RemoteCommandError:
        if not paths:
            raise
        return list(dict.fromkeys(paths))  # without Python on the host, the sessions' own notes must do
    for server in discovery.servers:
        workers = (server.info.worker, *server.info.other_workers)
        paths += [worker.path for worker in workers if worker.state is FileState.PATCHED]
    return list(dict.fromkeys(paths))


async def _restore_one(remote: Remote, path: str, sudo: Sudo) -> str:
    session_id = datetime.now(UTC).strftime("restore-%Y%m%d-%H%M%S")
    guarded = GuardedFile(remote, path, session_id, folders.home() / "restored" / session_id, sudo)
    contents = await guarded.read()
    if not path.endswith(".py"):  # no worker file: what it was is known from its backup alone
        done = await guarded.restore(take_over=True)
        return f"{path}: restored, byte for byte (sha256 {done.sha256})"
    inspection = inspect(contents.data, path)
    if inspection.state is FileState.ORIGINAL:
        if (await guarded.surroundings()).leftovers:
            await guarded.restore(contents.data, expected_sha256=contents.sha256, take_over=True)
        return f"{path}: is the original already"
    original = remove(contents.data)
    done = await guarded.restore(original, expected_sha256=contents.sha256, take_over=True)
    return f"{path}: restored, byte for byte (sha256 {done.sha256})"


def _inspection(server: FoundServer, targets: Sequence[Target]) -> Inspection | None:
    path = server.info.worker.path
    source = server.sources.get(path)
    return inspect(source, path, targets=targets) if source is not None else None
