"""What other sessions left is offered once after connecting; living sessions are asked about again."""

import pytest
from support.pilots import opened, program, screen_text, settle
from support.scripted_leftovers import CONFIG, DEAD, HELD, LEFT, LOCKED
from support.scripted_session import ScriptedSession
from support.scripted_snapshots import WORKER_PATH, connected, serving, starting

from specttui.errors import PatchError
from specttui.ui.screens.confirm import ConfirmScreen
from specttui.ui.screens.error import ErrorScreen
from specttui.ui.screens.leftovers import LeftoversScreen

SIZE = (80, 24)


async def offered(pilot):
    """The dialog, which comes with the next tick."""
    pilot.app.draw_now()
    return await opened(pilot, LeftoversScreen)


@pytest.mark.parametrize(
    ("key", "calls"),
    [
        ("x", ["restore_leftovers", "ignore_leftovers"]),
        ("a", ["adopt_leftovers", "ignore_leftovers"]),
        ("i", ["ignore_leftovers"]),
        ("enter", ["ignore_leftovers"]),
        ("escape", ["ignore_leftovers"]),
    ],
)
async def test_each_key_does_what_it_says_and_nothing_is_asked_again(key, calls):
    session = ScriptedSession(connected(), leftovers=LEFT)
    app = program(session)
    async with app.run_test(size=SIZE) as pilot:
        dialog = await offered(pilot)
        assert dialog.focused.id == "ignore"
        shown = screen_text(pilot)
        assert "patched file /opt/sglang" in shown
        assert f"session {DEAD}, dead, 27 h 46 min old" in shown
        await pilot.press(key)
        await settle(pilot, lambda: app.screen is app.main and len(session.calls) == len(calls))
        app.draw_now()
        await pilot.pause()
        assert session.calls == [(call,) for call in calls]
        assert app.screen is app.main


async def test_all_of_a_long_list_can_be_read():
    session = ScriptedSession(connected(), leftovers=LEFT * 4)
    app = program(session)
    async with app.run_test(size=SIZE) as pilot:
        await offered(pilot)
        assert "Restore (x)" in screen_text(pilot)
        assert "8 launch scripts" not in screen_text(pilot)
        await pilot.press(*["pagedown"] * 5)
        await settle(pilot, lambda: "and 4 control files, 8 launch scripts" in screen_text(pilot))


@pytest.mark.parametrize("options", [{"readonly": True}, {}])
async def test_where_nothing_may_be_changed_nothing_is_asked(options):
    session = ScriptedSession(connected(), leftovers=LEFT, **options)
    app = program(session, replay=not options)
    async with app.run_test(size=SIZE) as pilot:
        app.draw_now()
        await pilot.pause()
        assert app.screen is app.main
        assert session.calls == []


async def test_what_harms_nobody_is_not_asked_about_by_itself():
    session = ScriptedSession(connected(), leftovers=LEFT[3:])
    app = program(session)
    async with app.run_test(size=SIZE) as pilot:
        app.draw_now()
        await pilot.pause()
        assert app.screen is app.main


async def test_it_waits_until_no_command_runs():
    session = ScriptedSession(starting(), leftovers=LEFT)
    app = program(session)
    async with app.run_test(size=SIZE) as pilot:
        app.draw_now()
        await pilot.pause()
        assert app.screen is app.main
        session.current = serving()
        app.draw_now()
        await opened(pilot, LeftoversScreen)


@pytest.mark.parametrize(("key", "name"), [("x", "restore_leftovers"), ("a", "adopt_leftovers")])
@pytest.mark.parametrize("answer", ["y", "n", "enter", "escape"])
async def test_a_living_session_is_taken_over_only_after_another_question(key, name, answer):
    session = ScriptedSession(connected(), leftovers=(*HELD, *LEFT), locked=LOCKED)
    app = program(session)
    async with app.run_test(size=SIZE) as pilot:
        await offered(pilot)
        shown = screen_text(pilot)
        assert "of ada@laptop, alive, for 12 min 05 s" in shown
        assert "touched only after another question" in shown
        await pilot.press(key)
        dialog = await opened(pilot, ConfirmScreen)
        assert dialog.focused.id == "no"
        shown = screen_text(pilot)
        assert CONFIG in shown
        assert "Session 20260211-134800-gpu-host of ada@laptop took it 12 min ago" in shown
        assert "12 s ago" in shown
        assert session.calls == [(name,)]
        await pilot.press(answer)
        await settle(pilot, lambda: session.calls[-1] == ("ignore_leftovers",))
        taken = [(name, "take_over")] if answer == "y" else []
        assert session.calls == [(name,), *taken, ("ignore_leftovers",)]


async def test_what_fails_is_told_and_not_asked_again():
    error = PatchError("The file was changed after it was patched")
    session = ScriptedSession(connected(), leftovers=LEFT, failure=error, failing=["restore_leftovers"])
    app = program(session)
    async with app.run_test(size=SIZE) as pilot:
        await offered(pilot)
        await pilot.press("x")
        await opened(pilot, ErrorScreen)
        assert "changed after it was patched" in screen_text(pilot)
        await pilot.press("escape")
        await settle(pilot, lambda: app.screen is app.main)
        assert session.calls == [("restore_leftovers",), ("ignore_leftovers",)]


@pytest.mark.parametrize("answer", ["y", "n"])
async def test_x_asks_before_it_takes_a_file_from_a_living_session(answer):
    session = ScriptedSession(serving(), patched=True, locked=LOCKED)
    app = program(session)
    async with app.run_test(size=SIZE) as pilot:
        await pilot.press("x")
        await opened(pilot, ConfirmScreen)
        assert WORKER_PATH in screen_text(pilot)
        await pilot.press("y")
        await settle(pilot, lambda: "Another session lives" in screen_text(pilot))
        await pilot.press(answer)
        await settle(pilot, lambda: app.screen is app.main)
        await pilot.pause()
        assert session.calls == [("restore",), *([("restore", "take_over")] if answer == "y" else [])]


@pytest.mark.parametrize(("answer", "left"), [("y", True), ("n", False)])
async def test_leaving_asks_the_same(answer, left):
    session = ScriptedSession(serving(), patched=True, locked=LOCKED)
    app = program(session)
    async with app.run_test(size=SIZE) as pilot:
        await pilot.press("q")
        await settle(pilot, lambda: "Restore and quit (x)" in screen_text(pilot))
        await pilot.press("x")
        await opened(pilot, ConfirmScreen)
        await pilot.press(answer)
        if left:
            await settle(pilot, lambda: app.return_value == 0)
        else:
            await settle(pilot, lambda: app.screen is app.main)
            assert app.is_running
        assert session.calls == [("restore",), *([("restore", "take_over")] if left else [])]
