"""Keys on the main screen: what each shows and which call it leads to."""

from dataclasses import replace

import pytest
from support.pilots import opened, program, screen_text, settle, show, text_of
from support.scripted_session import ScriptedSession
from support.scripted_snapshots import WORKER_PATH, connected, empty, failed, serving, starting
from textual.widgets import Button, Input, OptionList, Static, TextArea

from specttui.errors import ServerStartError, SpecttuiError, WorkerFileError
from specttui.events import Alert, Clock, Severity
from specttui.launch.edits import Baseline, SetEnv, SetFlag
from specttui.ui.render.glyphs import ASCII
from specttui.ui.screens.ask import AskScreen
from specttui.ui.screens.clock import ClockScreen
from specttui.ui.screens.confirm import ConfirmScreen
from specttui.ui.screens.error import ErrorScreen
from specttui.ui.screens.help import HelpScreen
from specttui.ui.screens.load import LoadScreen
from specttui.ui.screens.patch import PatchScreen
from specttui.ui.screens.quit import QuitScreen
from specttui.ui.screens.restart import RestartScreen
from specttui.ui.screens.timeline import TimelineScreen
from specttui.ui.widgets.log_panel import LogPanel
from specttui.ui.widgets.preset_list import PresetList
from specttui.ui.widgets.tick import Tick

SIZE = (80, 24)


async def test_b_asks_then_backs_up():
    session = ScriptedSession(connected())
    app = program(session)
    async with app.run_test(size=SIZE) as pilot:
        await pilot.press("b")
        dialog = await opened(pilot, ConfirmScreen)
        assert dialog.focused.id == "no"
        assert WORKER_PATH in screen_text(pilot)
        await pilot.press("y")
        await settle(pilot, lambda: session.calls == [("back_up",)])


@pytest.mark.parametrize("answer", ["n", "enter", "escape"])
@pytest.mark.parametrize("key", ["b", "x", "u"])
async def test_no_is_the_default_and_does_nothing(key, answer):
    session = ScriptedSession(serving(), patched=True, can_roll_back=True)
    app = program(session)
    async with app.run_test(size=SIZE) as pilot:
        await pilot.press(key)
        await opened(pilot, ConfirmScreen)
        await pilot.press(answer)
        await settle(pilot, lambda: app.screen is app.main)
        assert session.calls == []


async def test_p_shows_phases_and_diff_and_patches_with_the_clock_chosen():
    session = ScriptedSession(connected())
    app = program(session)
    async with app.run_test(size=SIZE) as pilot:
        await pilot.press("p")
        dialog = await opened(pilot, PatchScreen)
        assert dialog.focused.id == "no"
        shown = screen_text(pilot)
        assert "found    verify         line 306: self.verify(batch, spec_info)" in shown
        assert "missing  kv             no call in the cycle method frees the cache" in shown
        assert "Clock (k)  (o) events  ( ) wall  ( ) sync" in shown
        assert "+# block line 0 [rank0]" in shown
        await pilot.press("pagedown")
        await pilot.pause()
        assert dialog.query_one("#diff").scroll_y > 0
        await pilot.press("k")
        await settle(pilot, lambda: ("preview_patch", Clock.WALL) in session.calls)
        await settle(pilot, lambda: dialog.preview.clock is Clock.WALL)
        await pilot.press("y")
        await settle(pilot, lambda: session.calls[-1] == ("patch", Clock.WALL))


async def test_p_then_enter_changes_nothing():
    session = ScriptedSession(connected())
    app = program(session)
    async with app.run_test(size=SIZE) as pilot:
        await pilot.press("p")
        await opened(pilot, PatchScreen)
        await pilot.press("enter")
        await settle(pilot, lambda: app.screen is app.main)
        assert session.calls == [("preview_patch", Clock.EVENTS)]


async def test_p_is_greyed_out_once_patched():
    session = ScriptedSession(serving(), patched=True)
    app = program(session)
    async with app.run_test(size=SIZE) as pilot:
        await pilot.press("p")
        await pilot.pause()
        assert app.screen is app.main
        assert session.calls == []


