"""Change what a systemd unit runs, by a drop-in that a reboot removes, and take it back. Runs on the host.

The drop-in lies in the volatile part of systemd's own search path (/run for the system), so nothing of the
unit's files is touched. It resets ExecStart to a small script of ours; arguments and environment lie in files
that only the unit's user can read, so nothing of them shows in `systemctl show`. See systemd.unit(5) on
drop-ins and UnitPath, systemd.service(5) on ExecStart, systemd.exec(5) on the variables that it sets itself.
"""
# Plain os calls: the program starts anew for every step.
# ruff: noqa: PTH103, PTH104, PTH106, PTH107, PTH110, PTH112, PTH118, PTH120, PTH208

import contextlib
import os
import pwd
import re
import shlex
import subprocess
import sys
import time
from typing import Any

from specttui.host.remote_scripts import procfs

#: Drop-ins apply in the order of their names, whatever folder they lie in: ours comes last.
DROP_IN = "zzz-specttui.conf"
_FOLDER = re.compile(r"/run/(?:user/\d+/)?systemd/(?:system|user)$")
_PROPERTIES = (
    "Id", "LoadState", "ActiveState", "SubState", "Result", "Transient", "FragmentPath", "DropInPaths",
    "User", "MainPID", "NRestarts", "ExecMainCode", "ExecMainStatus",
)  # fmt: skip
_COMMAND_S = 60.0
_JOB_S = 300.0
_PID_S = 20.0

#: Becomes the server: its environment from a file, but for what systemd says anew at each start.
_BECOME = """\
import os, sys
items = open(sys.argv[1], "rb").read().split(b"\\0")
env = dict(item.split(b"=", 1) for item in items if b"=" in item)
for name in sys.argv[2].encode().split(b","):
    env.pop(name, None)
    if name in os.environb:
        env[name] = os.environb[name]
os.chdir(sys.argv[3])
os.execvpe(sys.argv[4], sys.argv[4:], env)
"""
#: What systemd sets anew at each start; systemd.exec(5).
LIVE_VARIABLES = (
    "NOTIFY_SOCKET", "INVOCATION_ID", "JOURNAL_STREAM", "LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES",
    "MAINPID", "MANAGERPID", "SYSTEMD_EXEC_PID", "WATCHDOG_PID", "WATCHDOG_USEC", "CREDENTIALS_DIRECTORY",
)  # fmt: skip
_LIVE = ",".join(LIVE_VARIABLES)
_TEXT = """\
# {title}
# To take it back: specttui restore HOST, or remove this file and run systemctl daemon-reload.
[Service]
Type=simple
PIDFile=
WatchdogSec=0
Restart=no
ExecStart=
ExecStart=/bin/sh {script}
"""


