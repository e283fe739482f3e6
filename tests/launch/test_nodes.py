"""Servers on several hosts: which node a launch is, and which launches make one server."""

from __future__ import annotations

import pytest
from support.launches import launch

from specttui.errors import LaunchError, ServerNotFoundError
from specttui.launch.edits import RemoveFlag, SetEnv, SetFlag
from specttui.launch.nodes import NodePlace, arranged, moves_nodes, node_place

COMMAND = "sglang serve m --tp 16 --nnodes {} --node-rank {} --dist-init-addr 10.0.0.1:5000"


@pytest.mark.parametrize(
    ("command", "place"),
    [
        ("sglang serve m", NodePlace(0, 1, "")),
        (COMMAND.format(2, 1), NodePlace(1, 2, "10.0.0.1:5000")),
        (
            "python -m sglang.launch_server --nnodes=4 --node-rank=3 --nccl-init-addr h:1",
            NodePlace(3, 4, "h:1"),
        ),
    ],
)
def test_a_launchs_place_in_its_server(command: str, place: NodePlace) -> None:
    assert node_place(launch(command)) == place


def test_a_place_from_a_config_file_where_the_command_line_wins() -> None:
    config = {"nnodes": 2, "node-rank": 0, "dist-init-addr": "h:1"}
    assert node_place(launch("sglang serve m --config c.yaml --node-rank 1"), config) == NodePlace(
        1, 2, "h:1"
    )


def test_a_rank_that_is_no_number() -> None:
    with pytest.raises(LaunchError, match="--node-rank is no number") as error:
        node_place(launch("sglang serve m --nnodes 2 --node-rank $RANK"))
    assert error.value.cause == "got '$RANK'"


def test_hosts_are_put_into_the_order_of_their_ranks() -> None:
    places = {"c": NodePlace(2, 3, "h:1"), "a": NodePlace(0, 3, "h:1"), "b": NodePlace(1, 3, "h:1")}
    assert arranged(places) == ("a", "b", "c")


@pytest.mark.parametrize(
    ("places", "remedy"),
    [
        ([NodePlace(0, 3, "h:1"), NodePlace(1, 3, "h:1")], "Name each of the 3 hosts of the server once"),
        ([NodePlace(0, 2, "h:1"), NodePlace(0, 2, "h:1")], "Name each of the 2 hosts of the server once"),
        ([NodePlace(), NodePlace()], "Open a session on each by itself"),
        ([NodePlace(0, 2, "h:1"), NodePlace()], "Name each of the 2 hosts of the server once"),
        (
            [NodePlace(0, 2, "h:1"), NodePlace(1, 2, "h:2")],
            "Name the hosts that meet at one",
        ),
    ],
)
def test_hosts_that_are_not_one_server(places: list[NodePlace], remedy: str) -> None:
    with pytest.raises(ServerNotFoundError) as error:
        arranged(dict(zip("ab", places, strict=True)))
    assert error.value.remedy.startswith(remedy)
    assert error.value.cause.splitlines()[0].startswith("a: ")


def test_only_edits_of_the_nodes_own_flags_move_them() -> None:
    assert moves_nodes([SetFlag("--node-rank", "0")])
    assert moves_nodes([RemoveFlag("--nnodes")])
    assert not moves_nodes([SetFlag("--speculative-num-steps", "2"), SetEnv("NCCL_PROTO", "LL")])