async def test_r_shows_before_and_after_as_one_types_and_restarts():
    session = ScriptedSession(serving(), patched=True)
    app = program(session)
    async with app.run_test(size=SIZE) as pilot:
        await pilot.press("r")
        dialog = await opened(pilot, RestartScreen)
        assert [dialog.query_one(f"#{name}", Input).value for name in ("steps", "topk", "draft-tokens")] == [
            "2", "1", "3",
        ]  # fmt: skip
        assert dialog.query_one("#draft-tokens", Input).disabled
        assert "top-k 1: draft tokens = steps + 1" in screen_text(pilot)
        await pilot.press("5")
        await settle(pilot, lambda: dialog.query_one("#draft-tokens", Input).value == "6")
        shown = screen_text(pilot)
        assert "* steps 2 -> 5" in shown
        assert "- --speculative-num-steps 2" in shown
        assert "+ --speculative-num-steps 5" in shown
        await pilot.press("ctrl+s")
        await settle(
            pilot, lambda: session.calls == [("restart", (SetFlag("--speculative-num-steps", "5"),))]
        )


async def test_r_with_baseline_a_preset_and_free_lines():
    session = ScriptedSession(serving())
    app = program(session)
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.press("r")
        dialog = await opened(pilot, RestartScreen)
        dialog.query_one(Tick).focus()
        await pilot.press("space")
        await settle(pilot, lambda: dialog.query_one("#steps", Input).disabled)
        dialog.query_one(PresetList).focus()
        await pilot.press("down", "down", "enter")
        dialog.query_one(TextArea).focus()
        await pilot.press(*"Q=q")
        await settle(pilot, lambda: dialog.query_one(TextArea).text == "Q=q")
        await pilot.pause()
        dialog.query_one("#do", Button).press()
        await settle(pilot, lambda: bool(session.calls))
        assert session.calls == [("restart", (Baseline(), SetEnv("NCCL_PROTO", "Simple"), SetEnv("Q", "q")))]


async def test_r_with_a_top_k_above_1_frees_draft_tokens():
    session = ScriptedSession(serving())
    app = program(session)
    async with app.run_test(size=SIZE) as pilot:
        await pilot.press("r")
        dialog = await opened(pilot, RestartScreen)
        await pilot.press("tab", "4")
        await settle(pilot, lambda: not dialog.query_one("#draft-tokens", Input).disabled)
        await pilot.press("tab", "8", "ctrl+s")
        await settle(pilot, lambda: bool(session.calls))
        assert session.calls == [
            (
                "restart",
                (SetFlag("--speculative-eagle-topk", "4"), SetFlag("--speculative-num-draft-tokens", "8")),
            )
        ]


async def test_r_names_a_line_that_cannot_be_read_and_does_not_restart():
    session = ScriptedSession(serving())
    app = program(session)
    async with app.run_test(size=SIZE) as pilot:
        await pilot.press("r")
        dialog = await opened(pilot, RestartScreen)
        dialog.query_one(TextArea).focus()
        await pilot.press("x")
        await settle(pilot, lambda: dialog.query_one("#do", Button).disabled)
        assert "Line 1: 'x' is no setting" in screen_text(pilot)
        await pilot.press("ctrl+s")
        await pilot.pause()
        assert app.screen is dialog
        assert session.calls == []


async def test_r_shows_what_would_not_work_and_does_not_restart():
    session = ScriptedSession(serving())
    app = program(session)
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.press("r")
        dialog = await opened(pilot, RestartScreen)
        dialog.query_one(TextArea).text = "NCCL_P2P_LEVEL=sys"
        await settle(pilot, lambda: dialog.query_one("#do", Button).disabled)
        assert "x NCCL_P2P_LEVEL=sys is ignored without a word" in screen_text(pilot)
        await pilot.press("ctrl+s")
        await pilot.pause()
        assert app.screen is dialog
        dialog.query_one(TextArea).text = "NCCL_P2P_LEVEL=4"
        await settle(pilot, lambda: not dialog.query_one("#do", Button).disabled)
        assert "= NCCL_P2P_LEVEL 4 = SYS: between NUMA nodes" in screen_text(pilot)
        await pilot.press("ctrl+s")
        await settle(pilot, lambda: session.calls == [("restart", (SetEnv("NCCL_P2P_LEVEL", "4"),))])


