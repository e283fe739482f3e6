"""Leftovers as lines: what, where, whose, how old, and whether that session lives."""

from dataclasses import replace

from support.scripted_leftovers import CACHE, CONFIG, DEAD, HELD, LEFT
from support.scripted_snapshots import WORKER_PATH

from specttui.session.api import Leftover
from specttui.ui.render.leftovers import leftover_lines


def texts(leftovers):
    return [content.plain for content in leftover_lines(leftovers)]


def test_what_matters_has_two_lines_and_the_rest_is_counted():
    assert texts(LEFT) == [
        f"patched file {WORKER_PATH}",
        f"  session {DEAD}, dead, 27 h 46 min old",
        f"backup {WORKER_PATH}.specttui-{DEAD}.0123456789ab.orig",
        f"  session {DEAD}, dead, 27 h 47 min old",
        f"hook folder {CACHE}/hook-{DEAD}",
        f"  session {DEAD}, dead, 2 h 05 min old",
        "and 1 control file, 2 launch scripts",
    ]


def test_a_living_session_is_said_to_live_and_whose_it_is():
    assert texts(HELD[:1]) == [
        f"lock {CONFIG}",
        "  session 20260211-134800-gpu-host of ada@laptop, alive, for 12 min 05 s",
    ]


def test_what_is_not_known_is_not_made_up_and_hosts_are_named():
    assert texts([Leftover("/w.py", "patched file", host="node-2")]) == [
        "patched file node-2: /w.py",
        "  session unknown, dead",
    ]


def test_remote_text_stays_on_its_line():
    hostile = replace(HELD[0], path="/a\n[bold]b\x1b[2J", owner="x\ty")
    assert texts([hostile])[0] == "lock /a [bold]b [2J"
    assert " of x y, alive" in texts([hostile])[1]
