"""A look at what sessions left on a host, outside of any session."""

from __future__ import annotations

import asyncio

from specttui.host.leftovers import find_traces
from specttui.host.managers.overrides import UnitOverrides
from specttui.host.remote import Remote
from specttui.session.api import Leftover
from specttui.session.leftovers import find_leftovers


async def look_for_leftovers(remote: Remote) -> tuple[Leftover, ...]:
    """What sessions left on a host, or still use there; changes nothing.

    Raises:
        SpecttuiError: The host cannot be looked at.
    """
    overrides = UnitOverrides(remote)
    traces, units = await asyncio.gather(find_traces(remote), overrides.find())
    found = find_leftovers(traces, {unit: overrides.drop_in(unit) for unit in units})
    return tuple(each.left for each in found)
