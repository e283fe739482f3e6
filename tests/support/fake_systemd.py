"""A small systemd: `systemctl` on PATH that reads unit files and drop-ins, and really starts and stops."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from specttui.events import Manager, ManagerKind
from specttui.host.facts import Surroundings

#: What a unit's processes are recognised by, in place of their control group.
UNIT_VARIABLE = "FAKE_SYSTEMD_UNIT"

_SYSTEMCTL = '''\
#!{python} -S
"""systemctl: what is loaded changes with daemon-reload only, as in systemd."""
import glob, json, os, shlex, signal, subprocess, sys, time

root = {root!r}
paths = [root + "/etc/systemd/system", root + "/run/systemd/system"]
words = sys.argv[1:]
with open(root + "/calls", "a") as calls:
    calls.write(json.dumps(words) + "\\n")
if words[:1] == ["--user"]:
    sys.exit("Failed to connect to bus: No medium found")
verb = words[0]
options = [w for w in words[1:] if w.startswith("--") and w != "--"]
names = [w for w in words[1:] if not w.startswith("--")]

def kept(name, default):
    try:
        with open(root + "/state/" + name) as file:
            return json.load(file)
    except OSError:
        return default

def keep(name, value):
    with open(root + "/state/" + name + ".new", "w") as file:
        json.dump(value, file)
    os.rename(root + "/state/" + name + ".new", root + "/state/" + name)

def load(unit):
    """Settings by name, lists where a setting may be repeated; an empty one resets it."""
    drop_ins = [f for p in paths for f in glob.glob(p + "/" + unit + ".d/*.conf")]
    settings = {{"DropInPaths": sorted(drop_ins, key=os.path.basename), "ExecStart": [], "Environment": []}}
    for file in [paths[0] + "/" + unit, *settings["DropInPaths"]]:
        for line in open(file).read().splitlines():
            name, equals, value = line.partition("=")
            if not equals or line.startswith("#"):
                continue
            if name in ("ExecStart", "Environment"):
                settings[name] = settings[name] + [value] if value else []
            else:
                settings[name] = value
    return settings

def loaded(unit):
    return kept("loaded-" + unit, None) or load(unit)

def alive(pid):
    try:
        return open("/proc/%d/stat" % pid).read().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False

def state(unit):
    return kept("state-" + unit, {{"manager": 0, "main": 0, "restarts": 0, "failed": False}})

def run(unit):
    """What systemd is to one unit: starts its command, and starts it again as `Restart` says."""
    settings = loaded(unit)
    env = {{"PATH": "/usr/bin:/bin", "INVOCATION_ID": os.urandom(8).hex(), {variable!r}: unit}}
    for item in settings["Environment"]:
        env.update(word.partition("=")[::2] for word in shlex.split(item))
    log = open(settings["StandardError"].partition(":")[2], "ab")
    now = {{"manager": os.getpid(), "main": 0, "restarts": 0, "failed": False}}
    while True:
        process = subprocess.Popen(shlex.split(settings["ExecStart"][-1]), env=env, stdin=subprocess.DEVNULL,
                                   stdout=log, stderr=log, start_new_session=True)
        keep("state-" + unit, dict(now, main=process.pid))
        code = process.wait()
        again = settings.get("Restart") == "always" or (settings.get("Restart") == "on-failure" and code)
        if os.path.exists(root + "/state/stopping-" + unit) or not again:
            keep("state-" + unit, dict(now, manager=0, failed=code != 0))
            return
        now["restarts"] += 1
        time.sleep(float(settings.get("RestartSec", "0.1")))
        if os.path.exists(root + "/state/stopping-" + unit):
            keep("state-" + unit, dict(now, manager=0))
            return

if verb == "show" and "--property=UnitPath" in options:
    print(" ".join(paths))
elif verb == "show":
    unit, now, settings = names[-1], state(names[-1]), loaded(names[-1])
    active = "active" if alive(now["main"]) and now["manager"] else "failed" if now["failed"] else "inactive"
    print("Id=" + unit, "ActiveState=" + active, "Result=success", "User=" + settings.get("User", ""),
          "Transient=" + settings.get("Transient", "no"), "NRestarts=%d" % now["restarts"],
          "MainPID=%d" % (now["main"] if active == "active" else 0),
          "DropInPaths=" + " ".join(settings["DropInPaths"]), sep="\\n")
elif verb == "daemon-reload":
    for file in glob.glob(paths[0] + "/*.service"):
        unit = os.path.basename(file)
        keep("loaded-" + unit, load(unit))
elif verb in ("start", "restart", "stop"):
    unit, stopping = names[-1], root + "/state/stopping-" + names[-1]
    if verb in ("stop", "restart"):
        open(stopping, "w").close()
        now = state(unit)
        if alive(now["main"]):
            os.kill(now["main"], signal.SIGTERM)
        while alive(now["manager"]):
            time.sleep(0.02)
    if verb in ("start", "restart"):
        if os.path.exists(stopping):
            os.remove(stopping)
        subprocess.Popen([sys.argv[0], "run", unit], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                         stderr=subprocess.DEVNULL, start_new_session=True)
        while not alive(state(unit)["main"]):
            time.sleep(0.02)
elif verb == "run":
    run(names[-1])
'''


@dataclass(frozen=True)
class FakeSystemd:
    """A scratch systemd with its own /etc and /run.

    Attributes:
        root: The folder that stands for the root of the file system.
        programs: The folder for PATH.
    """

    root: Path
    programs: Path

    @property
    def unit_files(self) -> Path:
        """Where unit files lie."""
        return self.root / "etc/systemd/system"

    @property
    def drop_ins(self) -> list[Path]:
        """All drop-ins in the volatile folder."""
        return sorted((self.root / "run").rglob("*.conf"))

    def calls(self, *verbs: str) -> list[str]:
        """What systemctl was asked, in order, of these verbs."""
        lines = (self.root / "calls").read_text().splitlines()
        asked = (" ".join(json.loads(line)) for line in lines)
        return [words for words in asked if words.split()[0] in verbs]

    def systemctl(self, *words: str) -> str:
        """Call it as the administrator would; what it printed."""
        command = [str(self.programs / "systemctl"), *words]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    def main_pid(self, unit: str) -> int:
        """The unit's main process, 0 without one."""
        shown = dict(line.partition("=")[::2] for line in self.systemctl("show", unit).splitlines())
        return int(shown["MainPID"])

    def write_unit(self, unit: str, command: str, log: Path, **settings: str) -> None:
        """Write a unit file and load it."""
        lines = [f"ExecStart={command}", f"StandardError=append:{log}"]
        lines += [f"{name}={value}" for name, value in settings.items()]
        (self.unit_files / unit).write_text("[Service]\n" + "\n".join(lines) + "\n")
        self.systemctl("daemon-reload")

    def stop_all(self) -> None:
        """End every unit's processes."""
        for file in (self.root / "state").glob("state-*"):
            unit = file.name.removeprefix("state-")
            (self.root / "state" / f"stopping-{unit}").touch()
            state = json.loads(file.read_text())
            for pid in (state["manager"], state["main"]):
                with suppress(ProcessLookupError):
                    if pid:
                        os.kill(pid, signal.SIGKILL)
            _end_all_of(unit)