async def test_w_gives_a_starting_server_more_time():
    session = ScriptedSession(starting())
    app = program(session)
    async with app.run_test(size=SIZE) as pilot:
        assert "w wait more" in text_of(app.main.query_one("#footer"))
        await pilot.press("w")
        await settle(pilot, lambda: session.calls == [("extend_start", 600.0)])
        session.current = serving()
        app.draw_now()
        await pilot.press("w")
        await pilot.pause()
        assert session.calls == [("extend_start", 600.0)]


async def test_x_restores():
    session = ScriptedSession(serving(), patched=True)
    app = program(session)
    async with app.run_test(size=SIZE) as pilot:
        await pilot.press("x")
        await opened(pilot, ConfirmScreen)
        await pilot.press("right", "enter")
        await settle(pilot, lambda: session.calls == [("restore",)])


async def test_u_starts_the_last_good_configuration():
    session = ScriptedSession(failed(), can_roll_back=True)
    app = program(session)
    async with app.run_test(size=SIZE) as pilot:
        assert "u last good" in text_of(app.main.query_one("#footer"))
        await pilot.press("u")
        await opened(pilot, ConfirmScreen)
        await pilot.press("y")
        await settle(pilot, lambda: session.calls == [("restart_last_good",)])


async def test_e_exports_to_the_path_typed_and_says_where(tmp_path):
    session = ScriptedSession(serving())
    app = program(session)
    async with app.run_test(size=SIZE, notifications=True) as pilot:
        await pilot.press("e")
        dialog = await opened(pilot, AskScreen)
        field = dialog.query_one(Input)
        assert field.value == "specttui-20260211-140000-demo.md"
        field.value = str(tmp_path / "report.md")
        await pilot.press("enter")
        await settle(pilot, lambda: session.calls == [("export", tmp_path / "report.md")])
        await settle(pilot, lambda: "Written to" in screen_text(pilot))


async def test_e_with_an_empty_path_leaves_the_place_to_the_session():
    session = ScriptedSession(serving())
    app = program(session)
    async with app.run_test(size=SIZE) as pilot:
        await pilot.press("e")
        dialog = await opened(pilot, AskScreen)
        dialog.query_one(Input).value = ""
        await pilot.press("enter")
        await settle(pilot, lambda: session.calls == [("export", None)])


async def test_n_adds_a_note_and_q_is_text_in_it():
    session = ScriptedSession(serving())
    app = program(session)
    async with app.run_test(size=SIZE) as pilot:
        await pilot.press("n")
        await opened(pilot, AskScreen)
        await pilot.press(*"q [b]", "enter")
        await settle(pilot, lambda: session.calls == [("add_note", "q [b]")])


async def test_ctrl_c_quits_from_an_input_too():
    app = program(ScriptedSession(serving()))
    async with app.run_test(size=SIZE) as pilot:
        await pilot.press("n")
        await opened(pilot, AskScreen)
        await pilot.press("q", "ctrl+c")
        await settle(pilot, lambda: app.return_value == 0)


async def test_l_sends_load_of_the_size_typed():
    session = ScriptedSession(serving())
    app = program(session)
    async with app.run_test(size=SIZE) as pilot:
        await pilot.press("l")
        dialog = await opened(pilot, LoadScreen)
        await pilot.press("4", "tab", "6", "4", "tab", "0", "enter")
        await settle(pilot, lambda: "whole number" in text_of(dialog.query_one("#problem", Static)))
        dialog.query_one("#tokens", Input).value = "128"
        await pilot.press("enter")
        await settle(pilot, lambda: session.calls == [("run_load", 4, 64, 128)])


