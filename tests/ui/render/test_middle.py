from dataclasses import replace

import pytest
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
