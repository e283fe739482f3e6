"""The dialog of the draft's config.json, and what leaving says of it."""

from dataclasses import replace

from support.pilots import opened, program, screen_text, settle, text_of
from support.scripted_session import DRAFT_CONFIG, ScriptedSession
from support.scripted_snapshots import STEPS_2, connected, serving
from textual.widgets import Button, TextArea

from specttui.ui.screens.draft_config import DraftConfigScreen
from specttui.ui.screens.quit import QuitScreen

SIZE = (100, 30)
EDITED = "The draft's /models/kimi-k2.5-eagle3/config.json is edited."
DRAFTED = replace(serving(), settings=STEPS_2.model_copy(update={"draft_model_path": "/m/draft"}))


async def test_d_points_out_the_layers_and_writes_the_edited_text():
    session = ScriptedSession(DRAFTED)
    app = program(session)
    async with app.run_test(size=SIZE) as pilot:
        await pilot.press("d")
        dialog = await opened(pilot, DraftConfigScreen)
        shown = screen_text(pilot)
        assert "eagle_config.eagle_aux_hidden_state_layer_ids [1, 29, 57]" in shown
        assert "Original (ctrl+o)" not in shown
        await pilot.press("ctrl+s")
        await pilot.pause()
        assert app.screen is dialog, "there is nothing to write"
        edited = DRAFT_CONFIG.replace("29", "28")
        dialog.query_one(TextArea).text = edited
        await settle(pilot, lambda: "layer_ids [1, 28, 57]" in screen_text(pilot))
        await pilot.press("ctrl+s")
        await settle(pilot, lambda: session.calls[-1] == ("edit_draft_config", edited))


async def test_a_text_that_is_not_sound_is_not_written():
    session = ScriptedSession(DRAFTED)
    app = program(session)
    async with app.run_test(size=SIZE) as pilot:
        await pilot.press("d")
        dialog = await opened(pilot, DraftConfigScreen)
        dialog.query_one(TextArea).text = DRAFT_CONFIG.replace("29", "-1")
        await settle(pilot, lambda: "-1 is no layer" in screen_text(pilot))
        assert dialog.query_one("#save", Button).disabled
        await pilot.press("ctrl+s", "ctrl+o")
        await pilot.pause()
        assert app.screen is dialog
        await pilot.press("escape")
        await settle(pilot, lambda: app.screen is app.main)
        assert session.calls == [("view_draft_config",)]


async def test_an_edited_one_is_restored_with_one_key():
    session = ScriptedSession(DRAFTED, other_changes=[EDITED])
    app = program(session)
    async with app.run_test(size=SIZE) as pilot:
        await pilot.press("d")
        await opened(pilot, DraftConfigScreen)
        await pilot.press("ctrl+o")
        await settle(pilot, lambda: session.calls[-1] == ("restore_draft_config",))


async def test_without_a_draft_model_there_is_nothing_to_open():
    session = ScriptedSession(connected())
    app = program(session)
    async with app.run_test(size=SIZE) as pilot:
        await pilot.press("d")
        await pilot.pause()
        assert app.screen is app.main
        assert session.calls == []


async def test_leaving_with_an_edit_asks_and_restores():
    session = ScriptedSession(DRAFTED, other_changes=[EDITED])
    app = program(session)
    async with app.run_test(size=SIZE) as pilot:
        await pilot.press("q")
        await opened(pilot, QuitScreen)
        assert EDITED in screen_text(pilot)
        await pilot.press("x")
        await settle(pilot, lambda: app.return_value == 0)
        assert session.calls == [("restore",)]


async def test_x_restores_what_is_no_worker_file():
    session = ScriptedSession(DRAFTED, other_changes=[EDITED])
    app = program(session)
    async with app.run_test(size=(200, 30)) as pilot:
        assert "x restore" in text_of(app.main.query_one("#footer"))
        await pilot.press("x")
        await pilot.pause()
        await pilot.press("y")
        await settle(pilot, lambda: session.calls == [("restore",)])