async def test_m_measures_the_probes_cost_after_asking():
    session = ScriptedSession(serving())
    app = program(session)
    async with app.run_test(size=SIZE) as pilot:
        await pilot.press("m")
        await opened(pilot, ConfirmScreen)
        await pilot.press("y")
        await settle(pilot, lambda: session.calls == [("measure_probe_cost",)])


async def test_k_switches_the_clock():
    session = ScriptedSession(serving())
    app = program(session)
    async with app.run_test(size=SIZE) as pilot:
        await pilot.press("k")
        dialog = await opened(pilot, ClockScreen)
        assert dialog.query_one(OptionList).highlighted == 0
        await pilot.press("down", "down", "down", "enter")
        await settle(pilot, lambda: session.calls == [("set_clock", Clock.OFF)])


async def test_t_shows_metrics_over_the_session():
    app = program(ScriptedSession(serving()))
    async with app.run_test(size=(100, 30)) as pilot:
        await pilot.press("t")
        await opened(pilot, TimelineScreen)
        await settle(pilot, lambda: "throughput, tok/s, server" in screen_text(pilot))
        await settle(pilot, lambda: "┤" in screen_text(pilot))
        assert "runs begin: 1 baseline  2 steps 5  3 steps 2  4 steps 2, LL" in screen_text(pilot)
        await pilot.press("right")
        await settle(pilot, lambda: "accept length" in screen_text(pilot))
        await pilot.press("escape")
        await settle(pilot, lambda: app.screen is app.main)


async def test_slash_filters_the_log_and_escape_brings_it_back():
    app = program(ScriptedSession(serving()))
    async with app.run_test(size=SIZE) as pilot:
        await pilot.press("slash", *"4360")
        log = app.main.query_one(LogPanel)
        await settle(pilot, lambda: log.view.line_count == 1)
        await pilot.press("escape")
        await settle(pilot, lambda: log.view.line_count == 80)


async def test_space_freezes_the_screen_and_again_shows_the_newest():
    session = ScriptedSession(serving())
    app = program(session)
    async with app.run_test(size=SIZE) as pilot:
        await pilot.press("space")
        await show(pilot, session, replace(serving(), throughput_now=50.0, offset_s=612.0))
        assert "94.1" in text_of(app.main.query_one("#throughput"))
        assert "PAUSED 12 s" in text_of(app.main.query_one("#title"))
        assert "space resume" in text_of(app.main.query_one("#footer"))
        await pilot.press("space")
        await pilot.pause()
        assert "50.0" in text_of(app.main.query_one("#throughput"))
        assert "space pause" in text_of(app.main.query_one("#footer"))
        assert "LIVE" in text_of(app.main.query_one("#title"))


@pytest.mark.parametrize(
    ("key", "shown", "hidden"),
    [
        ("1", "#throughput", "#cycle"),
        ("2", "#accept", "#throughput"),
        ("3", "#cycle", "#runs"),
        ("4", "#runs", "#cycle"),
        ("5", "#log", "#runs"),
    ],
)
async def test_numbers_maximise_and_escape_returns(key, shown, hidden):
    app = program(ScriptedSession(serving()))
    async with app.run_test(size=SIZE) as pilot:
        await pilot.press(key)
        await pilot.pause()
        assert app.main.query_one(shown).display
        assert app.main.query_one(shown).size.height >= 21
        assert not app.main.query_one(hidden).display
        await pilot.press("escape")
        await pilot.pause()
        assert app.main.query_one(hidden).display


async def test_question_mark_shows_all_keys():
    app = program(ScriptedSession(serving()))
    async with app.run_test(size=(120, 60)) as pilot:
        await pilot.press("question_mark")
        await opened(pilot, HelpScreen)
        await settle(pilot, lambda: "Restart the server with other settings." in screen_text(pilot))
        await pilot.press("q")
        await settle(pilot, lambda: app.screen is app.main)


