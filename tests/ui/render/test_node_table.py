import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.scripted_nodes import (
    node,
    node_disconnected,
    node_failed,
    sixteen_nodes,
    three_starting,
    two_nodes,
)

from specttui.events import Gpu
from specttui.state.snapshot import NodeRow
from specttui.ui.render.node_table import node_gpus_panel, nodes_panel
from specttui.ui.render.panel import Space


def table(snapshot, width, rows=9):
    space = Space(width, rows, framed=True)
    panel = nodes_panel(snapshot.nodes, space)
    return panel, [line.rstrip() for line in panel.fill(space).plain.split("\n")]


def test_at_80_columns():
    panel, lines = table(two_nodes(), 76)
    assert panel.caption == "cycle: slowest rank's median, % over the fastest node"
    assert lines == [
        "  #  host   server                      file       cycle ms",
        "  0  gpu-a  serving                     patched       19.52",
        "  1  gpu-b  serving                     patched       19.88  slowest +1.8 %",
    ]


def test_at_150_columns():
    _, lines = table(two_nodes(), 146)
    assert [line.split() for line in lines[1:]] == [
        ["0", "gpu-a", "connected", "serving", "patched", "live", "8", "x", "96-99", "%",
         "1031", "of", "1123", "GiB", "19.52"],
        ["1", "gpu-b", "connected", "serving", "patched", "live", "8", "x", "96-99", "%",
         "1031", "of", "1123", "GiB", "19.88", "slowest", "+1.8", "%"],
    ]  # fmt: skip
    assert lines[0].split() == [
        "#", "host", "connection", "server", "file", "probe", "GPU", "load", "GPU", "memory", "cycle", "ms",
    ]  # fmt: skip


def test_a_failure_says_why_and_comes_first():
    _, lines = table(node_failed(), 146)
    assert [line.split()[:2] for line in lines[1:]] == [["0", "gpu-a"], ["2", "gpu-c"], ["1", "gpu-b"]]
    assert "FAILED, Out of GPU memory while the weights were loaded" in lines[2]
    assert "ORIGINAL" in lines[2]


@pytest.mark.parametrize("width", [76, 92, 116, 146])
def test_a_lost_connection_is_told_with_its_reason_at_every_width(width):
    _, lines = table(node_disconnected(), width)
    assert "RECONNECTING" in lines[1]
    assert "attempt 3 in 4 s" in lines[1]
    assert lines[1].endswith(" -" if width < 108 else "-")


def test_each_node_that_starts_says_where_it_is():
    _, lines = table(three_starting(), 116)
    assert [line.partition("connected")[2].partition("patched")[0].strip() for line in lines[1:]] == [
        "starting, graphs 12 of 52",
        "starting, weights 61 of 163",
        "starting, joining ranks",
    ]


def test_where_they_do_not_fit_the_rest_is_counted():
    panel, lines = table(sixteen_nodes(), 76, rows=3)
    assert panel.caption.endswith(", +14 more")
    assert [line.split()[:2] for line in lines[1:]] == [["13", "gpu-13"], ["11", "gpu-11"]]
    assert "serving, probe SILENT" in lines[1]
    assert lines[2].endswith("21.07  slowest +8.1 %")


def test_without_figures():
    space = Space(146, 3, framed=True)
    text = nodes_panel((NodeRow("gpu-a"), NodeRow("gpu-b", 1, "up")), space).fill(space).plain.split("\n")
    assert text[1].split() == ["-", "gpu-a", "connecting", "-", "-", "absent", "-", "-", "-"]
    assert text[2].split() == ["1", "gpu-b", "connected", "looking", "-", "absent", "-", "-", "-"]


@given(st.lists(st.text(min_size=1, max_size=60), min_size=1, max_size=20), st.integers(74, 200))
def test_no_row_is_wider_than_the_panel(names, width):
    nodes = [node(rank, name, detail=name) for rank, name in enumerate(names)]
    panel = nodes_panel(nodes, Space(width, 9, framed=True))
    assert max(line.cell_length for line in (panel.columns, *panel.lines)) <= width


def test_gpus_of_each_node():
    narrow, wide = Space(33, 4, framed=True), Space(60, 4, framed=True)
    assert node_gpus_panel(two_nodes().nodes, narrow).fill(narrow).plain.split("\n") == [
        "  0  ████████▊  96-99 % 410-445 W",
        "  1  ████████▊  96-99 % 410-445 W",
    ]
    assert (
        node_gpus_panel(two_nodes().nodes, wide)
        .fill(wide)
        .plain.split("\n")[0]
        .endswith("  96-99 % 410-445 W  54-56 C")
    )


def test_gpus_of_many_nodes_are_cut_and_those_without_figures_say_so():
    space = Space(60, 2, framed=True)
    panel = node_gpus_panel((node(0, "a", gpus=()), node(1, "b", gpus=(Gpu(index=0),))), space)
    assert "nvidia-smi" in panel.lines[0].plain
    assert panel.lines[1].plain.split() == ["1", "-", "-", "-"]
    assert node_gpus_panel(sixteen_nodes().nodes, space).caption == "per node, +14 more: load, power, heat"
