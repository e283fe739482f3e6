"""The screens as SVG, compared with stored ones; `pytest --snapshot-update` renews them after a look."""

from dataclasses import replace

import pytest
from support.pilots import opened, program
from support.scripted_leftovers import HELD, LEFT
from support.scripted_nodes import (
    node_disconnected,
    node_failed,
    sixteen_nodes,
    sixteen_starting,
    three_starting,
    two_nodes,
)
from support.scripted_session import ScriptedSession
from support.scripted_snapshots import connected, disconnected, empty, failed, serving, starting
from textual.widgets import Input

from specttui.ui.screens.leftovers import LeftoversScreen


async def still(pilot):
    """Nothing blinks and everything is laid out."""
    for field in pilot.app.screen.query(Input):
        field.cursor_blink = False
    await pilot.pause()
    pilot.app.draw_now()
    await pilot.pause()


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 60)], ids=lambda size: f"{size[0]}x{size[1]}")
def test_serving(snap_compare, size):
    app = program(ScriptedSession(serving(), patched=True))
    assert snap_compare(app, terminal_size=size, run_before=still)


@pytest.mark.parametrize(
    "make", [disconnected, starting, failed, empty, connected], ids=lambda make: make.__name__
)
def test_other_states(snap_compare, make):
    session = ScriptedSession(make(), can_roll_back=make is failed)
    assert snap_compare(program(session), terminal_size=(80, 24), run_before=still)


@pytest.mark.parametrize("size", [(80, 24), (150, 44)], ids=lambda size: f"{size[0]}x{size[1]}")
@pytest.mark.parametrize(
    "make",
    [two_nodes, node_disconnected, node_failed, three_starting, sixteen_nodes, sixteen_starting],
    ids=lambda make: make.__name__,
)
def test_several_hosts(snap_compare, make, size):
    session = ScriptedSession(make(), patched=True, can_roll_back=make is node_failed)
    assert snap_compare(program(session), terminal_size=size, run_before=still)


def test_paused(snap_compare):
    session = ScriptedSession(serving(), patched=True)

    async def pause(pilot):
        await pilot.press("space")
        session.current = replace(serving(), throughput_now=1.0, offset_s=612.0)
        await still(pilot)

    assert snap_compare(program(session), terminal_size=(80, 24), run_before=pause)


def test_timeline(snap_compare):
    async def timeline(pilot):
        await pilot.press("t")
        await still(pilot)

    assert snap_compare(program(ScriptedSession(serving())), terminal_size=(80, 24), run_before=timeline)


def test_leftovers(snap_compare):
    async def asked(pilot):
        pilot.app.draw_now()
        await opened(pilot, LeftoversScreen)
        await still(pilot)

    session = ScriptedSession(connected(), leftovers=(*HELD, *LEFT))
    assert snap_compare(program(session), terminal_size=(80, 24), run_before=asked)
