"""What the command line does without the screen: the same code as the screen's, printed instead of drawn."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from specttui.config import Settings
from specttui.errors import SpecttuiError, UsageError
from specttui.log.summary import render as render_log
from specttui.log.summary import summarise
from specttui.log.summary import to_dict as log_to_dict
from specttui.probe.describe import describe, to_dict
from specttui.probe.inspection import inspect
from specttui.session import folders
from specttui.session.export import Format, render

if TYPE_CHECKING:
    from specttui.session.options import SessionOptions

Found = TypeVar("Found")

#: Bytes read at a time from a saved log.
_PIECE = 1 << 20


def check_hosts(
    hosts: Sequence[str],
    settings: Settings,
    *,
    server_port: int | None,
    use_ssh_config: bool,
    as_json: bool,
) -> str:
    """What runs on hosts, and what patching would hook; changes nothing there.

    Returns:
        Text, or JSON: one object for one host, a list for several.

    Raises:
        SpecttuiError: A host cannot be reached or looked at.
    """
    from specttui.session.checking import check
    from specttui.session.checking_text import check_json, check_text

    found = [
        asyncio.run(check(options))
        for options in _options(hosts, settings, server_port=server_port, use_ssh_config=use_ssh_config)
    ]
    return (
        _as_json(_one_or_all([check_json(each) for each in found])) if as_json else _each(found, check_text)
    )


def restore_hosts(
    hosts: Sequence[str],
    settings: Settings,
    *,
    path: str | None,
    server_port: int | None,
    use_ssh_config: bool,
) -> str:
    """Bring the original worker files of hosts back; one that fails keeps no other from it.

    Raises:
        SpecttuiError: A host cannot be reached, or no original is known; the cause tells of the others.
    """
    from specttui.session.restoring import restore

    done: list[str] = []
    failures: list[SpecttuiError] = []
    chosen = _options(hosts, settings, server_port=server_port, use_ssh_config=use_ssh_config)
    for options in chosen:
        try:
            text = asyncio.run(restore(options, path))
        except SpecttuiError as error:
            error.title = _on(options.shown_name, error.title, chosen)
            failures.append(error)
        else:
            done += [_on(options.shown_name, line, chosen) for line in text.splitlines()]
    if failures:
        others = [str(error) for error in failures[1:]]
        failures[0].cause = "\n".join(part for part in (failures[0].cause, *others, *done) if part)
        raise failures[0]
    return "\n".join(done)


def examine_hosts(
    hosts: Sequence[str],
    settings: Settings,
    *,
    server_port: int | None,
    use_ssh_config: bool,
    as_json: bool,
) -> tuple[str, bool]:
    """What works on the way to hosts and on them; changes nothing there.

    Returns:
        The findings (as JSON one object for one host, a list for several), and whether nothing failed.

    Raises:
        UsageError: The place to connect to cannot be read.
    """
    from specttui.session.console import ConsolePrompter
    from specttui.session.doctor import examine

    found = [
        asyncio.run(examine(options, ConsolePrompter()))
        for options in _options(hosts, settings, server_port=server_port, use_ssh_config=use_ssh_config)
    ]
    text = (
        _as_json(_one_or_all([each.as_data() for each in found]))
        if as_json
        else _each(found, lambda each: each.as_text())
    )
    return text, all(each.healthy for each in found)


def _options(
    hosts: Sequence[str], settings: Settings, *, server_port: int | None, use_ssh_config: bool
) -> tuple[SessionOptions, ...]:
    from specttui.session.choose import options_of_all

    return options_of_all(hosts, settings, server_port=server_port, use_ssh_config=use_ssh_config)


def _each(found: Sequence[Found], as_text: Callable[[Found], str]) -> str:
    return "\n\n".join(as_text(each) for each in found)


def _one_or_all(found: list[Any]) -> Any:  # noqa: ANN401 - anything JSON can hold
    return found[0] if len(found) == 1 else found


def _on(name: str, text: str, chosen: Sequence[SessionOptions]) -> str:
    return f"{name}: {text}" if len(chosen) > 1 else text


def export_session(session: str, format: Format) -> str:  # noqa: A002 - the word users know
    """A recorded session's report.

    Raises:
        RecordingError: There is no such session, or it cannot be read.
    """
    return render(folders.resolve(session).parent, format)


def list_sessions() -> str:
    """The recorded sessions, newest first, one per line; a hint where there are none."""
    found = folders.list_sessions()
    if not found:
        return "No sessions are recorded yet. Start with: specttui demo"
    return "\n".join(f"{folder.session_id}  {folder.path}" for folder in found)


def summarise_log(file: Path, *, as_json: bool) -> str:
    """What a saved log holds.

    Raises:
        UsageError: The file cannot be read.
    """
    try:
        stream = sys.stdin.buffer if str(file) == "-" else file.open("rb")
    except OSError as error:
        raise _unreadable(file, error) from error
    with stream:
        summary = summarise(iter(lambda: stream.read(_PIECE), b""))
    return _as_json(log_to_dict(summary)) if as_json else render_log(summary)


def inspect_file(file: Path, *, as_json: bool) -> str:
    """What the probe would see in a local worker file.

    Raises:
        UsageError: The file cannot be read.
    """
    try:
        inspection = inspect(file.read_bytes(), str(file))
    except OSError as error:
        raise _unreadable(file, error) from error
    return _as_json(to_dict(inspection)) if as_json else describe(inspection)


def _as_json(value: Any) -> str:  # noqa: ANN401 - anything JSON can hold
    return json.dumps(value, indent=2, ensure_ascii=False)


def _unreadable(file: Path, error: OSError) -> UsageError:
    return UsageError(f"{file} cannot be read", cause=str(error.strerror), remedy="Check the path.")