def _end_all_of(unit: str) -> None:
    """Kill whatever carries the unit's mark, as systemd does with its control group."""
    mark = f"{UNIT_VARIABLE}={unit}".encode()
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        pids = (int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit())
        left = [pid for pid in pids if _carries(pid, mark)]
        if not left:
            return
        for pid in left:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.05)


def _carries(pid: int, mark: bytes) -> bool:
    try:
        return mark in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return False


def install(folder: Path) -> FakeSystemd:
    """Set it up.

    Args:
        folder: Where everything of it goes.
    """
    made = FakeSystemd(folder / "root", folder / "programs")
    for place in (made.unit_files, made.root / "run/systemd/system", made.root / "state", made.programs):
        place.mkdir(parents=True)
    program = made.programs / "systemctl"
    program.write_text(_SYSTEMCTL.format(python=sys.executable, root=str(made.root), variable=UNIT_VARIABLE))
    program.chmod(0o755)
    return made


def manager_by_mark(surroundings: Surroundings, environ: dict[str, str]) -> Manager:
    """In place of `manager_of`, which reads control groups that a test cannot make."""
    del surroundings
    unit = environ.get(UNIT_VARIABLE, "")
    return Manager(kind=ManagerKind.SYSTEMD, name=unit, detail="system") if unit else Manager()
