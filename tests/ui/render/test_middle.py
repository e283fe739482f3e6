from dataclasses import replace

import pytest
from support.scripted_nodes import node, node_disconnected, sixteen_starting, three_starting
from support.scripted_snapshots import BASELINE, connected, disconnected, empty, failed, serving, starting

from specttui.events import FileState
from specttui.state.snapshot import ProbeView, ProgressView
from specttui.ui.render.middle import explain, middle_panel
from specttui.ui.render.panel import Space

SPACE = Space(78, 7)


def shown(snapshot, space=SPACE):
    return middle_panel(snapshot, space).fill(space).plain.split("\n")


def test_a_cycle_is_shown_when_there_is_one():
    assert shown(serving())[0].startswith("CYCLE  19.48 ms")


def test_starting_shows_bar_estimate_and_last_output():
    lines = shown(starting())
    assert lines[0] == "STARTING  the server"
    assert lines[1] == "loading the target's weights  61 of 163 shards"
    assert lines[2].startswith("[███")
    assert lines[2].endswith(" 43 %")
    assert lines[3] == "41 s so far, about 55 s left   last output 2 s ago"


def test_progress_without_figures():
    progress = ProgressView("init", "", None, 3.0, None, None)
    lines = shown(replace(starting(), progress=progress))
    assert lines[1] == "starting processes"
    assert lines[2].endswith("]   ? %")
    assert lines[3] == "3 s so far, no estimate yet"


def test_stopping_without_progress_shows_the_step():
    lines = shown(replace(starting(), server_phase="stopping", progress=None, server_detail="port: waiting"))
    assert lines[:2] == ["STOPPING", "port: waiting"]


@pytest.mark.parametrize(
    ("snapshot", "text", "remedy"),
    [
        (empty(), "Connecting to root@gpu-host.", ""),
        (disconnected(), "The connection to root@gpu-host is lost.", "tried again by itself"),
        (replace(serving(), connection="down"), "Not connected to root@gpu-host.", "f5"),
        (replace(connected(), server_phase="unknown"), "Looking for a running SGLang server.", ""),
        (replace(connected(), server_phase="none"), "No SGLang server runs on this host.", "f5"),
        (replace(connected(), server_phase="exited"), "The server has exited.", "r to start"),
        (failed(), "The server failed.", "u for the last good configuration"),
        (connected(), "No phases are timed yet: the worker file holds no probe.", "p to patch"),
        (replace(connected(), settings=BASELINE), "Speculation is off", "r to switch"),
        (
            replace(connected(), probe=ProbeView("waiting")),
            "The probe waits for decode cycles.",
            "l to send load",
        ),
        (
            replace(connected(), probe=ProbeView("silent")),
            "The probe is loaded but has never fired.",
            "x to restore",
        ),
        (replace(connected(), probe=ProbeView("failed", message="boom")), "took itself out", "x to restore"),
        (replace(connected(), probe=ProbeView("off")), "The probe is switched off.", "k to choose"),
    ],
)
def test_every_empty_state_says_what_is_so_and_what_to_do(snapshot, text, remedy):
    awaited = explain(snapshot)
    assert text in awaited.text
    assert remedy in awaited.remedy
    assert bool(awaited.remedy) == bool(remedy)


def test_patched_but_not_restarted():
    worker_file = serving().worker_file
    assert worker_file.state == FileState.PATCHED
    awaited = explain(replace(connected(), worker_file=worker_file))
    assert awaited.remedy == "Press r to restart the server."


def test_remedy_stays_when_a_long_detail_has_to_give_way():
    lines = shown(replace(failed(), server_detail="\n".join(f"line {number}" for number in range(40))))
    assert len(lines) == 7
    assert lines[1] == "The server failed."
    assert lines[2:5] == ["line 0", "line 1", "line 2"]
    assert lines[5].startswith("Press r to change settings")


def test_each_node_that_starts_is_shown_with_its_own_step():
    lines = shown(three_starting())
    assert lines[:2] == ["STARTING  the server", "loading the target's weights  61 of 163 shards"]
    assert [line.rstrip() for line in lines[4:]] == [
        " 0 gpu-a           capturing the target's CUDA graphs  12 of 52",
        " 1 gpu-b           loading the target's weights  61 of 163",
        " 2 gpu-c           joining the ranks",
    ]


def test_of_many_nodes_that_start_those_furthest_behind_are_shown():
    lines = shown(sixteen_starting())
    assert [line.rstrip() for line in lines[4:]] == [
        "11 gpu-11          weights 83 of 163   12 gpu-12          weights 76 of 163",
        "13 gpu-13          weights 69 of 163   14 gpu-14          weights 62 of 163",
        "15 gpu-15          weights 55 of 163   +11 more",
    ]


def test_a_node_that_fails_while_others_start_says_so():
    snapshot = three_starting()
    lost = node(2, "gpu-c.lab.example", connection="down", detail="broken pipe")
    lines = shown(replace(snapshot, nodes=(*snapshot.nodes[:2], lost)))
    assert lines[6].rstrip() == " 2 gpu-c           DISCONNECTED, broken pipe"


def test_nodes_that_stop_say_how_far_they_are():
    nodes = tuple(
        node(rank, f"gpu-{rank}", server_phase="stopping", detail=f"kill {rank}") for rank in range(2)
    )
    lines = shown(
        replace(starting(), server_phase="stopping", progress=None, server_detail="kill", nodes=nodes)
    )
    assert [line.rstrip() for line in lines] == [
        "STOPPING",
        "kill",
        " 0 gpu-0           stopping, kill 0",
        " 1 gpu-1           stopping, kill 1",
    ]


def test_of_several_hosts_those_that_are_meant_are_named():
    lost = replace(node_disconnected(), server_phase="unknown", cycle=None)
    assert explain(lost).text == "The connection to root@10.1.230.175 is lost."
    first, second = lost.nodes
    missing = replace(
        lost,
        connection="up",
        server_phase="none",
        nodes=(replace(first, server_phase="none"), replace(second, connection="up")),
    )
    assert explain(missing).text == "No SGLang server runs on root@10.1.230.174."
