"""Can the server's user read what we put into our cache folder, where that is not the account itself?"""

from __future__ import annotations

from specttui.host.remote import Remote
from specttui.session.api import ProbeWay
from specttui.session.hook_folder import cache_folder

#: The outermost folder on the way that others may not enter; nothing for the account itself and for root.
_CLOSED = """\
case $2 in "$(id -un)"|"$(id -u)"|root|0|'') exit 0 ;; esac
path=$1 closed=
while [ "$path" != / ]; do
  if [ -d "$path" ] && [ -z "$(find "$path" -maxdepth 0 -perm -001)" ]; then closed=$path; fi
  path=$(dirname -- "$path")
done
printf %s "$closed"
"""
_LOST: dict[ProbeWay, str] = {
    "file": "k cannot switch the probe's clock",
    "import_hook": "the import hook will not be found",
}


async def unreadable_warning(remote: Remote, user: str, way: ProbeWay) -> str:
    """Why the server's user cannot read what the probe needs of our cache folder; "" where it can.

    Args:
        remote: The host.
        user: The server's user, "" when unknown.
        way: How the probe comes in.

    Raises:
        RemoteCommandError: The host could not be asked.
    """
    folder = await cache_folder(remote)
    closed = (await remote.run(["sh", "-c", _CLOSED, "sh", folder, user], check=True)).text
    if not closed:
        return ""
    return f"The server runs as {user}, who may not enter {closed}: {_LOST[way]} until `chmod o+x {closed}`"
