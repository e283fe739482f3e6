"""What other sessions left on the host, or still use there."""

from __future__ import annotations

from specttui.host.remote import Remote
from specttui.session.doctor.findings import Findings
from specttui.session.left_on_host import look_for_leftovers
from specttui.session.leftovers import holder_words, in_words


async def left_behind(remote: Remote, host: str, found: Findings) -> None:
    """Look, as a session does when it connects.

    Args:
        remote: The host.
        host: Its name, for the remedy.
        found: Takes what is found.
    """
    with found.trying("leftovers"):
        all_left = await look_for_leftovers(remote)
        alive = {left.session_id: left for left in reversed(all_left) if left.alive}
        for left in alive.values():
            found.info("other sessions", holder_words(left))
        dead = [left for left in all_left if not left.alive]
        matter = [left for left in dead if left.matters]
        harmless = len(dead) - len(matter)
        if matter:
            remedy = f"A session offers what to do about it; or bring it all back: specttui restore {host}"
            found.warn("leftovers", f"Dead sessions left: {in_words(matter)}.", remedy)
        elif harmless:
            found.info("leftovers", f"{harmless} old control files and launch scripts, which harm nobody")
        else:
            found.ok("leftovers", "none")
