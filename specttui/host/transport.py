"""A host behind a program: all goes through `docker exec -i NAME`, `kubectl exec`, `nsenter` or `srun`.

The program is given `/bin/sh -c LINE`, so it must take its command as words and pass its standard input on.
What the command prints is framed inside, by the shell that the program starts: what the program itself says
(warnings, banners) never reaches a result.
"""

from __future__ import annotations

import shlex
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager

from specttui.errors import RemoteCommandError
from specttui.host import shell
from specttui.host.frame import FrameReader, FrameToken
from specttui.host.remote import CommandResult, Remote

# The input of a stream's command stays open until the stream is left: then the program is ended, its side
# closes, and the shell inside ends the command, which a container's runtime would let run on for ever.
_OPEN_INPUT = """\
sh -c 'echo $$; exec sleep 2147483647' | {
  read -r holder
  "$@"
  status=$?
  kill "$holder" 2>/dev/null
  exit $status
}"""


class Via:
    """Implements `Remote` for what lies behind a program on another remote.

    Args:
        outer: The machine that runs the program.
        transport: The program with its arguments, up to where the command follows.
    """

    def __init__(self, outer: Remote, transport: Sequence[str]) -> None:
        self._outer = outer
        self._transport = tuple(transport)

    @property
    def name(self) -> str:
        """The outer machine's name, and the way in from there."""
        return f"{self._outer.name} ({shlex.join(self._transport)})"

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
        """Run one command to its end; see `Remote.run`."""
        token = FrameToken()
        line = shell.run_line(argv, token, env=env, cwd=cwd)
        outer = await self._outer.run(self._inside(line), stdin=stdin, timeout_s=timeout_s)
        result = self._result(argv, token, outer)
        if check and not result.ok:
            raise RemoteCommandError(
                f"A command on {self.name} failed with exit status {result.exit_status}",
                cause=result.stderr.decode("utf-8", "replace").strip() or shlex.join(argv)[:200],
                remedy="Run it by hand there to see more.",
            )
        return result

    @asynccontextmanager
    async def stream(
        self, argv: Sequence[str], *, env: Mapping[str, str] | None = None
    ) -> AsyncIterator[AsyncIterator[bytes]]:
        """Run a command that goes on; see `Remote.stream`."""
        token = FrameToken()
        inside = self._inside(shell.stream_line(argv, token, env=env))
        async with self._outer.stream(["sh", "-c", _OPEN_INPUT, "sh", *inside]) as chunks:
            yield self._unframed(chunks, FrameReader(token))

    def _inside(self, line: str) -> list[str]:
        return [*self._transport, "/bin/sh", "-c", line]

    def _result(self, argv: Sequence[str], token: FrameToken, outer: CommandResult) -> CommandResult:
        frames = FrameReader(token), FrameReader(token)
        outputs = [
            frame.feed(data) + frame.rest()
            for frame, data in zip(frames, (outer.stdout, outer.stderr), strict=True)
        ]
        end = frames[0].end
        if end is None:
            raise self._not_run(*frames) if frames[0].pid is None else self._killed(argv)
        if end == "cwd":
            raise RemoteCommandError(
                f"The working folder of a command on {self.name} cannot be entered",
                cause=outputs[1].decode("utf-8", "replace").strip(),
                remedy="Check that the folder exists there.",
            )
        return CommandResult(tuple(argv), int(end), *outputs)

    async def _unframed(self, chunks: AsyncIterator[bytes], frame: FrameReader) -> AsyncIterator[bytes]:
        async for chunk in chunks:
            data = frame.feed(chunk)
            if data:
                yield data
            if frame.end is not None:
                return
        if frame.pid is None:
            raise self._not_run(frame)
        if rest := frame.rest():
            yield rest

    def _not_run(self, *frames: FrameReader) -> RemoteCommandError:
        said = " ".join(text for frame in frames if (text := frame.unframed()))
        program = shlex.join(self._transport)
        return RemoteCommandError(
            f"{program} on {self._outer.name} did not run a command",
            cause=f"It answered: {said}" if said else "It answered nothing.",
            remedy="Check that what it enters runs, has /bin/sh, and gets our input (docker exec: -i).",
        )

    def _killed(self, argv: Sequence[str]) -> RemoteCommandError:
        return RemoteCommandError(
            f"A command on {self.name} was killed",
            cause=shlex.join(argv)[:200],
            remedy="Check the memory there and who ends processes, then try again.",
        )


def reached(outer: Remote, transport: Sequence[str]) -> Remote:
    """The remote itself, or what lies behind a program on it, where there is one to go through."""
    return Via(outer, transport) if transport else outer
