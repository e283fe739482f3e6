"""Where sessions are kept on this machine, and how one is named and found again.

Recordings and backups of other people's files are data, not cache: they live in the platform's folder for
user data (`SPECTTUI_HOME` overrides it), one folder per session, readable by their owner only.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import platformdirs

from specttui.errors import RecordingError
from specttui.private_files import private_folder

#: The recording inside a session folder.
EVENTS_NAME = "events.jsonl"
#: The variable that replaces the platform's data folder.
HOME_VARIABLE = "SPECTTUI_HOME"
#: Names the newest session wherever one is asked for.
LATEST = "latest"

_UNSAFE = re.compile(r"[^A-Za-z0-9.-]+")
_NAME_LIMIT = 60


@dataclass(frozen=True, slots=True)
class SessionFolder:
    """One session's folder; its name is the session's id."""

    path: Path

    @property
    def session_id(self) -> str:
        """The session's id, such as `20261129-142233-gpu-host`."""
        return self.path.name

    @property
    def events_path(self) -> Path:
        """The recording."""
        return self.path / EVENTS_NAME

    @property
    def backups_path(self) -> Path:
        """Where copies of the host's files go."""
        return self.path / "backups"

    def backups_of(self, number: int, host: str) -> Path:
        """Where copies of one host's files go, in a session on several.

        Args:
            number: The host's place on the command line; two names may look alike as folders.
            host: The host as the user wrote it.
        """
        return self.backups_path / f"{number}-{_UNSAFE.sub('-', host.rpartition('@')[2])[:_NAME_LIMIT]}"

    @property
    def report_path(self) -> Path:
        """Where `export` writes unless told otherwise."""
        return self.path / "report.md"


def home(environ: Mapping[str, str] | None = None) -> Path:
    """The folder that holds everything we keep for this user.

    Args:
        environ: The environment to look in; the process's own by default.

    Returns:
        `$SPECTTUI_HOME` where it is set, else the platform's user data folder for specttui.
    """
    override = (os.environ if environ is None else environ).get(HOME_VARIABLE, "")
    return Path(override).expanduser() if override else Path(platformdirs.user_data_path("specttui", False))


def sessions_home(root: Path | None = None) -> Path:
    """The folder that holds the session folders; `root` replaces `home()`."""
    return (root or home()) / "sessions"


def session_name(target: str, started: datetime) -> str:
    """A session's id: UTC time, then the host without its user and with safe characters only.

    Args:
        target: The host as the user wrote it, `[user@]host[:port]`.
        started: When the session began; must carry a time zone.
    """
    stamp = started.astimezone(UTC).strftime("%Y%m%d-%H%M%S")
    host = _UNSAFE.sub("-", target.rpartition("@")[2]).strip("-.")
    return f"{stamp}-{(host or 'host')[:_NAME_LIMIT].rstrip('-.')}"


def create(target: str, started: datetime, root: Path | None = None) -> SessionFolder:
    """Make a new session folder, mode 0700.

    Args:
        target: The host as the user wrote it.
        started: When the session began; must carry a time zone.
        root: Replaces `home()`.

    Raises:
        RecordingError: The folder cannot be made.
    """
    parent = sessions_home(root)
    name = session_name(target, started)
    try:
        private_folder(parent)
        return SessionFolder(_make_unique(parent, name))
    except OSError as error:
        raise RecordingError(
            f"No session folder can be made in {parent}",
            cause=str(error),
            remedy=f"Free space or permissions there, or set {HOME_VARIABLE} to a folder you can write.",
        ) from error


def list_sessions(root: Path | None = None) -> list[SessionFolder]:
    """All sessions that have a recording, newest first."""
    parent = sessions_home(root)
    if not parent.is_dir():
        return []
    folders = [SessionFolder(path) for path in parent.iterdir() if (path / EVENTS_NAME).is_file()]
    return sorted(folders, key=lambda folder: folder.session_id, reverse=True)


def resolve(reference: str, root: Path | None = None) -> Path:
    """Find the recording that a user means.

    Args:
        reference: `latest`, a recording's path, a session folder's path, a session id, or the beginning
            of one.
        root: Replaces `home()`.

    Returns:
        The path of the recording.

    Raises:
        RecordingError: Nothing matches, or more than one session does.
    """
    path = Path(reference).expanduser()
    if path.is_file():
        return path
    if (path / EVENTS_NAME).is_file():
        return path / EVENTS_NAME
    return _among(list_sessions(root), reference, sessions_home(root)).events_path


def _make_unique(parent: Path, name: str) -> Path:
    for number in range(1, 1000):
        path = parent / (name if number == 1 else f"{name}-{number}")
        try:
            path.mkdir(mode=0o700)
        except FileExistsError:
            continue
        return path
    raise OSError(f"{parent / name} and its numbered successors all exist")


def _among(folders: list[SessionFolder], reference: str, parent: Path) -> SessionFolder:
    if reference == LATEST and folders:
        return folders[0]
    exact = [folder for folder in folders if folder.session_id == reference]
    matches = exact or [folder for folder in folders if reference and folder.session_id.startswith(reference)]
    if len(matches) == 1:
        return matches[0]
    if matches:
        names = ", ".join(folder.session_id for folder in matches[:5])
        raise RecordingError(
            f"{len(matches)} sessions begin with '{reference}'", cause=names, remedy="Give more of the id."
        )
    known = ", ".join(folder.session_id for folder in folders[:5])
    raise RecordingError(
        f"No session or recording is called '{reference}'",
        cause=f"Newest sessions in {parent}: {known}" if known else f"{parent} holds no sessions.",
        remedy=f"Give a session's id, the path of its folder or {EVENTS_NAME}, or '{LATEST}'.",
    )
