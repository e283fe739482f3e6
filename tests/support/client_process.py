"""A client that is killed, process and all, before or after a chosen remote operation on a guarded file.

One process imports everything once and forks a client per job, so that every operation can be tried.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Job:
    """What a client is to do, and when it dies.

    Attributes:
        port: Of the SSH server on loopback.
        key: Its private key's file.
        known_hosts: The file that trusts the server.
        path: The guarded file on the host.
        local: The client's own folder for backups.
        session_id: Its session.
        work: `patch` or `restore`.
        patched: What it patches the file to: a file on this machine.
        via: The program to go through; empty for none.
        sudo: What sudo may do: `auto` or `no`.
        pid_file: Where the client writes its process id.
        at: The operation to die at, from 1; 0 never dies by itself.
        after: Die when the operation was answered, not before it is sent.
    """

    port: int
    key: str
    known_hosts: str
    path: str
    local: str
    session_id: str
    work: str
    patched: str
    via: tuple[str, ...] = ()
    sudo: str = "no"
    pid_file: str = ""
    at: int = 0
    after: bool = False


@dataclass(frozen=True)
class Ended:
    """How a client ended: by which signal (0 for by itself), and how many operations it had begun."""

    signal: int
    operations: int


class Clients:
    """Runs jobs, one after the other, each in a client of its own."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process

    async def run(self, job: Job) -> Ended:
        """Run one client to its end."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(asdict(job)).encode() + b"\n")
        line = await self._process.stdout.readline()
        assert line, "the process that forks clients ended"
        return Ended(**json.loads(line))


@asynccontextmanager
async def clients() -> AsyncIterator[Clients]:
    """The process that forks clients, for as long as the context lasts."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        __file__,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
    )
    try:
        yield Clients(process)
    finally:
        assert process.stdin is not None
        process.stdin.close()
        await process.wait()


def main() -> None:
    """Fork a client for each line of standard input, and say how it ended."""
    from specttui.host import connection, files, sudo, transport

    del connection, files, sudo, transport  # imported once, for all clients
    for line in sys.stdin:
        job = json.loads(line)
        reader, writer = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.close(reader)
            if job["pid_file"]:
                Path(job["pid_file"]).write_text(str(os.getpid()), encoding="utf-8")
            asyncio.run(_be_client(job, Path(job["patched"]).read_bytes(), writer))
            os._exit(0)
        os.close(writer)
        _, status = os.waitpid(pid, 0)
        with os.fdopen(reader, "rb") as began:
            operations = len(began.read())
        assert os.WIFSIGNALED(status) or os.WEXITSTATUS(status) == 0, "the client failed"
        ended = Ended(os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0, operations)
        sys.stdout.write(json.dumps(asdict(ended)) + "\n")
        sys.stdout.flush()


async def _be_client(job: dict[str, Any], patched: bytes, began: int) -> None:
    from specttui.host.connection import connect
    from specttui.host.files import GuardedFile
    from specttui.host.prompts import RefusingPrompter
    from specttui.host.sudo import Sudo
    from specttui.host.target import ConnectOptions, Target
    from specttui.host.transport import reached

    options = ConnectOptions(
        use_ssh_config=False,
        use_agent=False,
        client_keys=(Path(job["key"]),),
        known_hosts_paths=(Path(job["known_hosts"]),),
    )
    prompter = RefusingPrompter()
    connection = await connect(Target("127.0.0.1", "engineer", job["port"]), prompter, options)
    mortal = _Mortal(connection, began, job["at"], after=job["after"])
    remote = reached(mortal, job["via"])  # type: ignore[arg-type]
    guarded = GuardedFile(
        remote, job["path"], job["session_id"], Path(job["local"]), Sudo(remote, prompter, job["sudo"])
    )
    if job["work"] == "patch":
        contents = await guarded.read()
        await guarded.back_up(contents)
        await guarded.replace(patched, contents.sha256)
    else:
        await guarded.restore()
    await connection.close()


class _Mortal:
    """A connection whose client dies at one of its commands."""

    def __init__(self, connection: Any, began: int, at: int, *, after: bool) -> None:
        self._connection = connection
        self._began = began
        self._at = at
        self._after = after
        self._count = 0

    @property
    def name(self) -> str:
        """The host's name."""
        return str(self._connection.name)

    async def run(self, argv: Any, **options: Any) -> Any:
        """Run one command, or die before or after it."""
        self._count += 1
        os.write(self._began, b".")
        if self._count == self._at and not self._after:
            os.kill(os.getpid(), signal.SIGKILL)
        result = await self._connection.run(argv, **options)
        if self._count == self._at:
            os.kill(os.getpid(), signal.SIGKILL)
        return result


if __name__ == "__main__":
    main()
