"""What other sessions left on the host, or still use there."""

from __future__ import annotations

import asyncio

from specttui.host.leftovers import find_traces
from specttui.host.managers.overrides import UnitOverrides
from specttui.host.remote import Remote
from specttui.session.doctor.findings import Findings
from specttui.session.leftovers import find_leftovers, holder_words, in_words


async def left_behind(remote: Remote, host: str, found: Findings) -> None:
    """Look, as a session does when it connects.

    Args:
        remote: The host.
        host: Its name, for the remedy.
        found: Takes what is found.
    """
    with found.trying("leftovers"):
        overrides = UnitOverrides(remote)
        traces, units = await asyncio.gather(find_traces(remote), overrides.find())
        all_left = find_leftovers(traces, {unit: overrides.drop_in(unit) for unit in units})
        alive = {each.left.session_id: each.left for each in reversed(all_left) if each.left.alive}
        for left in alive.values():
            found.info("other sessions", holder_words(left))
        dead = [each.left for each in all_left if not each.left.alive]
        matter = [left for left in dead if left.matters]
        harmless = len(dead) - len(matter)
        if matter:
            remedy = f"A session offers what to do about it; or bring it all back: specttui restore {host}"
            found.warn("leftovers", f"Dead sessions left: {in_words(matter)}.", remedy)
        elif harmless:
            found.info("leftovers", f"{harmless} old control files and launch scripts, which harm nobody")
        else:
            found.ok("leftovers", "none")
