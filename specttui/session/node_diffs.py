"""What a restart would run on every node of a server, as one diff; why it would break the server. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from specttui.events import ServerInfo
from specttui.launch.edits import Edit, LaunchDiff
from specttui.launch.nodes import moves_nodes


def with_other_nodes(diffs: Sequence[LaunchDiff], names: Sequence[str]) -> LaunchDiff:
    """The head's diff, with what it does not say of the other nodes.

    Args:
        diffs: One per node, the head's first.
        names: The nodes' names.
    """
    head = diffs[0]
    others = list(zip(names[1:], diffs[1:], strict=True))
    return replace(
        head,
        notes=(*head.notes, *_changes(head, others)),
        warnings=(*head.warnings, *_own(others, "warnings", head.warnings)),
        errors=(*head.errors, *_own(others, "errors", head.errors)),
    )


def _changes(head: LaunchDiff, others: Sequence[tuple[str, LaunchDiff]]) -> Iterator[str]:
    """What is changed elsewhere, nodes with the same changes together."""
    names: dict[tuple[str, ...], list[str]] = {}
    for name, diff in others:
        names.setdefault(diff.changes, []).append(name)
    for changes, alike in names.items():
        words = "; ".join(changes) or "no changes"
        same = "the same with each one's own command" if changes == head.changes else words
        yield f"{', '.join(alike)}: {same}"


def _own(others: Sequence[tuple[str, LaunchDiff]], kind: str, known: Sequence[str]) -> Iterator[str]:
    for name, diff in others:
        yield from (f"{name}: {text}" for text in getattr(diff, kind) if text not in known)


def refusal_of(server: ServerInfo | None, node_count: int, edits: Sequence[Edit]) -> str:
    """Why a restart would break a server that spans hosts; "" where it would not.

    Args:
        server: The head's server.
        node_count: How many hosts the session has.
        edits: The wanted edits.
    """
    if server is None:
        return ""
    if server.node_count > node_count:
        return (
            f"The server spans {server.node_count} hosts, and this session knows {node_count}: name them all "
            "(specttui HOST1 HOST2 ...), or the others wait for a node that never comes."
        )
    if node_count > 1 and moves_nodes(edits):
        return "--node-rank and --nnodes tell the nodes apart: they cannot be changed for all at once."
    return ""
