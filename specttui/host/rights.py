"""Who may act for which user on a host: the account that was logged in to, or another one through sudo."""

from __future__ import annotations

from specttui.errors import LaunchError
from specttui.host.other_user import OtherUser
from specttui.host.remote import Remote
from specttui.host.sudo import PasswordNeededError, Sudo, SudoRefusedError

_WHO = "id -u; id -un"
_NOTHING = ("/bin/sh", "-c", ":")
OR_COMMANDS = "or give the host's profile its own stop and start commands (docs/restarting.md)"


class Rights:
    """The rights of one account on one host.

    Args:
        remote: The host, as the account that was logged in to.
        sudo: What may make another user of the account; without it nothing does.

    Attributes:
        sudo: As given.
    """

    def __init__(self, remote: Remote, sudo: Sudo | None = None) -> None:
        self._remote = remote
        self.sudo = sudo
        self._who: tuple[str, str] | None = None

    async def of(self, user: str, *, ask: bool = True) -> OtherUser | None:
        """What has a user's rights, proved by doing nothing with them.

        Args:
            user: The user whose processes are to be signalled, or who is to run a server; "" for the account.
            ask: Whether the person at the keyboard may be asked for a password.

        Returns:
            None where the account itself has them.

        Raises:
            LaunchError: Nobody has them whom this account can become; says why and what to do.
            ConnectionLostError: The connection broke.
        """
        account = await self._account(user)
        if account is None:
            return None
        if self.sudo is None or self.sudo.mode == "no":
            raise _refusal(user, account, "sudo is not used on this host.", "set `sudo` in its profile, ")
        other = OtherUser(self._remote, self.sudo, user, ask=ask)
        if user in self.sudo.proven:
            return other
        try:
            await other.run(_NOTHING)
        except PasswordNeededError as error:
            raise _refusal(user, account, error.cause, "give your password when you are asked, ") from error
        except SudoRefusedError as error:
            raise _refusal(user, account, f"{error.title}: {error.cause}") from error
        return other

    async def at_hand(self, user: str) -> OtherUser | None:
        """What has a user's rights without anybody being asked; None also where nobody has them."""
        try:
            return await self.of(user, ask=False)
        except LaunchError:
            return None

    async def _account(self, user: str) -> str | None:
        """The account's name where it lacks the user's rights, else None."""
        if not user:
            return None
        if self._who is None:
            uid, _, name = (await self._remote.run(["sh", "-c", _WHO], check=True)).text.partition("\n")
            self._who = uid.strip(), name.strip()
        uid, name = self._who
        return None if uid == "0" or user in {uid, name} else name or uid


def _refusal(user: str, account: str, cause: str, first: str = "") -> LaunchError:
    remedy = f"{first}log in as {' or '.join(dict.fromkeys((user, 'root')))}, {OR_COMMANDS}."
    return LaunchError(
        f"The server runs as {user}, and this account is {account}",
        cause=cause,
        remedy=remedy[0].upper() + remedy[1:],
    )