async def test_palette_holds_every_available_command_and_runs_it():
    session = ScriptedSession(serving(), patched=True)
    app = program(session)
    async with app.run_test(size=SIZE) as pilot:
        commands = {command.title: command for command in app.get_system_commands(app.main)}
        assert {"Back up", "Restart", "Restore", "Load", "Export", "Timeline", "Quit", "Theme"} <= set(
            commands
        )
        assert not {"Patch", "Last good", "Cancel"} & set(commands)
        commands["Export"].callback()
        await opened(pilot, AskScreen)


async def test_palette_opens_by_key():
    app = program(ScriptedSession(serving()))
    async with app.run_test(size=SIZE) as pilot:
        await pilot.press("ctrl+p")
        await settle(pilot, lambda: type(app.screen).__name__ == "CommandPalette")


@pytest.mark.parametrize("key", ["q", "ctrl+q", "ctrl+c"])
async def test_unpatched_the_quit_keys_quit_at_once(key):
    app = program(ScriptedSession(serving()))
    async with app.run_test(size=SIZE) as pilot:
        await pilot.press(key)
        await settle(pilot, lambda: app.return_value == 0)


@pytest.mark.parametrize(
    ("key", "calls", "left"),
    [
        ("x", [("restore",)], True),
        ("l", [], True),
        ("c", [], False),
        ("enter", [], False),
        ("escape", [], False),
    ],
)
async def test_patched_the_quit_keys_ask(key, calls, left):
    session = ScriptedSession(serving(), patched=True)
    app = program(session)
    async with app.run_test(size=SIZE) as pilot:
        await pilot.press("ctrl+c")
        dialog = await opened(pilot, QuitScreen)
        assert dialog.focused.id == "stay"
        await pilot.press(key)
        if left:
            await settle(pilot, lambda: app.return_value == 0)
        else:
            await settle(pilot, lambda: app.screen is app.main)
            assert app.return_value is None
        assert session.calls == calls


async def test_quitting_while_a_command_runs_asks_and_cancels_it():
    session = ScriptedSession(starting())
    app = program(session)
    async with app.run_test(size=SIZE) as pilot:
        await pilot.press("q")
        await opened(pilot, QuitScreen)
        assert "A command is running: restart." in screen_text(pilot)
        await pilot.press("l")
        await settle(pilot, lambda: app.return_value == 0)
        assert session.calls == [("cancel",)]


async def test_a_restore_that_fails_on_quit_keeps_the_program_open():
    session = ScriptedSession(
        serving(), patched=True, failing=["restore"], failure=WorkerFileError("Not restored", remedy="look")
    )
    app = program(session)
    async with app.run_test(size=SIZE) as pilot:
        await pilot.press("q")
        await opened(pilot, QuitScreen)
        await pilot.press("x")
        await opened(pilot, ErrorScreen)
        assert app.return_value is None


async def test_a_failure_shows_title_cause_and_remedy_as_plain_text():
    error = SpecttuiError("No [backup]", cause="[rank0] said\n[/bold] this", remedy="try [again]")
    session = ScriptedSession(connected(), failing=["back_up"], failure=error)
    app = program(session)
    async with app.run_test(size=SIZE) as pilot:
        await pilot.press("b")
        await opened(pilot, ConfirmScreen)
        await pilot.press("y")
        await opened(pilot, ErrorScreen)
        shown = screen_text(pilot)
        assert "No [backup]" in shown
        assert "[rank0] said" in shown
        assert "[/bold] this" in shown
        assert "What to do: try [again]" in shown
        await pilot.press("u", "enter")
        await settle(pilot, lambda: app.screen is app.main)
        assert session.calls == [("back_up",)]


