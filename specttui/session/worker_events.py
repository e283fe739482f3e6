"""What a session tells of a worker file."""

from __future__ import annotations

from specttui.events import Alert, FileState, Severity, WorkerFileChecked
from specttui.host.file_records import Backup
from specttui.probe.marker import digest
from specttui.probe.patch import remove


def checked(path: str, state: FileState, data: bytes, backup: Backup | None) -> WorkerFileChecked:
    """A worker file as it is now.

    Args:
        path: The file.
        state: Patched, or the original.
        data: Its bytes.
        backup: This session's backup of it.

    Raises:
        PatchError: It is said to be patched and is not.
    """
    original = remove(data) if state is FileState.PATCHED else data
    return WorkerFileChecked(
        path=path,
        state=state,
        sha256=digest(data),
        original_sha256=digest(original),
        backup_path=backup.remote_path if backup else "",
        local_backup_path=backup.local_path if backup else "",
        size_bytes=len(data),
    )


def stale_bytecode(path: str, left: int) -> Alert:
    """So many compiled files of it could not be removed."""
    return Alert(
        severity=Severity.WARNING,
        message=f"{left} compiled files of {path} could not be removed",
        remedy="Python may run them instead of the file: remove them in its __pycache__ folder.",
    )
