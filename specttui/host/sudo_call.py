"""One call of sudo: what is sent, what its answers mean, and why it refuses.

The password travels on standard input only, before the command's own input, with a mark between the two: it
is on no command line, and what sudo did not read of it never reaches the command.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, replace

from specttui.errors import SpecttuiError
from specttui.host.remote import CommandResult
from specttui.host.runner import Runner

# As the account: the part that runs as root is told the account's cache folder. -k: only the password that we
# give counts, so that sudo always reads it.
_OUTSIDE = """\
inside=$1 mark=$2 ask=$3 forget=$4 user=$5
shift 5
export LC_ALL=C
exec sudo $forget $ask -p '' ${user:+-H -u "$user"} -- /bin/sh -c "$inside" sh "$mark" \\
  "${XDG_CACHE_HOME:-${HOME:-/nonexistent}/.cache}" "$(id -u):$(id -g)" "$@"
"""

_UP_TO_THE_MARK = """\
mark=$1 cache=$2 owner=$3
shift 3
line=
while [ "$line" != "$mark" ]; do IFS= read -r line || exit 1; done
printf '%s\\n' "$mark"
"""

# As root for the account: what is in the account's cache folder is left to the account.
_FOR_ACCOUNT = f"""\
{_UP_TO_THE_MARK}XDG_CACHE_HOME=$cache
export XDG_CACHE_HOME
"$@"
status=$?
[ ! -d "$cache/specttui" ] || chown -hR -- "$owner" "$cache/specttui"
exit $status
"""

# As another user for itself: with nothing of the account's, whose folder it may not even enter.
_FOR_USER = f"""\
{_UP_TO_THE_MARK}unset XDG_CACHE_HOME
cd / && exec "$@"
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


class PasswordNeededError(SudoRefusedError):
    """sudo wants a password, and there is none, or none that is right."""


async def call(
    remote: Runner, argv: Sequence[str], stdin: bytes, password: str | None, user: str, timeout_s: float
) -> CommandResult | None:
    """Run a command through sudo once.

    Args:
        remote: The host, as the account that was logged in to.
        argv: The command.
        stdin: Bytes for its standard input.
        password: What sudo is given, None to have it ask for nothing.
        user: Whom the command runs as and for; "" for root working for the account.
        timeout_s: Seconds until it is given up.

    Returns:
        The command's result; None when it was not run because a password, or another one, is needed.

    Raises:
        SudoRefusedError: sudo refuses; the command was not run.
        RemoteCommandError: It took too long.
        ConnectionLostError: The connection broke; the command may or may not have run.
    """
    mark = secrets.token_hex(16)
    inside = _FOR_USER if user else _FOR_ACCOUNT
    ask, forget = ("-n", "") if password is None else ("-S", "-k")
    secret = b"" if password is None else password.encode() + b"\n"
    result = await remote.run(
        ["sh", "-c", _OUTSIDE, "sh", inside, mark, ask, forget, sudo_name(user), *argv],
        stdin=secret + mark.encode() + b"\n" + stdin,
        timeout_s=timeout_s,
    )
    head, _, output = result.stdout.partition(b"\n")
    if head == mark.encode():
        return replace(result, argv=tuple(argv), stdout=output)
    _check_asks(result, password)
    return None


def _check_asks(result: CommandResult, password: str | None) -> None:
    """A command that was not run: it must be that sudo asks.

    Raises:
        SudoRefusedError: It is something else.
    """
    said = result.stderr.decode("utf-8", "replace").strip()
    for refusal in _REFUSALS:
        if refusal.words.search(said) and not _WANTS_PASSWORD.search(said):
            raise _refused(f"{refusal.cause} It said: {_safe(said, password)}", refusal.remedy)
    if not (_WANTS_PASSWORD.search(said) or _WRONG.search(said)):
        raise _refused(
            f"It said: {_safe(said, password)}" if said else f"Exit status {result.exit_status}.",
            "Try `sudo -v` on the host.",
        )


def sudo_name(user: str) -> str:
    """A user as `sudo -u` takes it: one that has no name is a number after a hash sign."""
    return f"#{user}" if user.isdigit() else user


def _safe(said: str, password: str | None) -> str:
    """What sudo said, were it ever to repeat the password."""
    return said.replace(password, "***") if password else said


def _refused(cause: str, remedy: str) -> SudoRefusedError:
    return SudoRefusedError("sudo could not be used", cause=cause, remedy=remedy)


def password_needed(cause: str, remedy: str) -> PasswordNeededError:
    """The error for a password that is missing or wrong."""
    return PasswordNeededError("sudo could not be used", cause=cause, remedy=remedy)