class Control:
    """`systemctl` for one of the two managers.

    Args:
        scope: `system` or `user`.
    """

    def __init__(self, scope: str) -> None:
        self.words = ["systemctl", "--user"] if scope == "user" else ["systemctl"]
        self.complaint = ""
        runtime = f"/run/user/{os.geteuid()}"
        self.env = dict(os.environ)
        if scope == "user" and "XDG_RUNTIME_DIR" not in self.env and os.path.isdir(runtime):
            self.env["XDG_RUNTIME_DIR"] = runtime
        self.own_folder = os.path.join(self.env.get("XDG_RUNTIME_DIR", ""), "systemd/user")

    def run(self, *words: str, timeout_s: float = _COMMAND_S) -> "tuple[int, str]":
        """Run it; its exit status, and all that it printed."""
        try:
            done = subprocess.run(
                [*self.words, *words],
                env=self.env,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                timeout=timeout_s,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return 124, f"{' '.join([*self.words, *words])} took longer than {timeout_s:.0f} s"
        except OSError as error:
            return 127, str(error)
        return done.returncode, procfs.text(done.stdout)

    def folder(self) -> str:
        """The volatile folder of the manager's search path, "" when it has none or does not answer."""
        status, said = self.run("show", "--property=UnitPath", "--value")
        self.complaint = "" if status == 0 else said.strip()
        paths = said.split() if status == 0 else []
        if "--user" in self.words and self.own_folder in paths:
            return self.own_folder  # wherever a login has it
        return next((path for path in paths if _FOLDER.search(path)), "")

    def properties(self, unit: str) -> "dict[str, str]":
        """What the manager says of a unit."""
        status, said = self.run("show", f"--property={','.join(_PROPERTIES)}", "--", unit)
        pairs = (line.partition("=") for line in said.splitlines()) if status == 0 else ()
        return {name: value for name, _, value in pairs}


class Place:
    """Where the files of one unit's override lie.

    Args:
        folder: The volatile folder of the search path.
        unit: The unit.
    """

    def __init__(self, folder: str, unit: str) -> None:
        self.drop_ins = os.path.join(folder, unit + ".d")
        self.drop_in = os.path.join(self.drop_ins, DROP_IN)
        self.own = os.path.join(os.path.dirname(os.path.dirname(folder)), "specttui")
        self.script = os.path.join(self.own, unit + ".sh")
        self.environment = os.path.join(self.own, unit + ".env")


def _write(path: str, data: bytes, mode: int, uid: int) -> None:
    """Write a file whole, with its mode and owner from its first moment on."""
    partial = path + ".new"
    with contextlib.suppress(FileNotFoundError):
        os.remove(partial)
    fd = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    with os.fdopen(fd, "wb") as file:
        os.fchmod(fd, mode)
        if uid != os.geteuid():
            os.fchown(fd, uid, -1)
        file.write(data)
    os.rename(partial, path)


def _uid(user: str) -> int:
    """The account of a unit; systemd allows a number too."""
    if not user:
        return os.geteuid()
    return int(user) if user.isdigit() else pwd.getpwnam(user).pw_uid


def _script(place: Place, parameters: "dict[str, Any]") -> str:
    words = [sys.executable, "-I", "-S", "-c", _BECOME, place.environment, _LIVE, parameters["cwd"] or "/"]
    line = " \\\n  ".join(shlex.quote(word) for word in [*words, *parameters["argv"]])
    return f"#!/bin/sh\n# {parameters['title']}\nexec {line}\n"


def _remove(place: Place) -> None:
    for path in (place.drop_in, place.script, place.environment):
        with contextlib.suppress(FileNotFoundError):
            os.remove(path)
    for folder in (place.drop_ins, place.own):
        with contextlib.suppress(OSError):
            os.rmdir(folder)


def look(control: Control, parameters: "dict[str, Any]") -> "dict[str, Any]":
    """The unit, and whether this account may change it."""
    folder = control.folder()
    above = folder
    while above and not os.path.isdir(above):
        above = os.path.dirname(above)
    place = Place(folder, parameters["unit"])
    return {
        "folder": folder,
        "allowed": bool(folder) and os.access(above, os.W_OK),
        "ours": bool(folder) and os.path.exists(place.drop_in),
        "drop_in": place.drop_in,
        "unit": control.properties(parameters["unit"]),
        "complaint": control.complaint,
    }


def write(control: Control, parameters: "dict[str, Any]") -> "dict[str, Any]":
    """Put the override in place and see that systemd took it; on any failure nothing of it stays."""
    unit = parameters["unit"]
    place = Place(control.folder(), unit)
    uid = _uid(control.properties(unit).get("User", ""))
    try:
        os.makedirs(place.drop_ins, 0o755, exist_ok=True)
        os.makedirs(place.own, 0o711, exist_ok=True)
        items = [f"{name}={value}".encode() for name, value in parameters["env"].items()]
        _write(place.environment, b"\0".join(items), 0o600, uid)
        _write(place.script, _script(place, parameters).encode(), 0o600, uid)
        text = _TEXT.format(title=parameters["title"], script=place.script)
        _write(place.drop_in, text.encode(), 0o644, os.geteuid())
        said = _reload(control)
        if not said and place.drop_in not in control.properties(unit).get("DropInPaths", "").split():
            said = f"systemd did not take {place.drop_in}"
    except (OSError, KeyError) as error:
        said = str(error)
    if said:
        _remove(place)
        _reload(control)
    return {"drop_in": place.drop_in, "error": said}


def undo(control: Control, parameters: "dict[str, Any]") -> "dict[str, Any]":
    """Take the override back; the running server is not touched."""
    place = Place(control.folder(), parameters["unit"])
    had = os.path.exists(place.drop_in)
    try:
        _remove(place)
    except OSError as error:
        return {"had": had, "error": str(error)}
    return {"had": had, "error": _reload(control)}


def _reload(control: Control) -> str:
    status, said = control.run("daemon-reload")
    return "" if status == 0 else said.strip() or f"systemctl daemon-reload: exit status {status}"


def stop(control: Control, parameters: "dict[str, Any]") -> "dict[str, Any]":
    """Stop the unit; systemd does not bring back what it stopped itself."""
    status, said = control.run("stop", "--", parameters["unit"], timeout_s=_JOB_S)
    return {"error": "" if status == 0 else said.strip() or f"exit status {status}"}


def start(control: Control, parameters: "dict[str, Any]") -> "dict[str, Any]":
    """Start the unit and wait until its main process is there, and is no longer our script."""
    unit = parameters["unit"]
    place = Place(control.folder(), unit)
    control.run("reset-failed", "--", unit)
    status, said = control.run("start", "--", unit, timeout_s=_JOB_S)
    found = control.properties(unit)
    deadline = time.monotonic() + _PID_S
    while status == 0 and time.monotonic() < deadline:
        process = procfs.read_process(int(found.get("MainPID") or 0))
        if process is not None and not {place.script.encode(), _LIVE.encode()} & set(process.argv):
            return {"pid": process.pid, "start_ticks": process.start_ticks, "error": ""}
        if found.get("ActiveState") == "failed":
            break
        time.sleep(0.1)
        found = control.properties(unit)
    error = said.strip() or f"{unit} is {found.get('ActiveState')} ({found.get('Result')})"
    return {"pid": 0, "start_ticks": 0, "error": error}


def _overridden(control: Control) -> "list[dict[str, str]]":
    """The units of a manager that run with an override of ours, and what it says of itself."""
    folder = control.folder()
    names = sorted(os.listdir(folder)) if folder and os.path.isdir(folder) else []
    found = []
    for unit in (name[:-2] for name in names if name.endswith(".service.d")):
        drop_in = Place(folder, unit).drop_in
        if os.path.exists(drop_in):
            title = (procfs.read_bytes(drop_in) or b"").split(b"\n")[0]
            found.append({"unit": unit, "drop_in": drop_in, "title": procfs.text(title)})
    return found


def find(control: Control, parameters: "dict[str, Any]") -> "dict[str, Any]":
    """The units of both managers that run with an override of ours."""
    del control, parameters
    return {scope: _overridden(Control(scope)) for scope in ("system", "user")}


_STEPS = {"look": look, "write": write, "undo": undo, "stop": stop, "start": start, "find": find}


def main(parameters: "dict[str, Any]") -> "dict[str, Any]":
    """Take one step.

    Args:
        parameters: `step`, `scope` (`system` or `user`), `unit`; for `write` also `argv`, `env`, `cwd`,
            `title`.
    """
    return _STEPS[parameters["step"]](Control(parameters["scope"]), parameters)
