from dataclasses import replace

import pytest
from support.scripted_nodes import node, sixteen_nodes, two_nodes

from specttui.events import FileState
from specttui.state.snapshot import NodeRow
from specttui.ui.render.node_words import common, tell, visible


def told(*nodes):
    return tell(nodes)


@pytest.mark.parametrize(
    ("connection", "phase", "word", "server"),
    [
        ("up", "serving", "serving", "serving"),
        ("up", "starting", "starting", "starting"),
        ("up", "stopping", "stopping", "stopping"),
        ("up", "unknown", "looking", "looking"),
        ("up", "none", "NO SERVER", "NO SERVER"),
        ("up", "exited", "EXITED", "EXITED"),
        ("up", "failed", "FAILED", "FAILED"),
        ("none", "serving", "serving", "serving"),
        ("connecting", "unknown", "connecting", "-"),
        ("retrying", "serving", "RECONNECTING", "-"),
        ("down", "serving", "DISCONNECTED", "-"),
    ],
)
def test_every_state_has_a_word_and_problems_are_in_capitals(connection, phase, word, server):
    (one,) = told(node(0, "a", connection=connection, server_phase=phase))
    assert (one.state.text, one.server.text) == (word, server)
    assert bool(one.trouble) == word.isupper()


def test_an_original_among_patched_files_is_a_problem():
    original, patched = node(0, "a", file_state=FileState.ORIGINAL), node(1, "b")
    assert [(one.file.text, one.trouble) for one in told(original)] == [("original", 0)]
    assert [(one.file.text, one.trouble) for one in told(original, patched)] == [
        ("ORIGINAL", 1),
        ("patched", 0),
    ]
    foreign = node(2, "c", file_state=FileState.FOREIGN)
    assert [(one.file.text, one.trouble) for one in told(foreign, NodeRow("d", connection="up"))] == [
        ("FOREIGN", 2),
        ("-", 0),
    ]


def test_a_probe_that_fails_or_is_silent_is_a_problem():
    probes = ("live", "failed", "silent", "off")
    assert [
        (one.probe.text, one.trouble) for one in told(*(node(0, "a", probe=word) for word in probes))
    ] == [
        ("live", 0),
        ("FAILED", 2),
        ("SILENT", 1),
        ("off", 0),
    ]


def test_a_start_says_its_step_and_how_far_it_is():
    begun = node(0, "a", server_phase="starting", startup_phase="weights", startup_done=3, startup_total=8)
    variants = (
        begun,
        replace(begun, startup_done=None),
        replace(begun, startup_phase="x\x1by", startup_total=None),
        replace(begun, startup_phase="", detail="steps 2\nLL"),
    )
    assert [one.doing for one in told(*variants)] == ["weights 3 of 8", "weights", "x y", "steps 2 LL"]
    assert [one.counted for one in told(*variants)] == ["3 of 8", "", "", "3 of 8"]


def test_of_a_node_out_of_touch_the_connection_is_told_and_no_stale_figure():
    lost = node(1, "b", connection="down", detail="broken pipe", startup_phase="weights")
    (one,) = told(lost)
    assert (one.doing, one.cycle_ms, one.behind) == ("broken pipe", None, None)


def test_the_slowest_is_named_only_where_times_differ():
    first, second = two_nodes().nodes
    equal = replace(second, slowest_cycle_ms=first.slowest_cycle_ms)
    unknown = replace(second, slowest_cycle_ms=float("nan"))
    assert [one.slowest for one in told(first, second)] == [False, True]
    assert [one.behind for one in told(first, second)] == [0.0, pytest.approx(19.88 / 19.52 - 1)]
    for nodes in ((first, equal), (first,), (first, unknown)):
        assert [one.slowest for one in told(*nodes)] == [False] * len(nodes)
    assert [one.cycle_ms for one in told(first, unknown)] == [19.52, None]


def test_problems_come_first_and_the_slowest_stays():
    nodes = tell(sixteen_nodes().nodes)
    rest = [str(rank) for rank in range(16) if rank != 13]
    assert [one.rank for one in visible(nodes, 4)] == ["13", "0", "1", "11"]
    assert [one.rank for one in visible(nodes, 2)] == ["13", "11"]
    assert [one.rank for one in visible(nodes, 1)] == ["13"]
    assert visible(nodes, 0) == ()
    assert [one.rank for one in visible(nodes, 99)] == ["13", *rest]


def test_a_failure_comes_before_what_it_brought_down():
    nodes = told(node(0, "a", server_phase="exited"), node(1, "b", server_phase="failed"), node(2, "c"))
    assert [one.name for one in visible(nodes, 3)] == ["b", "a", "c"]


@pytest.mark.parametrize(
    ("names", "short"),
    [
        (("root@gpu-a.lab.example", "root@gpu-b.lab.example"), ["gpu-a", "gpu-b"]),
        (("10.1.2.3", "10.1.2.4"), ["10.1.2.3", "10.1.2.4"]),
        (("node.a.example", "node.b.example"), ["node.a.example", "node.b.example"]),
        (("me@gpu", "you@gpu"), ["me@gpu", "you@gpu"]),
        (("a:2201", "a:2202"), ["a:2201", "a:2202"]),
        (("a\x1b[31m", "b"), ["a [31m", "b"]),
    ],
)
def test_names_are_cut_only_where_they_still_tell_apart(names, short):
    assert [one.name for one in told(*map(NodeRow, names))] == short


def test_what_all_share_leaves_those_with_problems_out():
    nodes = [node(0, "a"), node(1, "b"), node(2, "c", server_phase="failed")]
    begun = node(3, "d", server_phase="starting")
    assert [word.text for word in common(told(*nodes))] == ["serving", "patched"]
    assert [word.text for word in common(told(*nodes, begun))] == ["patched"]
    assert common(told(nodes[0], nodes[2])) == ()


def test_a_rank_may_be_unknown():
    assert [one.rank for one in told(node(3, "a"), NodeRow("b"))] == ["3", "-"]
