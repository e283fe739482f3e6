"""Servers that span several hosts: which node a launch is, and which launches make one server. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from specttui.errors import LaunchError, ServerNotFoundError
from specttui.events import Launch
from specttui.launch import flags
from specttui.launch.edits import Edit, RemoveFlag, SetFlag
from specttui.launch.settings import Config, effective_command

#: What tells the nodes of a server apart and ties them together; a restart leaves them as they are.
NODE_FLAGS = frozenset({flags.NODE_RANK, flags.NODE_COUNT})


@dataclass(frozen=True, slots=True)
class NodePlace:
    """A launch's place in its server: node `rank` of `count`, which meet at `address` (host:port, or "")."""

    rank: int = 0
    count: int = 1
    address: str = ""

    def __str__(self) -> str:
        return f"node {self.rank} of {self.count}" if self.count > 1 else "a server of its own"


def node_place(launch: Launch, config: Config | None = None) -> NodePlace:
    """A launch's place in its server, from `--node-rank`, `--nnodes` and `--dist-init-addr`.

    Raises:
        LaunchError: The command cannot be read, or a number is none.
    """
    command = effective_command(launch, config)
    return NodePlace(
        rank=_number(command.value(flags.NODE_RANK), 0, flags.NODE_RANK),
        count=_number(command.value(flags.NODE_COUNT), 1, flags.NODE_COUNT),
        address=command.value(flags.INIT_ADDRESS) or "",
    )


def _number(text: str | None, default: int, flag: str) -> int:
    if text is None:
        return default
    try:
        return int(text)
    except ValueError:
        raise LaunchError(f"{flag} is no number", cause=f"got {text!r}") from None


def arranged(places: Mapping[str, NodePlace]) -> tuple[str, ...]:
    """The hosts of one server in the order of their ranks.

    Args:
        places: Each host's place, in the order in which the user named them.

    Raises:
        ServerNotFoundError: They are not all the nodes of one server.
    """
    ranks = sorted(place.rank for place in places.values())
    meeting = {(place.count, place.address) for place in places.values()}
    if ranks != list(range(len(places))) or {count for count, _ in meeting} != {len(places)}:
        raise ServerNotFoundError(
            "These hosts are not all the nodes of one server", cause=_list(places), remedy=_name_all(places)
        )
    if len(meeting) > 1:
        raise ServerNotFoundError(
            "These hosts run nodes of different servers",
            cause=_list(places),
            remedy="Name the hosts that meet at one --dist-init-addr.",
        )
    return tuple(sorted(places, key=lambda name: places[name].rank))


def _list(places: Mapping[str, NodePlace]) -> str:
    return "\n".join(
        f"{name}: {place}" + (f", meets at {place.address}" if place.address else "")
        for name, place in places.items()
    )


def _name_all(places: Mapping[str, NodePlace]) -> str:
    count = max(place.count for place in places.values())
    if count == 1:
        return "Open a session on each by itself: specttui HOST"
    return f"Name each of the {count} hosts of the server once: specttui HOST1 HOST2 ..."


def moves_nodes(edits: Sequence[Edit]) -> bool:
    """Whether edits would change which node a launch is, which no restart of a whole server may do."""
    return any(isinstance(edit, SetFlag | RemoveFlag) and edit.name in NODE_FLAGS for edit in edits)
