"""`specttui restore`: bring back what sessions changed on a host, with only what lies there."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from datetime import UTC, datetime
from functools import partial

from specttui.errors import RemoteCommandError, SpecttuiError, UsageError
from specttui.events import FileState
from specttui.host.discovery import discover
from specttui.host.files import GuardedFile
from specttui.host.leftovers import Thing, Traces, clear_away, find_traces
from specttui.host.managers.overrides import Unit, UnitOverrides
from specttui.host.prompts import Prompter
from specttui.host.remote import Remote
from specttui.host.sudo import Sudo
from specttui.probe.inspection import inspect
from specttui.probe.patch import remove
from specttui.session import folders
from specttui.session.checking import visit
from specttui.session.console import ConsolePrompter
from specttui.session.options import SessionOptions

_NOTHING = "Nothing to restore: no session left a change, no server's worker is patched."

#: One thing to bring back or clear away; answers with what was done.
Step = Callable[[], Awaitable[str]]


async def restore(options: SessionOptions, path: str | None = None, prompter: Prompter | None = None) -> str:
    """Bring back what sessions changed on a host.

    That is patched worker files, edited draft configurations, overrides of systemd units, and what dead
    sessions left in our cache folder there.

    Args:
        options: The host, and how to reach it; its `server_port` names the server whose worker is meant.
        path: The file; by default every file that a session noted on the host or that a server runs, and
            all the rest.
        prompter: Asked about host keys and for secrets; the terminal by default.

    Returns:
        One line per thing: what was done.

    Raises:
        UsageError: The host's profile is read-only.
        SpecttuiError: The host cannot be reached, or something cannot be brought back; all else was, and
            its lines are in the cause.
    """
    if options.readonly:
        raise UsageError(
            "restore would change the host, and its profile is read-only",
            remedy="Take `readonly` out of the profile, or name the host itself.",
        )
    asked = prompter or ConsolePrompter()
    async with visit(options, asked) as remote:
        sudo = Sudo(remote, asked, options.sudo)
        steps = [_file(remote, path, sudo)] if path else await _all_steps(remote, options, sudo)
        return await _carry_out(steps)


async def _carry_out(steps: list[Step]) -> str:
    lines: list[str] = []
    failures: list[SpecttuiError] = []
    for step in steps:
        try:
            lines.append(await step())
        except SpecttuiError as error:
            failures.append(error)
    if failures:
        first, *others = failures
        first.cause = "\n".join(text for text in (first.cause, *map(str, others), *lines) if text)
        raise first
    return "\n".join(lines) or _NOTHING


async def _all_steps(remote: Remote, options: SessionOptions, sudo: Sudo) -> list[Step]:
    traces = await find_traces(remote)
    overrides = UnitOverrides(remote, sudo)
    return [
        *(_file(remote, path, sudo) for path in await _files(remote, options, sudo, traces)),
        *[_override(overrides, unit) for unit in await overrides.find()],
        *(_thing(remote, thing) for thing in traces.things if thing.session_id not in traces.living),
    ]


async def _files(remote: Remote, options: SessionOptions, sudo: Sudo, traces: Traces) -> list[str]:
    """Files that sessions noted on the host, and patched files of running servers, each once."""
    paths = list(_noted(traces))
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


def _noted(traces: Traces) -> Iterator[str]:
    """Changed files, newest first; then worker files that only have something lying beside them."""
    records = [record for around in traces.files for record in around.journals]
    yield from (record.path for record in sorted(records, key=lambda record: -record.time_s))
    yield from (
        around.resolved_path
        for around in traces.files
        if around.resolved_path.endswith(".py") and not around.journals and around.leftovers
    )


def _file(remote: Remote, path: str, sudo: Sudo) -> Step:
    return partial(_restore_file, remote, path, sudo)


async def _restore_file(remote: Remote, path: str, sudo: Sudo) -> str:
    session_id = _own_id()
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


def _override(overrides: UnitOverrides, unit: Unit) -> Step:
    async def undo() -> str:
        await overrides.undo(unit)
        return f"{unit.name}: runs its own command again from its next start on"

    return undo


def _thing(remote: Remote, thing: Thing) -> Step:
    async def clear() -> str:
        await clear_away(remote, thing.path, _own_id(), of_session=thing.session_id)
        return f"{thing.path}: the {thing.what} of session {thing.session_id} was cleared away"

    return clear


def _own_id() -> str:
    return datetime.now(UTC).strftime("restore-%Y%m%d-%H%M%S")
