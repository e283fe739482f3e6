"""Commands as root through sudo: without a password where that works, else with one that is asked for.

The password travels on standard input only, before the command's own input, with a mark between the two: it
is on no command line, and what sudo did not read of it never reaches the command. It is kept in memory for as
long as the session lasts, and forgotten when it is refused.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, replace

from specttui.config import SudoMode
from specttui.errors import SpecttuiError
from specttui.host.prompts import Prompter, SecretQuestion
from specttui.host.remote import CommandResult
from specttui.host.runner import Runner

_MAX_TRIES = 3
_MAY_REPLACE = 'test -w "$1" && test -w "$(dirname "$1")"'
_NOTHING = ("/bin/sh", "-c", ":")

# As the account: the part that runs as root is told the account's cache folder. -k: only the password that we
# give counts, so that sudo always reads it.
_OUTSIDE = """\
inside=$1 mark=$2 ask=$3 forget=$4
shift 4
export LC_ALL=C
exec sudo $forget $ask -p '' -- /bin/sh -c "$inside" sh "$mark" \\
  "${XDG_CACHE_HOME:-${HOME:-/nonexistent}/.cache}" "$(id -u):$(id -g)" "$@"
"""

# As root: reads up to the mark, says that it got here, runs the command, and leaves what is in the account's
# cache folder to the account.
_INSIDE = """\
mark=$1 cache=$2 owner=$3
shift 3
line=
while [ "$line" != "$mark" ]; do IFS= read -r line || exit 1; done
printf '%s\\n' "$mark"
XDG_CACHE_HOME=$cache
export XDG_CACHE_HOME
"$@"
status=$?
[ ! -d "$cache/specttui" ] || chown -hR -- "$owner" "$cache/specttui"
exit $status
"""

_WANTS_PASSWORD = re.compile(
    r"password is required|terminal is required|askpass|no password was provided|no tty present and"
)
_WRONG = re.compile(r"try again|incorrect password", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Refusal:
    words: re.Pattern[str]
    cause: str
    remedy: str


_REFUSALS = (
    _Refusal(
        re.compile(r"must have a tty|no tty present"),
        "sudo on this host wants a terminal (requiretty), which a command over SSH has not.",
        "Have `Defaults requiretty` lifted for this account, or log in as root or the file's owner.",
    ),
    _Refusal(
        re.compile(r"not in the sudoers file|may not run sudo|not allowed to (?:execute|run)"),
        "This account may not use sudo for this.",
        "Ask the host's administrator, or log in as root or the file's owner.",
    ),
    _Refusal(
        re.compile(r"no new privileges|effective uid is not 0|must be owned by uid 0"),
        "sudo cannot become root here, as in many containers.",
        "Log in as root or the file's owner, or connect to the host around the container.",
    ),
    _Refusal(
        re.compile(r"sudo: (?:command )?not found|sudo: No such file"),
        "The host has no sudo.",
        "Log in as root or the file's owner.",
    ),
)


class SudoRefusedError(SpecttuiError):
    """sudo does not let this account do it; nothing was done."""


class Sudo:
    """A `Runner` that runs its commands as root.

    Args:
        remote: The host, as the account that was logged in to.
        prompter: Asked for the password, hidden.
        mode: Whether sudo may be used at all; see `specttui.config`.
    """

    def __init__(self, remote: Runner, prompter: Prompter, mode: SudoMode = "auto") -> None:
        self._remote = remote
        self._prompter = prompter
        self._password: str | None = None
        self._free: bool | None = None
        self.mode = mode

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
            self._free = await self._attempt(_NOTHING, b"", None) is not None
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
        result = await self._attempt(["sh", "-c", _MAY_REPLACE, "sh", path], b"", None)
        return result is not None and result.ok

    async def run(self, argv: Sequence[str], *, stdin: bytes = b"", timeout_s: float = 30.0) -> CommandResult:
        """Run one command as root; the account's cache folder stays its own.

        Raises:
            SudoRefusedError: sudo refuses, or the user gave no right password; the command was not run.
            RemoteCommandError: It took too long.
            ConnectionLostError: The connection broke; the command may or may not have run.
        """
        if await self.free():
            result = await self._attempt(argv, stdin, None, timeout_s)
            if result is not None:
                return result
            self._free = False
        result = await self._attempt(argv, stdin, await self._right_password(), timeout_s)
        if result is None:
            self._password = None
            raise _refused("The password was not taken.", "Try again.")
        return result

    async def _right_password(self) -> str:
        """A password that sudo takes: the one known, else asked for and tried on nothing first."""
        for attempt in range(_MAX_TRIES):
            if self._password is not None:
                return self._password
            answer = await self._prompter.ask_secret(
                SecretQuestion(
                    f"sudo on {self.name}",
                    ("Not the right password. " if attempt else "") + "Your password there",
                )
            )
            if answer is None:
                raise _refused("No password was given.", "Give it when it is asked for.")
            if await self._attempt(_NOTHING, b"", answer) is not None:
                self._password = answer
                return answer
        raise _refused("The password was wrong three times.", "Check it with `sudo -v` on the host.")

    async def _attempt(
        self, argv: Sequence[str], stdin: bytes, password: str | None, timeout_s: float = 30.0
    ) -> CommandResult | None:
        """Run a command; None when it was not run because a password, or another one, is needed."""
        mark = secrets.token_hex(16)
        ask, forget = ("-n", "") if password is None else ("-S", "-k")
        secret = b"" if password is None else password.encode() + b"\n"
        result = await self._remote.run(
            ["sh", "-c", _OUTSIDE, "sh", _INSIDE, mark, ask, forget, *argv],
            stdin=secret + mark.encode() + b"\n" + stdin,
            timeout_s=timeout_s,
        )
        head, _, output = result.stdout.partition(b"\n")
        if head == mark.encode():
            return replace(result, argv=tuple(argv), stdout=output)
        said = result.stderr.decode("utf-8", "replace").strip()
        for refusal in _REFUSALS:
            if refusal.words.search(said) and not _WANTS_PASSWORD.search(said):
                raise _refused(f"{refusal.cause} It said: {_safe(said, password)}", refusal.remedy)
        if _WANTS_PASSWORD.search(said) or _WRONG.search(said):
            return None
        raise _refused(
            f"It said: {_safe(said, password)}" if said else f"Exit status {result.exit_status}.",
            "Try `sudo -v` on the host.",
        )


def _safe(said: str, password: str | None) -> str:
    """What sudo said, were it ever to repeat the password."""
    return said.replace(password, "***") if password else said


def _refused(cause: str, remedy: str) -> SudoRefusedError:
    return SudoRefusedError("sudo could not be used", cause=cause, remedy=remedy)
