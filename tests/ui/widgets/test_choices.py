from textual.app import App

from specttui.launch.edits import Preset, SetEnv
from specttui.ui.widgets.choice import Choice
from specttui.ui.widgets.preset_list import PresetList
from specttui.ui.widgets.tick import Tick

PRESETS = (
    Preset("LL", "LL", "protocol", "low latency", (SetEnv("NCCL_PROTO", "LL"),)),
    Preset("Tree", "Tree", "algorithm", "tree", (SetEnv("NCCL_ALGO", "Tree"),)),
    Preset("Simple", "Simple", "protocol", "bandwidth", (SetEnv("NCCL_PROTO", "Simple"),)),
)


class Widgets(App[None]):
    def __init__(self):
        super().__init__()
        self.seen = []

    def compose(self):
        yield Choice("Clock", ["events", "wall"], id="choice")
        yield Tick("baseline", id="tick")
        yield PresetList(PRESETS, ("Tree",), id="presets")

    def on_choice_changed(self, event):
        self.seen.append(("choice", event.chosen))

    def on_tick_changed(self, event):
        self.seen.append(("tick", event.on))

    def on_preset_list_changed(self):
        self.seen.append(("presets", [preset.name for preset in self.query_one(PresetList).chosen]))

    def on_preset_list_described(self, event):
        self.seen.append(("described", event.text))


def first_line(widget):
    return widget.render_line(0).text.rstrip()


async def test_choice_moves_and_marks():
    app = Widgets()
    async with app.run_test(size=(60, 20)) as pilot:
        choice = app.query_one(Choice)
        assert first_line(choice) == "Clock  (o) events  ( ) wall"
        choice.focus()
        await pilot.press("right")
        assert first_line(choice) == "Clock  ( ) events  (o) wall"
        await pilot.press("right", "left")
        assert [entry for entry in app.seen if entry[0] == "choice"] == [
            ("choice", 1),
            ("choice", 0),
            ("choice", 1),
        ]


async def test_tick_turns_over():
    app = Widgets()
    async with app.run_test(size=(60, 20)) as pilot:
        tick = app.query_one(Tick)
        assert first_line(tick) == "[ ] baseline"
        tick.focus()
        await pilot.press("space")
        assert first_line(tick) == "[x] baseline"
        await pilot.click(Tick)
        assert [entry for entry in app.seen if entry[0] == "tick"] == [("tick", True), ("tick", False)]


async def test_presets_are_grouped_and_exclusive_within_a_group():
    app = Widgets()
    async with app.run_test(size=(60, 20)) as pilot:
        presets = app.query_one(PresetList)
        prompts = [str(option.prompt) for option in presets.options]
        assert prompts == ["protocol", "[ ] LL", "[ ] Simple", "algorithm", "[ ] Tree  (set now)"]
        presets.focus()
        await pilot.press("enter", "down", "space", "down", "enter")
        assert [str(option.prompt) for option in presets.options] == [
            "protocol", "[ ] LL", "[x] Simple", "algorithm", "[x] Tree  (set now)",
        ]  # fmt: skip
        assert [entry for entry in app.seen if entry[0] == "presets"] == [
            ("presets", ["LL"]), ("presets", ["Simple"]), ("presets", ["Simple", "Tree"]),
        ]  # fmt: skip
        assert ("described", "bandwidth") in app.seen
