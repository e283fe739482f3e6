"""Commands with the rights of another user, who runs the server: as that user, or as root on their behalf."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager

from specttui.host.remote import CommandResult, Remote
from specttui.host.remote_scripts.frames import LEADER
from specttui.host.sudo import PasswordNeededError, Sudo, SudoRefusedError
from specttui.host.sudo_call import password_needed, sudo_name

_ROOT = "root"
_FEED_S = 60.0

# A stream has no standard input that sudo could read a password from, so a program tells it: it reads what
# another command of ours writes, through a pipe in a folder of the account's own. The password is in no file.
_MAKE_ASKING = """\
umask 077
folder="${XDG_CACHE_HOME:-$HOME/.cache}/specttui"
mkdir -p "$folder" && folder=$(mktemp -d "$folder/ask.XXXXXX") && mkfifo "$folder/answer" &&
  printf '%s\\n' '#!/bin/sh' 'exec cat "${0%/*}/answer"' >"$folder/ask" && chmod 700 "$folder/ask" &&
  printf %s "$folder"
"""
_ANSWER = 'cat >"$1/answer"; rm -rf -- "$1"'
_FORGET = 'rm -rf -- "$1"'

# Our account may not end what runs as another user, so that must see by itself when we have left.
_STREAM = f"""\
export LC_ALL=C SUDO_ASKPASS="$1"
ask=$2 user=$3
shift 3
inside='export {LEADER}="$1"; shift; cd / && exec "$@"'
exec sudo $ask -H -u "$user" -- /bin/sh -c "$inside" sh "$PPID" "$@"
"""


class OtherUser:
    """A `Runner` with another user's rights, which can stream too.

    Where sudo makes root of this account but not that user, root it is: our programs that act for a user
    become it themselves.

    Args:
        remote: The host, as the account that was logged in to.
        sudo: Makes the other user of us.
        user: That user's name.
        ask: Whether the person at the keyboard may be asked for a password.
    """

    def __init__(self, remote: Remote, sudo: Sudo, user: str, *, ask: bool = True) -> None:
        self._remote = remote
        self._sudo = sudo
        self._ask = ask
        self.user = user

    @property
    def name(self) -> str:
        """The host's name for messages."""
        return self._remote.name

    @property
    def words(self) -> str:
        """How it is done, for the user to read."""
        return f"through sudo as {self._sudo.proven.get(self.user, self.user)}"

    @property
    def _targets(self) -> tuple[str, ...]:
        """Whom sudo is to make of us: what worked before, else the user, else root."""
        proven = self._sudo.proven.get(self.user)
        return (proven,) if proven else tuple(dict.fromkeys((self.user, _ROOT)))

    async def run(self, argv: Sequence[str], *, stdin: bytes = b"", timeout_s: float = 30.0) -> CommandResult:
        """Run one command.

        Raises:
            PasswordNeededError: sudo wants a password, and nobody may be asked or gives it.
            SudoRefusedError: sudo refuses; the command was not run.
            RemoteCommandError: It took too long.
            ConnectionLostError: The connection broke; the command may or may not have run.
        """
        for asking in (False, True):
            result = await self._run(argv, stdin, timeout_s, asking=asking)
            if result is not None:
                return result
            if not self._ask:
                break
        raise password_needed("sudo asks for a password.", "Give it when it is asked for.")

    async def _run(
        self, argv: Sequence[str], stdin: bytes, timeout_s: float, *, asking: bool
    ) -> CommandResult | None:
        """Run it as the first whom sudo makes of us; None when it might with a password.

        Without one sudo asks before it says that it would refuse, so a refusal means more than a question.
        """
        refusal: SudoRefusedError | None = None
        wanted = False
        for target in self._targets:
            try:
                if asking:
                    await self._sudo.ask_password(target)
                result = await self._sudo.attempt(argv, stdin, user=target, timeout_s=timeout_s)
            except PasswordNeededError:
                raise
            except SudoRefusedError as error:
                refusal = refusal or error
                continue
            if result is not None:
                self._sudo.proven[self.user] = target
                return result
            wanted = True
        if refusal is not None and not wanted:
            raise refusal
        return None

    @asynccontextmanager
    async def stream(self, argv: Sequence[str]) -> AsyncIterator[AsyncIterator[bytes]]:
        """Run a command that goes on, as whom something was done before; asks nobody.

        Args:
            argv: The command; a program of ours that ends when it is left, see `remote_scripts.frames`.

        Raises:
            ConnectionLostError: The connection broke.
        """
        target = sudo_name(self._targets[0])
        async with AsyncExitStack() as stack:
            program, ask = "", "-n"
            if self._sudo.password is not None:
                program = await stack.enter_async_context(self._asking(self._sudo.password))
                ask = "-A"
            words = ["sh", "-c", _STREAM, "sh", program, ask, target, *argv]
            yield await stack.enter_async_context(self._remote.stream(words))

    @asynccontextmanager
    async def _asking(self, password: str) -> AsyncIterator[str]:
        """A program on the host that tells sudo the password, once."""
        folder = (await self._remote.run(["sh", "-c", _MAKE_ASKING], check=True)).text
        answer = asyncio.create_task(
            self._remote.run(
                ["sh", "-c", _ANSWER, "sh", folder], stdin=password.encode() + b"\n", timeout_s=_FEED_S
            )
        )
        try:
            yield f"{folder}/ask"
        finally:
            asked = answer.done()
            answer.cancel()
            await asyncio.gather(answer, return_exceptions=True)
            if not asked:
                await self._remote.run(["sh", "-c", _FORGET, "sh", folder])
