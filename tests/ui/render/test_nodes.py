import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from support.scripted_nodes import (
    node,
    node_disconnected,
    node_failed,
    sixteen_nodes,
    sixteen_starting,
    three_starting,
    two_nodes,
)

from specttui.events import FileState
from specttui.state.snapshot import NodeRow
from specttui.ui.render.glyphs import ASCII, BLOCKS
from specttui.ui.render.nodes import nodes_line


def shown(snapshot, width=78, glyphs=BLOCKS):
    return nodes_line(snapshot.nodes, width, glyphs).plain


@pytest.mark.parametrize(
    ("snapshot", "text"),
    [
        (two_nodes(), "NODES  all serving, patched  0 gpu-a 19.52 ms  1 gpu-b 19.88 ms slowest"),
        (
            node_disconnected(),
            "NODES  1 10…0.175 RECONNECTING patched  0 10…0.174 serving patched 19.52 ms",
        ),
        (
            node_failed(),
            "NODES  0 gpu-a FAILED patched  2 gpu-c FAILED ORIGINAL  1 gpu-b EXITED patched",
        ),
        (three_starting(), "NODES  all starting, patched  0 gpu-a  1 gpu-b  2 gpu-c"),
        (sixteen_nodes(), "NODES  13 gpu-13 probe SILENT  11 gpu-11 21.07 ms slowest  +14 more"),
        (
            sixteen_starting(),
            "NODES  all starting, patched  0 gpu-00  1 gpu-01  2 gpu-02  3 gpu-03  +12 more",
        ),
    ],
)
def test_at_80_columns(snapshot, text):
    assert shown(snapshot) == text


def test_with_room_every_node_says_everything_itself():
    assert shown(two_nodes(), 118) == (
        "NODES  0 gpu-a serving patched 19.52 ms  1 gpu-b serving patched 19.88 ms slowest"
    )


def test_what_the_others_share_is_said_where_it_costs_no_node_that_matters():
    assert shown(sixteen_nodes(), 118) == (
        "NODES  13 gpu-13 probe SILENT  others serving, patched  0 gpu-00 19.50 ms"
        "  11 gpu-11 21.07 slowest  +13 more"
    )


def test_at_60_columns_what_all_share_goes_unsaid():
    assert shown(two_nodes(), 58) == "NODES  0 gpu-a 19.52 ms  1 gpu-b 19.88 ms slowest"


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (2, "NODES  all serving, patched  0 node0 19.52 ms  1 node1 19.64 ms slowest"),
        (3, "NODES  0 node0 19.52 ms  1 node1 19.64 ms  2 node2 19.76 ms slowest"),
        (4, "NODES  0 node0 19.52 ms  1 node1 19.64  2 node2 19.76  3 node3 19.88 slowest"),
        (8, "NODES  all serving, patched  0 node0 19.52 ms  7 node7 20.36 slowest  +6 more"),
        (64, "NODES  all serving, patched  63 node63 27.08 ms slowest  +63 more"),
    ],
)
def test_the_more_nodes_the_terser(count, text):
    nodes = [node(rank, f"node{rank}") for rank in range(count)]
    assert nodes_line(nodes, 78, BLOCKS).plain == text


def test_before_anything_is_known():
    nodes = (NodeRow("gpu-a"), NodeRow("gpu-b", connection="up"))
    assert nodes_line(nodes, 78, BLOCKS).plain == "NODES  - gpu-a connecting  - gpu-b looking"


def test_ascii_cuts_with_its_own_mark():
    assert "10~0.175" in shown(node_disconnected(), glyphs=ASCII)


ROWS = st.builds(
    NodeRow,
    name=st.text(min_size=1, max_size=40),
    rank=st.one_of(st.none(), st.integers(0, 99)),
    connection=st.sampled_from(["up", "down", "retrying", "connecting", "none"]),
    server_phase=st.sampled_from(["unknown", "none", "starting", "serving", "stopping", "exited", "failed"]),
    detail=st.text(max_size=40),
    file_state=st.one_of(st.none(), st.sampled_from(FileState)),
    probe=st.sampled_from(["absent", "live", "silent", "failed"]),
    slowest_cycle_ms=st.one_of(st.none(), st.floats()),
)


@given(st.lists(ROWS, min_size=1, max_size=20), st.integers(58, 200))
def test_it_is_one_line_and_never_wider_than_the_screen(nodes, width):
    content = nodes_line(nodes, width, BLOCKS)
    assert cell_len(content.plain) <= width
    assert "\n" not in content.plain
    assert content.plain.startswith("NODES  ")


@given(st.integers(2, 64), st.integers(0, 63), st.integers(78, 160))
def test_one_problem_among_many_nodes_is_always_in_sight(count, place, width):
    nodes = [node(rank, f"n{rank}", slowest_cycle_ms=19.0) for rank in range(count)]
    nodes[place % count] = node(place % count, "broken", server_phase="failed")
    assert f"{place % count} broken FAILED" in nodes_line(nodes, width, BLOCKS).plain
