"""`specttui doctor`: what works on the way to a host and on it, step by step; changes nothing there."""

from __future__ import annotations

from specttui.host.prompts import Prompter
from specttui.host.transport import reached
from specttui.session.doctor.account import account
from specttui.session.doctor.findings import Examination, Findings
from specttui.session.doctor.inside import inside
from specttui.session.doctor.left_behind import left_behind
from specttui.session.doctor.serving import serving
from specttui.session.doctor.way_in import way_in
from specttui.session.options import SessionOptions

__all__ = ["Examination", "examine"]


async def examine(options: SessionOptions, prompter: Prompter) -> Examination:
    """Check everything a session needs, in the order in which it would need it.

    A step that others build on ends the examination when it fails; nothing is raised for it.

    Args:
        options: The host, and how to reach it.
        prompter: Asked about host keys and for secrets.
    """
    found = Findings()
    connection = await way_in(options, prompter, found)
    if connection is not None:
        try:
            await account(connection, found)
            remote = reached(connection, options.via)
            if await inside(remote, options, found):
                await left_behind(remote, options.shown_name, found)
                await serving(remote, options, prompter, found)
        finally:
            await connection.close()
    return Examination(options.name or str(options.target), tuple(found.all))
