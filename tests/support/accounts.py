"""Login accounts of a test's own on this machine, and what the real sudo lets them do."""

from __future__ import annotations

import os
import pwd
import secrets
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from support.local_remote import LocalRemote

PASSWORD = "correct horse 'battery' $(staple)"


@dataclass
class Account:
    """A login account that exists for one test, and what sudo lets it do."""

    name: str
    folder: Path

    @property
    def home(self) -> Path:
        """Its home folder, for nobody else."""
        return self.folder / "home"

    @property
    def uid(self) -> int:
        """Its number."""
        return pwd.getpwnam(self.name).pw_uid

    @property
    def gid(self) -> int:
        """Its group's number."""
        return pwd.getpwnam(self.name).pw_gid

    def may(self, *lines: str) -> None:
        """Give it these lines in sudoers, `USER` standing for its name."""
        rules = Path("/etc/sudoers.d") / self.name
        rules.write_text("".join(line.replace("USER", self.name) + "\n" for line in lines))
        rules.chmod(0o440)

    @property
    def remote(self) -> AccountRemote:
        """Commands as this account, without a terminal."""
        return AccountRemote(self)


class AccountRemote(LocalRemote):
    """Commands run as another account of this machine, with no terminal, as over SSH."""

    def __init__(self, account: Account) -> None:
        super().__init__(account.home, name="gpu-host")
        self._become = ("setpriv", f"--reuid={account.name}", f"--regid={account.name}", "--init-groups")

    async def run(self, argv: Sequence[str], **options):
        return await super().run([*self._become, *argv], **options)

    @asynccontextmanager
    async def stream(self, argv: Sequence[str], *, env: Mapping[str, str] | None = None):
        async with super().stream([*self._become, *argv], env=env) as chunks:
            yield chunks


@contextmanager
def account_made() -> Iterator[Account]:
    """An account, only where accounts may come and go: in CI, or where the user says so."""
    if os.environ.get("CI") != "true" and not os.environ.get("SPECTTUI_TEST_ACCOUNTS"):
        pytest.skip("makes an account on this machine; SPECTTUI_TEST_ACCOUNTS=1 allows it")
    if os.getuid() != 0 or not shutil.which("sudo"):
        pytest.skip("needs root, and sudo: apt-get install sudo")
    folder = Path(tempfile.mkdtemp(prefix="specttui-sudo-"))
    folder.chmod(0o755)
    made = Account(f"specttui-{secrets.token_hex(3)}", folder)
    try:
        home = ["--no-create-home", "--home-dir", str(made.home)]
        _run("useradd", *home, "--shell", "/bin/sh", "--user-group", made.name)
        _run("chpasswd", stdin=f"{made.name}:{PASSWORD}\n")
        made.home.mkdir(mode=0o700)
        shutil.chown(made.home, made.name, made.name)
        yield made
    finally:
        (Path("/etc/sudoers.d") / made.name).unlink(missing_ok=True)
        _end_all_of(made.uid)
        shutil.rmtree(folder)
        _run("userdel", made.name)


def _end_all_of(uid: int) -> None:
    """End what an account of the test's own still runs: userdel refuses it otherwise."""
    deadline = time.monotonic() + 30
    while (left := _processes_of(uid)) and time.monotonic() < deadline:
        for pid in left:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.05)


def _processes_of(uid: int) -> list[int]:
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            status = (entry / "status").read_text()
            if f"\nUid:\t{uid}\t" in status and "\nState:\tZ" not in status:
                found.append(int(entry.name))
    return found


def _run(*argv: str, stdin: str = "") -> None:
    subprocess.run(argv, input=stdin, text=True, check=True, capture_output=True)
