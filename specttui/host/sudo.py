"""Commands as root through sudo: without a password where that works, else with one that is asked for.

The password (see sudo_call.py for how it travels) is kept in memory for as long as the session lasts, and
forgotten when it is refused.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from specttui.config import SudoMode
from specttui.host.prompts import Prompter, SecretQuestion
from specttui.host.remote import CommandResult
from specttui.host.runner import Runner
from specttui.host.sudo_call import (
    PasswordNeededError,
    SudoRefusedError,
    call,
    password_needed,
)

__all__ = ["PasswordNeededError", "Sudo", "SudoRefusedError"]

_MAX_TRIES = 3
_MAY_REPLACE = 'test -w "$1" && test -w "$(dirname "$1")"'
_NOTHING = ("/bin/sh", "-c", ":")


class Sudo:
    """A `Runner` that runs its commands as root, for the account; `OtherUser` acts as somebody else.

    Args:
        remote: The host, as the account that was logged in to.
        prompter: Asked for the password, hidden.
        mode: Whether sudo may be used at all; see `specttui.config`.

    Attributes:
        mode: As given.
        proven: The users for whom something was done, and whom sudo made of us for it: the user or root.
        password: The one that sudo took, None while none was needed.
    """

    def __init__(self, remote: Runner, prompter: Prompter, mode: SudoMode = "auto") -> None:
        self._remote = remote
        self._prompter = prompter
        self._free: bool | None = None
        self._asking = asyncio.Lock()
        self.password: str | None = None
        self.mode = mode
        self.proven: dict[str, str] = {}

    @property
    def name(self) -> str:
        """The host's name for messages."""
        return self._remote.name

    async def free(self) -> bool:
        """Whether sudo works without a password; looked up once.

        Raises:
            SudoRefusedError: It does not work at all; says why.
            ConnectionLostError: The connection broke.
        """
        if self._free is None:
            self._free = await self._call(_NOTHING, b"", None) is not None
        return self._free

    async def is_way(self) -> bool:
        """Whether a file that the account may not write is to be written through sudo.

        True with "yes"; with "auto" where it asks for nothing, since there is another way without it.
        """
        if self.mode != "auto":
            return self.mode == "yes"
        try:
            return await self.free()
        except SudoRefusedError:
            return False

    async def can_replace(self, path: str) -> bool:
        """Whether a file that the account may not replace can be replaced through sudo.

        With "auto" root is asked: on a read-only file system it cannot either.
        """
        if self.mode != "auto" or not await self.is_way():
            return self.mode == "yes"
        result = await self._call(["sh", "-c", _MAY_REPLACE, "sh", path], b"", None)
        return result is not None and result.ok

    async def run(self, argv: Sequence[str], *, stdin: bytes = b"", timeout_s: float = 30.0) -> CommandResult:
        """Run one command as root; the account's cache folder stays its own.

        Raises:
            SudoRefusedError: sudo refuses, or the user gave no right password; the command was not run.
            RemoteCommandError: It took too long.
            ConnectionLostError: The connection broke; the command may or may not have run.
        """
        if await self.free():
            result = await self._call(argv, stdin, None, timeout_s=timeout_s)
            if result is not None:
                return result
            self._free = False
        await self.ask_password()
        result = await self.attempt(argv, stdin, timeout_s=timeout_s)
        if result is None:
            raise password_needed("The password was not taken.", "Try again.")
        return result

    async def attempt(
        self, argv: Sequence[str], stdin: bytes = b"", *, user: str = "", timeout_s: float = 30.0
    ) -> CommandResult | None:
        """Run one command with what is known: the password if there is one, else without; asks nobody.

        Args:
            argv: The command.
            stdin: Bytes for its standard input.
            user: Whom it runs as and for; "" for root working for the account.
            timeout_s: Seconds until it is given up.

        Returns:
            The result; None when it was not run because a password is needed, or the known one is wrong.

        Raises:
            SudoRefusedError: sudo refuses; the command was not run.
        """
        result = await self._call(argv, stdin, self.password, user=user, timeout_s=timeout_s)
        if result is None:
            self.password = None
        return result

    async def ask_password(self, user: str = "") -> None:
        """See to a password that sudo takes: the one known, else asked for and tried on nothing first.

        Args:
            user: Whom sudo is to make of us, "" for root.

        Raises:
            PasswordNeededError: None was given, or none that is right.
            SudoRefusedError: The password may be right, but this account may not do this.
        """
        async with self._asking:
            for attempt in range(_MAX_TRIES):
                if self.password is not None:
                    return
                answer = await self._prompter.ask_secret(
                    SecretQuestion(
                        f"sudo on {self.name}",
                        ("Not the right password. " if attempt else "") + "Your password there",
                    )
                )
                if answer is None:
                    raise password_needed("No password was given.", "Give it when it is asked for.")
                await self._try(answer, user)
            if self.password is None:
                raise password_needed(
                    "The password was wrong three times.", "Check it with `sudo -v` on the host."
                )

    async def _try(self, answer: str, user: str) -> None:
        """Keep a password that sudo takes; it takes it before it says what the account may not do."""
        try:
            taken = await self._call(_NOTHING, b"", answer, user=user) is not None
        except SudoRefusedError:
            self.password = answer
            raise
        if taken:
            self.password = answer

    async def _call(
        self,
        argv: Sequence[str],
        stdin: bytes,
        password: str | None,
        *,
        user: str = "",
        timeout_s: float = 30.0,
    ) -> CommandResult | None:
        return await call(self._remote, argv, stdin, password, user, timeout_s)