async def test_a_failed_start_offers_the_last_good_configuration():
    error = ServerStartError("The server did not come up", cause="CUDA out of memory", remedy="lower it")
    session = ScriptedSession(serving(), failing=["restart"], failure=error, can_roll_back=True)
    app = program(session)
    async with app.run_test(size=SIZE) as pilot:
        await pilot.press("r")
        await opened(pilot, RestartScreen)
        await pilot.press("ctrl+s")
        await opened(pilot, ErrorScreen)
        assert "Last good configuration (u)" in screen_text(pilot)
        await pilot.press("u")
        await settle(pilot, lambda: session.calls[-1] == ("restart_last_good",))


async def test_an_error_of_our_own_is_shown_and_the_session_goes_on():
    session = ScriptedSession(serving(), failing=["add_note"], failure=ValueError("[oops]"))
    app = program(session)
    async with app.run_test(size=SIZE) as pilot:
        await pilot.press("n")
        await opened(pilot, AskScreen)
        await pilot.press("a", "enter")
        await opened(pilot, ErrorScreen)
        assert "ValueError: [oops]" in screen_text(pilot)
        await pilot.press("escape")
        await settle(pilot, lambda: app.screen is app.main)


@pytest.mark.parametrize("key", ["escape", "ctrl+x"])
async def test_while_a_command_runs_only_cancel_is_left(key):
    session = ScriptedSession(serving(), held=["back_up"])
    app = program(session)
    async with app.run_test(size=SIZE) as pilot:
        await pilot.press("b")
        await opened(pilot, ConfirmScreen)
        await pilot.press("y")
        await settle(pilot, lambda: session.calls == [("back_up",)])
        await show(pilot, session, starting())
        footer = text_of(app.main.query_one("#footer"))
        assert footer.startswith("> restart  steps 2, LL")
        assert "^x cancel" in footer
        await pilot.press("r", "n")
        await pilot.pause()
        assert app.screen is app.main
        await pilot.press(key)
        await settle(pilot, lambda: session.calls == [("back_up",), ("cancel",)])
        session.release.set()


async def test_readonly_has_no_keys_that_change_the_host():
    session = ScriptedSession(serving(), readonly=True, patched=True)
    app = program(session)
    async with app.run_test(size=(200, 24)) as pilot:
        footer = text_of(app.main.query_one("#footer"))
        assert "e export" in footer
        assert not any(word in footer for word in ("back up", "patch", "restart", "restore", "load", "clock"))
        assert "READONLY" in text_of(app.main.query_one("#title"))
        await pilot.press("b", "p", "r", "x", "l", "k")
        await pilot.pause()
        assert app.screen is app.main
        await pilot.press("q")
        await settle(pilot, lambda: app.return_value == 0)
        assert session.calls == []


async def test_replay_says_so_and_changes_nothing():
    app = program(ScriptedSession(serving()), replay=True)
    async with app.run_test(size=(200, 24)):
        assert "REPLAY" in text_of(app.main.query_one("#title"))
        footer = text_of(app.main.query_one("#footer"))
        assert " ".join(footer.split()) == "e export t timeline / log space pause ? help q quit"


async def test_f5_looks_again_and_connects_again_when_the_connection_is_gone():
    starts = []

    async def start():
        starts.append(1)

    session = ScriptedSession(serving())
    app = program(session, start=start)
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot, lambda: starts == [1])
        await pilot.press("f5")
        await settle(pilot, lambda: session.calls == [("rediscover",)])
        await settle(pilot, lambda: not app.facts().busy)
        await show(pilot, session, replace(empty(), connection="down"))
        await pilot.press("f5")
        await settle(pilot, lambda: starts == [1, 1])
        assert session.calls == [("rediscover",)]


async def test_a_start_that_fails_becomes_a_dialog():
    async def start():
        raise SpecttuiError("Cannot reach gpu-host", remedy="check the name")

    app = program(ScriptedSession(empty()), start=start)
    async with app.run_test(size=SIZE) as pilot:
        await opened(pilot, ErrorScreen)
        assert "Cannot reach gpu-host" in screen_text(pilot)


