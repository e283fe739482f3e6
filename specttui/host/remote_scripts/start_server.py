"""Start a server detached, from a script kept in the user's cache folder. Runs on the host."""
# Plain os calls: the program starts anew for every look, and /proc holds thousands of links; the program
# has one thread.
# ruff: noqa: PLW1509, PTH102, PTH108, PTH110, PTH112, PTH118, PTH120, PTH208

import os
import pwd
import subprocess
import time
from typing import Any

from specttui.host.remote_scripts import launch_script, procfs

_WAIT_S = 20.0
_KEPT = 20
_TAIL_BYTES = 8192


class Owner:
    """The account that the server is to run as, and its cache folder.

    Args:
        name: Its login name, "" for our own account.
    """

    def __init__(self, name: str) -> None:
        self.entry = pwd.getpwnam(name) if name else pwd.getpwuid(os.geteuid())
        self.is_us = self.entry.pw_uid == os.geteuid()
        home = os.environ.get("HOME", self.entry.pw_dir) if self.is_us else self.entry.pw_dir
        cache = os.environ.get("XDG_CACHE_HOME", "") if self.is_us else ""
        self.folder = os.path.join(cache or os.path.join(home, ".cache"), "specttui")

    def become(self) -> None:
        """Drop root's rights for the server's account."""
        os.initgroups(self.entry.pw_name, self.entry.pw_gid)
        os.setgid(self.entry.pw_gid)
        os.setuid(self.entry.pw_uid)

    def give(self, path: str) -> None:
        """Make a file that we wrote the account's own."""
        if not self.is_us:
            os.chown(path, self.entry.pw_uid, self.entry.pw_gid)

    def make_folder(self) -> None:
        """Make the cache folder, for nobody but the account."""
        missing = []
        path = self.folder
        while not os.path.isdir(path):
            missing.append(path)
            path = os.path.dirname(path)
        for path in reversed(missing):
            os.mkdir(path, 0o700)
            self.give(path)


def _write(owner: Owner, path: str, data: bytes, mode: int) -> None:
    """Write a file that has its mode from its first moment on."""
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    with os.fdopen(fd, "wb") as file:
        file.write(data)
    owner.give(path)


def _prune(folder: str) -> None:
    """Keep the last launches: they hold the server's environment, and so perhaps its secrets."""
    scripts = sorted(
        name for name in os.listdir(folder) if name.startswith("launch-") and name.endswith(".sh")
    )
    for name in scripts[:-_KEPT]:
        for ending in (".sh", ".env", ".pid", ".exit"):
            path = os.path.join(folder, name[:-3] + ending)
            if os.path.exists(path):
                os.unlink(path)


def _open_log(owner: Owner, wanted: str, fallback: str) -> "tuple[int, str, str]":
    """Open the wanted log for appending, or a new one in the cache folder, with the reason."""
    reason = ""
    if wanted:
        try:
            if owner.is_us or os.path.exists(wanted):
                return os.open(wanted, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644), wanted, ""
            reason = f"{wanted} does not exist any more"
        except OSError as error:
            reason = f"{wanted}: {error.strerror}"
    fd = os.open(fallback, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    owner.give(fallback)
    return fd, fallback, reason


def _wait_for_pid(process: "subprocess.Popen[bytes]", path: str) -> "procfs.Process | None":
    """The server's process once it has named itself; None when the script ended before."""
    deadline = time.monotonic() + _WAIT_S
    while time.monotonic() < deadline:
        named = procfs.read_bytes(path)
        if named:
            return procfs.read_process(int(named))
        if process.poll() is not None:
            return None
        time.sleep(0.02)
    return None


def main(parameters: "dict[str, Any]") -> "dict[str, Any]":
    """Start the server.

    Args:
        parameters: `argv`, `env`, `cwd`, `user`, `log_path`, `name` (of the launch), `title`.

    Returns:
        Where it runs and logs; `pid` 0 when it did not start, with the log's `said`.
    """
    owner = Owner(parameters["user"])
    if not owner.is_us and os.geteuid() != 0:
        return {"pid": 0, "refused": procfs.user_name(os.geteuid())}
    owner.make_folder()
    base = os.path.join(owner.folder, "launch-" + parameters["name"])
    log, log_path, note = _open_log(owner, parameters["log_path"], base + ".log")
    offset = os.fstat(log).st_size
    items = [f"{name}={value}".encode() for name, value in parameters["env"].items()]
    _write(owner, base + ".env", b"\0".join(items), 0o600)
    text = launch_script.render(parameters["argv"], parameters["cwd"] or "/", base, parameters["title"])
    _write(owner, base + ".sh", text.encode(), 0o700)
    process = subprocess.Popen(
        ["/bin/sh", base + ".sh"],
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=log,
        cwd="/",
        start_new_session=True,
        preexec_fn=None if owner.is_us else owner.become,
    )
    os.close(log)
    server = _wait_for_pid(process, base + ".pid")
    _prune(owner.folder)
    said = b"" if server else (procfs.read_bytes(log_path) or b"")[offset:][-_TAIL_BYTES:]
    return {
        "pid": server.pid if server else 0,
        "start_ticks": server.start_ticks if server else 0,
        "session": process.pid,
        "log_path": log_path,
        "log_offset": offset,
        "script_path": base + ".sh",
        "exit_path": base + ".exit",
        "note": note,
        "said": procfs.text(said),
    }
