"""The log view: bounded, batched, plain text, following (cases G01, G07, G09)."""

from dataclasses import replace

import pytest
from textual.app import App
from textual.widgets import Input, Log

from specttui.state.snapshot import Snapshot
from specttui.ui.render.panel import Space
from specttui.ui.widgets.log_panel import KEPT_LINES, LogPanel

SPACE = Space(118, 20)
NASTY = (
    "[2024-12-06 01:02:03 TP0] Decode batch. #running-req: 1, gen throughput (token/s): 94.05",
    "[rank0]:[E1206 ProcessGroupNCCL.cpp:616] [Rank 0] Watchdog caught collective operation timeout",
    "[/bold] closes nothing",
    "Input should be a valid list [type=list_type, input_value={'a[0]': 1}, input_type=dict]",
    "[None]",
    r"\[escaped] \\[twice]",
    "[@click=app.quit]no link[/]",
    "100%|##########| 52/52 [00:12<00:00,  4.1it/s]",
    "",
    "   indented",
)


class OneLog(App[None]):
    CSS = """
    #log-filter {display: none}
    .-filtering #log-filter {display: block}
    Log {scrollbar-size-horizontal: 0}
    """

    def compose(self):
        yield LogPanel()


def snapshot(lines, total=None):
    return Snapshot(log_lines=tuple(lines), log_total=len(lines) if total is None else total)


def shown(panel):
    view = panel.view
    return [view.render_line(row).text.rstrip() for row in range(min(view.size.height, view.line_count))]


@pytest.mark.parametrize("text", NASTY)
async def test_displayed_text_is_the_input_text(text):
    app = OneLog()
    async with app.run_test(size=(140, 10)) as pilot:
        panel = app.query_one(LogPanel)
        panel.show(snapshot([text, "end"]), SPACE)
        await pilot.pause()
        assert shown(panel) == [text, "end"]


async def test_only_new_lines_are_written_and_in_one_batch(monkeypatch):
    app = OneLog()
    async with app.run_test(size=(120, 10)):
        panel = app.query_one(LogPanel)
        writes = []
        original = Log.write
        monkeypatch.setattr(
            Log, "write", lambda self, data, **more: writes.append(data) or original(self, data, **more)
        )
        panel.show(snapshot(["a", "b"]), SPACE)
        panel.show(snapshot(["a", "b"]), SPACE)
        panel.show(snapshot(["b", "c", "d"], total=4), SPACE)
        assert writes == ["a\nb\n", "c\nd\n"]


async def test_a_burst_larger_than_the_snapshot_shows_what_there_is():
    app = OneLog()
    async with app.run_test(size=(120, 10)) as pilot:
        panel = app.query_one(LogPanel)
        panel.show(snapshot(["a"]), SPACE)
        panel.show(snapshot(["x", "y"], total=1000), SPACE)
        await pilot.pause()
        assert shown(panel) == ["a", "x", "y"]


async def test_scrollback_is_bounded():
    app = OneLog()
    async with app.run_test(size=(120, 10)):
        panel = app.query_one(LogPanel)
        total = 0
        for _ in range(30):
            total += 1000
            panel.show(
                snapshot([f"line {total - 1000 + index}" for index in range(1000)], total=total), SPACE
            )
        assert panel.view.line_count <= KEPT_LINES
        assert panel.view.lines[-2] == "line 29999"


async def test_it_follows_until_the_user_scrolls_up_and_again_at_the_end():
    app = OneLog()
    async with app.run_test(size=(120, 10)) as pilot:
        panel = app.query_one(LogPanel)
        lines = [f"line {index}" for index in range(100)]
        panel.show(snapshot(lines), SPACE)
        await pilot.pause()
        assert shown(panel)[-1] == "line 99"
        panel.view.focus()
        await pilot.press("pageup")
        await pilot.pause()
        top = shown(panel)[0]
        panel.show(snapshot([*lines, "new 1", "new 2"]), SPACE)
        await pilot.pause()
        assert shown(panel)[0] == top
        assert panel.query_one("#log-heading").shown.plain == "LOG  102 lines, +2 below, end returns"
        await pilot.press("end")
        await pilot.pause()
        panel.show(snapshot([*lines, "new 1", "new 2", "new 3"]), SPACE)
        await pilot.pause()
        assert shown(panel)[-1] == "new 3"


async def test_it_stays_at_the_end_when_the_room_changes():
    app = OneLog()
    async with app.run_test(size=(120, 30)) as pilot:
        panel = app.query_one(LogPanel)
        panel.show(snapshot([f"line {index}" for index in range(100)]), SPACE)
        await pilot.resize_terminal(120, 10)
        await pilot.pause()
        assert shown(panel)[-1] == "line 99"


async def test_filter_shows_only_matching_lines_and_escape_brings_all_back():
    app = OneLog()
    async with app.run_test(size=(120, 10)) as pilot:
        panel = app.query_one(LogPanel)
        first = snapshot(["Decode batch 1", "Prefill batch", "decode batch 2"])
        panel.show(first, SPACE)
        panel.open_filter()
        await pilot.press(*"decode")
        await pilot.pause()
        assert shown(panel) == ["Decode batch 1", "decode batch 2"]
        later = replace(first, log_lines=(*first.log_lines, "Decode 3", "other"), log_total=5)
        panel.show(later, SPACE)
        await pilot.pause()
        assert shown(panel) == ["Decode batch 1", "decode batch 2", "Decode 3"]
        assert "only with 'decode'" in panel.query_one("#log-heading").shown.plain
        await pilot.press("enter")
        assert app.focused is None
        assert panel.close_filter()
        await pilot.pause()
        assert shown(panel) == ["Decode batch 1", "Prefill batch", "decode batch 2", "Decode 3", "other"]
        assert not panel.close_filter()


async def test_q_is_text_in_the_filter():
    app = OneLog()
    async with app.run_test(size=(120, 10)) as pilot:
        panel = app.query_one(LogPanel)
        panel.open_filter()
        await pilot.press("q")
        assert app.query_one(Input).value == "q"


async def test_a_log_that_starts_again_replaces_the_old_one():
    app = OneLog()
    async with app.run_test(size=(120, 10)) as pilot:
        panel = app.query_one(LogPanel)
        panel.show(snapshot(["old 1", "old 2"]), SPACE)
        panel.show(snapshot(["new"], total=1), SPACE)
        await pilot.pause()
        assert shown(panel) == ["new"]
