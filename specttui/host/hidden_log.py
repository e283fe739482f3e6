"""Follow a log that only its server's user may read: through sudo, where the server itself was reached so."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing

from specttui.events import LogSource
from specttui.host.other_user import OtherUser
from specttui.host.remote import Remote
from specttui.host.sudo import Sudo
from specttui.host.tail import Chunk, Notice, TailItem, TailStart, follow

#: How the follow program tells of a file that the account may not open.
_DENIED = ": Permission denied"


class HiddenLog:
    """Follows logs as `specttui.host.tail.follow` does, and goes on through sudo where that is denied.

    Args:
        sudo: What was done through it before says whose log it may be; nobody is asked.
    """

    def __init__(self, sudo: Sudo) -> None:
        self._sudo = sudo

    async def __call__(
        self, remote: Remote, source: LogSource, *, start: TailStart
    ) -> AsyncGenerator[TailItem]:
        """Follow for ever; see `specttui.host.tail.follow`.

        Raises:
            ConnectionLostError: The connection broke.
            RemoteCommandError: The follow process cannot be run.
        """
        async with aclosing(follow(remote, source, start=start)) as items:
            async for item in items:
                if _denied(item) and self._sudo.proven:
                    break
                if isinstance(item, Chunk):
                    start = item.position
                yield item
            else:
                return
        user = list(self._sudo.proven)[-1]
        async with aclosing(follow(OtherUser(remote, self._sudo, user), source, start=start)) as items:
            async for item in items:
                yield item


def _denied(item: TailItem) -> bool:
    return isinstance(item, Notice) and item.what == "missing" and item.detail.endswith(_DENIED)
