"""Which rank of a server a scheduler is, and which ranks run on which node."""

from __future__ import annotations

from dataclasses import dataclass

from ..srt.server_args import ServerArgs


@dataclass(frozen=True, slots=True)
class Place:
    """One rank of a server whose ranks are split evenly over its nodes.

    Attributes:
        rank: This one, counted over all nodes.
        ranks: How many there are on all nodes.
        nodes: How many nodes there are.
    """

    rank: int = 0
    ranks: int = 1
    nodes: int = 1

    @property
    def on_node(self) -> range:
        """The ranks of this one's node."""
        each = self.ranks // self.nodes
        first = self.rank // each * each
        return range(first, first + each)

    @property
    def leads_node(self) -> bool:
        """True for the first rank of a node."""
        return self.rank == self.on_node[0]

    @property
    def name(self) -> str:
        """As log lines bear it: "TP0" and the like; empty when there is only one rank."""
        return rank_name(self.rank) if self.ranks > 1 else ""

    @property
    def title(self) -> str:
        """The process's title."""
        return f"sglang::scheduler_{self.name}" if self.name else "sglang::scheduler"


def rank_name(rank: int) -> str:
    """A rank as log lines bear it."""
    return f"TP{rank}"


def places_on_node(server_args: ServerArgs) -> list[Place]:
    """The ranks that a launch runs on its own node."""
    ranks, nodes = server_args.tp_size, server_args.nnodes
    each = ranks // nodes
    first = server_args.node_rank * each
    return [Place(rank, ranks, nodes) for rank in range(first, first + each)]
