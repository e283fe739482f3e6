"""Ways for a host to fail at a chosen moment, so that every moment can be tried."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path

from specttui.errors import ConnectionLostError
from specttui.host.remote import CommandResult, Remote

_SHIM = """\
#!/bin/sh
echo {name} >>"$FAULT_CALLS"
if [ "$(grep -c . "$FAULT_CALLS")" = "$FAULT_AT" ]; then
  case $FAULT_WHEN in
    client) kill -9 "$(cat "$FAULT_CLIENT")"; sleep 0.1; exec {program} "$@" ;;
    after) {program} "$@" ;;
    during) for word; do case $word in of=*) head -c 1000 >"${{word#of=}}" ;; esac; done ;;
  esac
  kill -9 0
fi
exec {program} "$@"
"""


class BreakingRemote:
    """A Remote whose connection breaks at the n-th command, before or after the command has run.

    Args:
        remote: Runs the commands.
        at: The command to break at, from 1; 0 never breaks.
        after: Break when the command has run and its answer is on its way, not before it is sent.
    """

    def __init__(self, remote: Remote, at: int = 0, *, after: bool = False) -> None:
        self._remote = remote
        self._at = at
        self._after = after
        self.count = 0

    @property
    def name(self) -> str:
        """The host's name for messages."""
        return self._remote.name

    async def run(
        self,
        argv: Sequence[str],
        *,
        stdin: bytes = b"",
        env: Mapping[str, str] | None = None,
        cwd: str | None = None,
        timeout_s: float = 30.0,
        check: bool = False,
    ) -> CommandResult:
        """Run a command, or break; once broken every command fails."""
        self.count += 1
        broken = 0 < self._at < self.count
        if broken or (self.count == self._at and not self._after):
            raise ConnectionLostError("The test broke the connection")
        result = await self._remote.run(argv, stdin=stdin, env=env, cwd=cwd, timeout_s=timeout_s, check=check)
        if self.count == self._at:
            raise ConnectionLostError("The test broke the connection")
        return result

    def stream(
        self, argv: Sequence[str], *, env: Mapping[str, str] | None = None
    ) -> AbstractAsyncContextManager:
        """Streams do not break here."""
        return self._remote.stream(argv, env=env)


class Shims:
    """Stand-ins for programs, one of whose calls kills the command that makes it, with all its processes.

    Args:
        folder: Where they go.
        programs: Which programs.
        at: The call that kills, counted over all of them from 1; 0 for none.
        when: `before` the program runs, `after` it, or `during` it, when `dd` has written 1000 bytes; or
            `client`: then not the command is killed, but the client that asked for it, and the host goes on.
        client: The file that holds the client's process id.
    """

    def __init__(
        self,
        folder: Path,
        programs: Sequence[str],
        at: int = 0,
        when: str = "before",
        client: Path | None = None,
    ) -> None:
        folder.mkdir(parents=True)
        for program in programs:
            real = shutil.which(program)
            assert real, f"{program} is not installed"
            shim = folder / program
            shim.write_text(_SHIM.format(program=real, name=program))
            shim.chmod(0o755)
        self._calls = folder / "calls"
        self._calls.touch()
        self.environment = {
            "PATH": f"{folder}:{os.environ['PATH']}",
            "FAULT_CALLS": str(self._calls),
            "FAULT_AT": str(at),
            "FAULT_WHEN": when,
            "FAULT_CLIENT": str(client or ""),
        }

    @property
    def calls(self) -> list[str]:
        """The programs that were called so far, in order."""
        return self._calls.read_text().split()
