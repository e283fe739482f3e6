"""Start a server detached, from a script kept in the user's cache folder. Runs on the host."""
# Plain os calls: the program starts anew for every look, and /proc holds thousands of links.
# ruff: noqa: PTH102, PTH108, PTH110, PTH112, PTH118, PTH120, PTH208

import contextlib
import os
import pwd
import stat
import subprocess
import time
from typing import Any

from specttui.host.remote_scripts import launch_script, procfs

#: Where an account without a home of its own has its folder.
_SHARED = "/var/tmp"  # noqa: S108 - a folder there is used only when it is the account's alone
_WAIT_S = 20.0
_KEPT = 20
_TAIL_BYTES = 8192


class Owner:
    """The account that the server is to run as, and the folder where what we keep of it lies.

    Args:
        name: Its login name, or its number where it has none; "" for our own account.
        for_account: False when we are that user through sudo: then the environment is not that of a login.
    """

    def __init__(self, name: str, for_account: bool) -> None:
        self.uid = os.geteuid() if not name else int(name) if name.isdigit() else pwd.getpwnam(name).pw_uid
        self.is_us = self.uid == os.geteuid()
        try:
            self.entry: pwd.struct_passwd | None = pwd.getpwuid(self.uid)
        except KeyError:
            self.entry = None
        at_home = self.is_us and for_account
        home = self.entry.pw_dir if self.entry else "/"
        home = os.environ.get("HOME", home) if at_home else home
        cache = os.environ.get("XDG_CACHE_HOME", "") if at_home else ""
        self.folder = os.path.join(cache or os.path.join(home, ".cache"), "specttui")

    @property
    def reachable(self) -> bool:
        """True when we are that account, or can become it: root can, but groups are known by name only."""
        return self.is_us or (os.geteuid() == 0 and self.entry is not None)

    def become(self) -> None:
        """Drop root's rights for the server's account, for good."""
        if not self.is_us and self.entry is not None:
            os.initgroups(self.entry.pw_name, self.entry.pw_gid)
            os.setgid(self.entry.pw_gid)
            os.setuid(self.entry.pw_uid)

    def make_folder(self) -> None:
        """Make the folder, for nobody but the account; one without a home gets it elsewhere."""
        with contextlib.suppress(OSError):
            _make(self.folder)
        if not os.access(self.folder, os.W_OK | os.X_OK):
            own = f"{_SHARED}/specttui-{self.uid}"
            _make(own)
            found = os.lstat(own)
            if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid() or found.st_mode & 0o077:
                raise PermissionError(f"{own} was made by somebody else")
            self.folder = os.path.join(own, "specttui")
            _make(self.folder)


def _make(folder: str) -> None:
    """Make a folder and what is missing above it, for nobody but us."""
    missing = []
    while not os.path.isdir(folder):
        missing.append(folder)
        folder = os.path.dirname(folder)
    for path in reversed(missing):
        os.mkdir(path, 0o700)


def _write(path: str, data: bytes, mode: int) -> None:
    """Write a file that has its mode from its first moment on."""
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    with os.fdopen(fd, "wb") as file:
        file.write(data)


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


def _open_wanted(owner: Owner, wanted: str) -> int:
    """Open the wanted log for appending: root may have opened it for the account before.

    Raises:
        OSError: It cannot be opened, or leads elsewhere than it seems.
    """
    if owner.is_us:
        return os.open(wanted, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    *folders, name = wanted.strip("/").split("/")
    at = os.open("/", os.O_RDONLY)
    for folder in folders:  # as root: no link that the account has put in the way is followed
        below = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=at)
        os.close(at)
        at = below
    return os.open(name, os.O_WRONLY | os.O_APPEND | os.O_NOFOLLOW, dir_fd=at)


def _may_append(path: str) -> bool:
    exists = os.path.exists(path)
    return os.access(path, os.W_OK) if exists else os.access(os.path.dirname(path), os.W_OK | os.X_OK)


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


def _check(owner: Owner, parameters: "dict[str, Any]") -> "dict[str, Any]":
    """What would keep the server from being started, as far as that can be seen beforehand; as its user."""
    owner.become()
    cwd, wanted = parameters["cwd"] or "/", parameters["log_path"]
    problem = "" if os.access(cwd, os.X_OK) else f"{cwd} cannot be entered"
    try:
        owner.make_folder()
    except OSError as error:
        problem = f"No file of ours can be written: {error}"
    note = f"{wanted} cannot be written" if wanted and not _may_append(wanted) else ""
    return {"problem": problem, "note": note}


def _start(owner: Owner, parameters: "dict[str, Any]") -> "dict[str, Any]":
    """Start the server, with the wanted log or a new one beside its script."""
    log, log_path, note = -1, parameters["log_path"], ""
    try:
        log = _open_wanted(owner, log_path) if log_path else -1
    except OSError as error:
        note = f"{log_path}: {error.strerror}"
    owner.become()
    owner.make_folder()
    base = os.path.join(owner.folder, "launch-" + parameters["name"])
    if log < 0:
        log_path = base + ".log"
        log = os.open(log_path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    offset = os.fstat(log).st_size
    items = [f"{name}={value}".encode() for name, value in parameters["env"].items()]
    _write(base + ".env", b"\0".join(items), 0o600)
    text = launch_script.render(parameters["argv"], parameters["cwd"] or "/", base, parameters["title"])
    _write(base + ".sh", text.encode(), 0o700)
    process = subprocess.Popen(
        ["/bin/sh", base + ".sh"],
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=log,
        cwd="/",
        start_new_session=True,
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


def main(parameters: "dict[str, Any]") -> "dict[str, Any]":
    """Start the server.

    Args:
        parameters: `argv`, `env`, `cwd`, `user`, `log_path`, `name` (of the launch), `title`; `for_account`
            False when sudo made the user of us, or root in their place; `only_check` to start nothing.

    Returns:
        `refused` when we cannot become the user. After a check `problem` and, where the log cannot be
        written, a `note`. Else where it runs and logs; `pid` 0 when it did not start, with the log's `said`.
    """
    owner = Owner(parameters["user"], parameters["for_account"])
    if not owner.reachable:
        return {"pid": 0, "refused": procfs.user_name(os.geteuid())}
    return _check(owner, parameters) if parameters["only_check"] else _start(owner, parameters)
