"""What the command line does without the screen: the same code as the screen's, printed instead of drawn."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

from specttui.config import Settings
from specttui.errors import UsageError
from specttui.log.summary import render as render_log
from specttui.log.summary import summarise
from specttui.log.summary import to_dict as log_to_dict
from specttui.probe.describe import describe, to_dict
from specttui.probe.inspection import inspect
from specttui.session import folders
from specttui.session.export import Format, render

#: Bytes read at a time from a saved log.
_PIECE = 1 << 20


def check_host(
    host: str, settings: Settings, *, server_port: int | None, use_ssh_config: bool, as_json: bool
) -> str:
    """What runs on a host, and what patching would hook; changes nothing there.

    Raises:
        SpecttuiError: The host cannot be reached or looked at.
    """
    from specttui.session.checking import check, check_json, check_text
    from specttui.session.choose import session_options

    options = session_options(host, settings, server_port=server_port, use_ssh_config=use_ssh_config)
    found = asyncio.run(check(options))
    return _as_json(check_json(found)) if as_json else check_text(found)


def restore_host(
    host: str, settings: Settings, *, path: str | None, server_port: int | None, use_ssh_config: bool
) -> str:
    """Bring the original worker file of a host back.

    Raises:
        SpecttuiError: The host cannot be reached, or no original is known.
    """
    from specttui.session.checking import restore
    from specttui.session.choose import session_options

    options = session_options(host, settings, server_port=server_port, use_ssh_config=use_ssh_config)
    return asyncio.run(restore(options, path))


def examine_host(
    host: str, settings: Settings, *, server_port: int | None, use_ssh_config: bool, as_json: bool
) -> tuple[str, bool]:
    """What works on the way to a host and on it; changes nothing there.

    Returns:
        The findings, and whether nothing failed.

    Raises:
        UsageError: The place to connect to cannot be read.
    """
    from specttui.session.choose import session_options
    from specttui.session.console import ConsolePrompter
    from specttui.session.doctor import examine

    options = session_options(host, settings, server_port=server_port, use_ssh_config=use_ssh_config)
    found = asyncio.run(examine(options, ConsolePrompter()))
    return _as_json(found.as_data()) if as_json else found.as_text(), found.healthy


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