async def test_new_alerts_are_told_once_as_plain_text():
    session = ScriptedSession(serving())
    app = program(session)
    alert = Alert(severity=Severity.WARNING, message="[red]KV pool full", remedy="less load")
    async with app.run_test(size=SIZE, notifications=True) as pilot:
        await show(pilot, session, replace(serving(), alerts=(alert,)))
        await settle(pilot, lambda: "[red]KV pool full" in screen_text(pilot))
        await show(pilot, session, replace(serving(), alerts=(alert,)))
        assert len(app._notifications) == 1
        assert app.recent_alert() == alert
        await show(pilot, session, replace(serving(), alerts=(alert,), offset_s=721.0))
        assert app.recent_alert() is None


async def test_a_keymap_gives_commands_other_keys():
    session = ScriptedSession(serving())
    app = program(session, keymap={"export": "f9"})
    async with app.run_test(size=SIZE) as pilot:
        assert "f9 export" in text_of(app.main.query_one("#footer"))
        await pilot.press("e")
        await pilot.pause()
        assert app.screen is app.main
        await pilot.press("f9")
        await opened(pilot, AskScreen)


async def test_a_click_on_the_footer_does_what_the_key_does():
    app = program(ScriptedSession(serving()))
    async with app.run_test(size=SIZE) as pilot:
        footer = app.main.query_one("#footer")
        await pilot.click(footer, offset=(text_of(footer).index("? help") + 2, 0))
        await opened(pilot, HelpScreen)


async def test_small_terminals_say_what_is_needed():
    app = program(ScriptedSession(serving()))
    async with app.run_test(size=(50, 12)) as pilot:
        assert "specttui needs 60 x 15 cells;\n this terminal has 50 x 12." in screen_text(pilot)
        await pilot.resize_terminal(80, 24)
        await settle(pilot, lambda: "THROUGHPUT" in screen_text(pilot))
        assert "needs 60" not in screen_text(pilot)


async def test_an_idle_tick_repaints_nothing():
    app = program(ScriptedSession(serving()))
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.pause()
        app.draw_now()
        before = {view.id: view.repaints for view in app.main.query("PanelView")}
        app.draw_now()
        app.draw_now()
        assert {view.id: view.repaints for view in app.main.query("PanelView")} == before


async def test_a_changed_figure_repaints_its_panel_only():
    session = ScriptedSession(serving())
    app = program(session)
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.pause()
        app.draw_now()
        before = {view.id: view.repaints for view in app.main.query("PanelView")}
        await show(pilot, session, replace(serving(), accept_rate_now=0.55))
        after = {view.id: view.repaints for view in app.main.query("PanelView")}
        assert [name for name in after if after[name] != before[name]] == ["accept"]


@pytest.mark.parametrize(
    "size",
    [(60, 15), (80, 24), (100, 32), (120, 40), (160, 44), (250, 20)],
    ids=lambda size: f"{size[0]}x{size[1]}",
)
async def test_every_state_fits_every_size(size):
    session = ScriptedSession(serving())
    app = program(session)
    async with app.run_test(size=size) as pilot:
        for make in (serving, starting, empty, failed, connected):
            await show(pilot, session, make())
            lines = screen_text(pilot).split("\n")
            assert len(lines) == size[1]
            assert lines[0].startswith(" specttui  root@gpu-host")
            assert "q quit" in lines[-1]


async def test_without_colours_the_same_is_readable(monkeypatch):
    async with program(ScriptedSession(serving())).run_test(size=SIZE) as pilot:
        coloured = screen_text(pilot)
    monkeypatch.setenv("NO_COLOR", "1")
    app = program(ScriptedSession(serving()))
    async with app.run_test(size=SIZE) as pilot:
        assert app.no_color
        assert screen_text(pilot) == coloured


@pytest.mark.parametrize("size", [(80, 24), (120, 40)], ids=["compact", "framed"])
async def test_the_ascii_set_needs_no_other_characters(size):
    app = program(ScriptedSession(serving()), glyphs=ASCII)
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        app.main.query_one(LogPanel).view.display = False
        await pilot.pause()
        assert screen_text(pilot).replace("±", "").isascii()
