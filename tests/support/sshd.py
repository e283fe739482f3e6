"""A real OpenSSH server on loopback: each connection is handed to `sshd -i`, so no port can be taken."""

from __future__ import annotations

import contextlib
import getpass
import os
import shutil
import signal
import socket
import subprocess
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

import pytest


def find_sshd() -> str:
    """OpenSSH's server; skips the test where it is not installed, except in CI, where that is a failure."""
    found = shutil.which("sshd", path=os.environ.get("PATH", "") + ":/usr/sbin:/usr/local/sbin")
    if found is None:
        if os.environ.get("CI") == "true":
            pytest.fail("OpenSSH's sshd is not installed: apt-get install openssh-server")
        pytest.skip("OpenSSH's sshd is not installed")
    return found


def find_shell(name: str) -> str:
    """A login shell; skips where it is not installed, except in CI."""
    found = shutil.which(name)
    if found is None:
        if os.environ.get("CI") == "true":
            pytest.fail(f"{name} is not installed: apt-get install {name}")
        pytest.skip(f"{name} is not installed")
    return found


def make_key(path: Path, passphrase: str = "", kind: str = "ed25519") -> Path:
    """A new key pair, as ssh-keygen writes it; gives the private key's path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    command = ["ssh-keygen", "-q", "-t", kind, "-N", passphrase, "-C", path.name, "-f", str(path)]
    subprocess.run(command, check=True, stdin=subprocess.DEVNULL)
    return path


@dataclass
class Sshd:
    """A running server; `with Sshd(folder, ...) as server:`.

    Args:
        folder: Where its keys, configuration and scratch home go.
        authorized_key: Public key file of who may log in (as the user who runs the tests).
        shell: Program that plays the login shell.
        settings: Lines added to sshd_config.
    """

    folder: Path
    authorized_key: Path
    shell: str = "/bin/sh"
    settings: tuple[str, ...] = ()
    _children: list[subprocess.Popen[bytes]] = field(default_factory=list)

    @property
    def user(self) -> str:
        """The account to log in as."""
        return getpass.getuser()

    @property
    def home(self) -> Path:
        """The scratch home of those who log in."""
        return self.folder / "home"

    @property
    def port(self) -> int:
        """Where it listens on 127.0.0.1."""
        return self._listener.getsockname()[1]

    @property
    def host_key(self) -> Path:
        """Its private host key."""
        return self.folder / "host_key"

    def known_hosts_line(self) -> str:
        """The line of known_hosts that trusts it."""
        kind, data, *_ = self.host_key.with_suffix(".pub").read_text().split()
        return f"[127.0.0.1]:{self.port} {kind} {data}\n"

    def __enter__(self) -> Self:
        self._sshd = find_sshd()
        if os.getuid() == 0:
            Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)
        self.home.mkdir(parents=True, exist_ok=True)
        if not self.host_key.exists():
            make_key(self.host_key)
        (self.folder / "sshd_config").write_text(self._configuration())
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._acceptor = threading.Thread(target=self._accept, daemon=True)
        self._acceptor.start()
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._acceptor.join(10)
        self.drop()

    def drop(self) -> None:
        """Break every connection, as a host that goes down."""
        for child in self._children:
            self._signal(child, signal.SIGKILL)
            child.wait()
        self._children.clear()

    def freeze(self) -> None:
        """Stop answering without closing, as a host behind a cut cable."""
        for child in self._children:
            self._signal(child, signal.SIGSTOP)

    @property
    def connections(self) -> int:
        """How many connections were ever handed over since the last drop."""
        return len(self._children)

    def _signal(self, child: subprocess.Popen[bytes], number: int) -> None:
        """To the server process and those it forked; commands have sessions of their own."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, number)

    def _accept(self) -> None:
        command = [self._sshd, "-i", "-e", "-f", str(self.folder / "sshd_config")]
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            with connection, (self.folder / "sshd.log").open("ab") as log:
                child = subprocess.Popen(
                    command, stdin=connection, stdout=connection, stderr=log, start_new_session=True
                )
                self._children.append(child)

    def _configuration(self) -> str:
        lines = [
            f"HostKey {self.host_key}",
            f"AuthorizedKeysFile {self.authorized_key}",
            "StrictModes no",
            "UsePAM no",
            "PidFile none",
            "LogLevel VERBOSE",
            "PasswordAuthentication no",
            "KbdInteractiveAuthentication no",
            "PermitRootLogin yes",
            *self.settings,
            f"SetEnv HOME={self.home}",
        ]
        if not any(line.startswith("ForceCommand") for line in self.settings):
            lines.append(f'ForceCommand exec {self.shell} -c "$SSH_ORIGINAL_COMMAND"')
        return "\n".join(lines) + "\n"
