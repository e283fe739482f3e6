from textual.app import App
from textual.content import Content

from specttui.ui.render.panel import Panel, Space
from specttui.ui.widgets.panel_view import PanelView


class OnePanel(App[None]):
    def compose(self):
        yield PanelView("panel")


def texts(widget):
    return [widget.render_line(row).text.rstrip() for row in range(widget.size.height)]


async def test_lines_are_drawn_as_they_are():
    app = OnePanel()
    async with app.run_test(size=(40, 6)) as pilot:
        view = app.query_one(PanelView)
        view.place(40, 3)
        panel = Panel("TITLE", "[rank0] caption", (Content("[None] x"), Content("[/bold]")))
        view.show_panel(panel, Space(40, 3))
        await pilot.pause()
        assert texts(view) == ["TITLE  [rank0] caption", "[None] x", "[/bold]"]


async def test_it_repaints_only_what_changed():
    app = OnePanel()
    async with app.run_test(size=(40, 6)) as pilot:
        view = app.query_one(PanelView)
        view.show_content(Content("one"))
        view.show_content(Content("one"))
        await pilot.pause()
        assert view.repaints == 1
        view.show_content(Content.styled("one", "bold"))
        assert view.repaints == 2


async def test_a_frame_takes_the_title():
    app = OnePanel()
    async with app.run_test(size=(40, 6)) as pilot:
        view = app.query_one(PanelView)
        view.show_panel(Panel("TITLE", "in [it]", (Content("body"),)), Space(36, 1, framed=True))
        await pilot.pause()
        assert Content.from_markup(view.border_title).plain == "TITLE  in [it]"
        assert view.shown.plain == "body"


async def test_no_rows_hide_it():
    app = OnePanel()
    async with app.run_test(size=(40, 6)):
        view = app.query_one(PanelView)
        view.place(40, 0)
        assert not view.display
        view.place(40, 2)
        assert view.display
