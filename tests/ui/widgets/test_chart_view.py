from textual.app import App

from specttui.state.snapshot import Series
from specttui.ui.render.chart import Boundary
from specttui.ui.widgets.chart_view import ChartView

DATA = Series((0.0, 1.0, 2.0), (1.0, 2.0, 3.0), 2.0)


class OneChart(App[None]):
    CSS = "ChartView {height: 1fr; text-wrap: nowrap}"

    def compose(self):
        yield ChartView()


async def test_it_is_drawn_again_only_for_new_data_or_another_size():
    app = OneChart()
    async with app.run_test(size=(60, 14)) as pilot:
        view = app.query_one(ChartView)
        view.show(DATA, ())
        view.show(Series(DATA.offsets_s, DATA.values, 2.0), ())
        assert view.redraws == 1
        view.show(DATA, (Boundary(1.0, "2"),))
        assert view.redraws == 2
        await pilot.resize_terminal(70, 14)
        view.show(DATA, (Boundary(1.0, "2"),))
        assert view.redraws == 3
        assert view.render_line(0).text.strip()[0] == "┌"


async def test_no_room_draws_nothing():
    app = OneChart()
    async with app.run_test(size=(15, 3)):
        view = app.query_one(ChartView)
        view.show(DATA, ())
        assert view.redraws == 0
