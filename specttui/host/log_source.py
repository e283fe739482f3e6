"""Where a server's output goes, and what to do when it cannot be followed there."""

from __future__ import annotations

from specttui.events import LogKind, LogSource, Manager, ManagerKind
from specttui.host.facts import Output

_DELETED = " (deleted)"
#: Programs that write what they read to a file that grows.
_FILE_WRITERS = ("tee", "rotatelogs", "multilog", "cronolog", "svlogd")


def log_source(output: Output, manager: Manager) -> LogSource:
    """Name the source of a server's log.

    SGLang logs to standard error, so that decides where the two differ.

    Args:
        output: Where the launcher's descriptors lead.
        manager: Who manages the server.
    """
    target = output.stderr or output.stdout
    if target.startswith("/dev/null"):
        return LogSource(kind=LogKind.NULL, path="/dev/null")
    if target.startswith(("/dev/pts/", "/dev/tty", "/dev/console")):
        return _managed(manager) or LogSource(kind=LogKind.TERMINAL, path=target, detail=manager.kind.value)
    if target.startswith("/"):
        return _file(target, output)
    if target.startswith(("pipe:", "socket:")):
        return _read_by_another(output) or _managed(manager) or LogSource(kind=LogKind.PIPE, detail=target)
    return LogSource(kind=LogKind.UNKNOWN, detail=target)


def _file(target: str, output: Output) -> LogSource:
    if target.endswith(_DELETED):
        detail = f"deleted: {target.removesuffix(_DELETED)}"
        return LogSource(kind=LogKind.FILE, path=output.descriptor, detail=detail)
    return LogSource(kind=LogKind.FILE, path=output.root + target)


def _read_by_another(output: Output) -> LogSource | None:
    """The file that a reader of the pipe, such as `tee`, writes the output to."""
    for reader in output.readers:
        if reader.title in _FILE_WRITERS and reader.files:
            return LogSource(
                kind=LogKind.FILE, path=output.root + reader.files[-1], detail=f"written by {reader.title}"
            )
    return None


def _managed(manager: Manager) -> LogSource | None:
    if manager.kind is ManagerKind.DOCKER and manager.detail in {"docker", "podman"}:
        return LogSource(kind=LogKind.DOCKER, path=manager.name, detail=manager.detail)
    if manager.kind is ManagerKind.SYSTEMD:
        return LogSource(kind=LogKind.JOURNAL, path=manager.name, detail=manager.detail)
    return None


def proposal(source: LogSource) -> str:
    """What the user can do to get at a log that cannot be followed; "" for one that can."""
    restart = "Restart the server through specttui, which appends its output to a file"
    match source.kind:
        case LogKind.TERMINAL if source.detail == ManagerKind.TMUX.value:
            return (
                f"{restart}; or run `tmux pipe-pane -o 'cat >> FILE'` in its pane and give FILE as the log."
            )
        case LogKind.TERMINAL | LogKind.NULL | LogKind.UNKNOWN:
            return f"{restart}; or start it with `>> FILE 2>&1` and give FILE as the log."
        case LogKind.PIPE:
            return f"{restart}; or give the file that the program at the pipe's end writes as the log."
        case _:
            return ""
