"""A small systemd: `systemctl` and `journalctl` on PATH, with unit files, drop-ins and a journal."""

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
from typing import Literal

from specttui.events import Manager, ManagerKind
from specttui.host.facts import Surroundings
from support import fake_journalctl, fake_systemctl

#: What a unit's processes are recognised by, in place of their control group: SCOPE/UNIT.
UNIT_VARIABLE = "FAKE_SYSTEMD_UNIT"
#: Whose units they are: other tests may run units of the same name.
ROOT_VARIABLE = "FAKE_SYSTEMD_ROOT"


@dataclass(frozen=True)
class FakeSystemd:
    """A scratch systemd with its own /etc, /run and journal.

    Attributes:
        root: The folder that stands for the root of the file system.
        programs: The folder for PATH.
        scope: Which of the two managers the methods speak to.
    """

    root: Path
    programs: Path
    scope: Literal["system", "user"] = "system"

    @property
    def home(self) -> Path:
        """The home folder of the user's manager."""
        return self.root / "home"

    @property
    def runtime(self) -> Path:
        """The folder that `XDG_RUNTIME_DIR` names in the user's logins."""
        return self.root / "run/user/1000"

    @property
    def unit_files(self) -> Path:
        """Where unit files lie."""
        return (
            self.home / ".config/systemd/user" if self.scope == "user" else self.root / "etc/systemd/system"
        )

    @property
    def state(self) -> Path:
        """Where the manager keeps what it knows."""
        return self.runtime / "systemd/kept" if self.scope == "user" else self.root / "state"

    @property
    def drop_ins(self) -> list[Path]:
        """All drop-ins in the volatile folders."""
        return sorted((self.root / "run").rglob("*.conf"))

    def calls(self, *verbs: str) -> list[str]:
        """What systemctl was asked, in order, of these verbs."""
        lines = (self.root / "calls").read_text().splitlines()
        asked = (" ".join(json.loads(line)) for line in lines)
        return [words for words in asked if words.removeprefix("--user ").split()[0] in verbs]

    def journal_calls(self) -> list[str]:
        """What journalctl was asked, in order."""
        return [" ".join(json.loads(line)) for line in (self.root / "journal-calls").read_text().splitlines()]

    def journal(self, unit: str) -> list[str]:
        """The unit's lines in the journal."""
        field = "_SYSTEMD_USER_UNIT" if self.scope == "user" else "_SYSTEMD_UNIT"
        kept = self.root / "journal"
        entries = [json.loads(line) for line in kept.read_text().splitlines()] if kept.exists() else []
        return [entry["MESSAGE"] for entry in entries if entry.get(field) == unit]

    def systemctl(self, *words: str) -> str:
        """Call it as whoever owns the units would; what it printed."""
        command = [str(self.programs / "systemctl"), *(["--user"] if self.scope == "user" else []), *words]
        env = os.environ | {"XDG_RUNTIME_DIR": str(self.runtime)}
        return subprocess.run(command, check=True, capture_output=True, text=True, env=env).stdout

    def main_pid(self, unit: str) -> int:
        """The unit's main process, 0 without one."""
        shown = dict(line.partition("=")[::2] for line in self.systemctl("show", unit).splitlines())
        return int(shown["MainPID"])

    def write_unit(self, unit: str, command: str, log: Path | None, **settings: str) -> None:
        """Write a unit file and load it; without a log its output goes to the journal."""
        lines = [f"ExecStart={command}", *([f"StandardError=append:{log}"] if log else [])]
        lines += [f"{name}={value}" for name, value in settings.items()]
        (self.unit_files / unit).write_text("[Service]\n" + "\n".join(lines) + "\n")
        self.systemctl("daemon-reload")

    def stop_all(self) -> None:
        """End every unit's processes."""
        for file in self.state.glob("state-*"):
            unit = file.name.removeprefix("state-")
            if "." in unit.rpartition(".service")[2]:
                continue  # half written
            (self.state / f"stopping-{unit}").touch()
            state = json.loads(file.read_text())
            for pid in (state["manager"], state["main"]):
                with suppress(ProcessLookupError):
                    if pid:
                        os.kill(pid, signal.SIGKILL)
        _end_all_of(self.root)


def _end_all_of(root: Path) -> None:
    """Kill whatever carries the mark of a unit of ours, as systemd does with its control group."""
    carried = f"{ROOT_VARIABLE}={root}".encode()
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        pids = (int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit())
        left = [pid for pid in pids if _carries(pid, carried)]
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


def install(folder: Path, scope: Literal["system", "user"] = "system") -> FakeSystemd:
    """Set it up.

    Args:
        folder: Where everything of it goes.
        scope: Which manager the test is about; without `user` nobody has a manager of their own.
    """
    made = FakeSystemd(folder / "root", folder / "programs", scope)
    for place in (made.unit_files, made.root / "run/systemd/system", made.state, made.programs):
        place.mkdir(parents=True)
    if scope == "user":
        (made.runtime / "systemd/private").touch()
        (made.root / "run/systemd/user").mkdir()
    values = {
        "python": sys.executable,
        "root": str(made.root),
        "home": str(made.home),
        "variable": UNIT_VARIABLE,
        "root_variable": ROOT_VARIABLE,
    }
    _write(made.programs / "systemctl", fake_systemctl.PROGRAM.format(**values))
    _write(made.programs / "journalctl", fake_journalctl.PROGRAM.format(**values))
    return made


def _write(path: Path, text: str) -> None:
    path.write_text(text)
    path.chmod(0o755)


def manager_by_mark(surroundings: Surroundings, environ: dict[str, str]) -> Manager:
    """In place of `manager_of`, which reads control groups that a test cannot make."""
    del surroundings
    scope, _, unit = environ.get(UNIT_VARIABLE, "").partition("/")
    return Manager(kind=ManagerKind.SYSTEMD, name=unit, detail=scope) if unit else Manager()
