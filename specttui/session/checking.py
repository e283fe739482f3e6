"""`specttui check`: a short visit to a host, without the screen."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial

from specttui.host.discovery import discover
from specttui.host.found import Discovery, FoundServer
from specttui.host.link import Link
from specttui.host.prompts import Prompter
from specttui.host.remote import Remote
from specttui.host.sudo import Sudo
from specttui.host.transport import reached
from specttui.probe.inspection import Inspection, inspect
from specttui.probe.targets import Target
from specttui.session.api import Leftover
from specttui.session.console import ConsolePrompter
from specttui.session.left_on_host import look_for_leftovers
from specttui.session.options import SessionOptions


@dataclass(frozen=True, slots=True)
class Checked:
    """What a check saw: the servers, each server's worker file inspected, and what sessions left."""

    host: str
    discovery: Discovery
    inspections: tuple[Inspection | None, ...]
    leftovers: tuple[Leftover, ...] = ()


async def check(options: SessionOptions, prompter: Prompter | None = None) -> Checked:
    """Look at a host and go; changes nothing there.

    Args:
        options: The host, and how to reach it.
        prompter: Asked about host keys and for secrets; the terminal by default.

    Raises:
        SpecttuiError: The host cannot be reached or looked at.
    """
    inspecting = partial(inspect, targets=options.targets)
    asked = prompter or ConsolePrompter()
    async with visit(options, asked) as remote:
        discovery = await discover(
            remote,
            port=options.server_port,
            log_path=options.log_path,
            inspect_source=inspecting,
            sudo=Sudo(remote, asked, options.sudo),
        )
        left = await look_for_leftovers(remote)
    inspections = tuple(_inspection(server, options.targets) for server in discovery.servers)
    return Checked(options.shown_name, discovery, inspections, left)


@asynccontextmanager
async def visit(options: SessionOptions, prompter: Prompter) -> AsyncIterator[Remote]:
    """A host, connected for as long as the context lasts."""
    link = Link(options.target, prompter, options.connect)
    await link.start()
    try:
        yield reached(link, options.via)
    finally:
        await link.close()


def _inspection(server: FoundServer, targets: Sequence[Target]) -> Inspection | None:
    path = server.info.worker.path
    source = server.sources.get(path)
    return inspect(source, path, targets=targets) if source is not None else None
