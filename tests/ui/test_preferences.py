"""The settings reach the screen, and what it does not have is refused by name."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.pilots import opened, screen_text
from support.scripted_session import ScriptedSession

from specttui.config import Loaded
from specttui.config.reader import parse
from specttui.errors import ConfigError
from specttui.launch.edits import SetFlag
from specttui.launch.presets import PRESETS
from specttui.ui.app import SpecttuiApp
from specttui.ui.preferences import app_options, check
from specttui.ui.render.glyphs import ASCII
from specttui.ui.screens.help import HelpScreen
from specttui.ui.screens.restart import RestartScreen
from specttui.ui.theme import SPECTTUI_DARK

PATH = Path("/settings.toml")


def loaded(text: str) -> Loaded:
    return Loaded(parse(text, PATH), PATH, exists=True)


def test_everything_is_handed_on() -> None:
    options = app_options(
        loaded(
            'theme = "nord"\nrefresh_hz = 4\nglyphs = "ascii"\n[keymap]\npatch = "f2"\n'
            '[[presets]]\nname = "mine"\nflags = { x = 1 }\n'
        )
    )
    assert (options["theme"], options["refresh_hz"], options["glyphs"], options["keymap"]) == (
        "nord", 4.0, ASCII, {"patch": "f2"},
    )  # fmt: skip
    assert options["presets"][: len(PRESETS)] == PRESETS
    assert [preset.name for preset in options["presets"][len(PRESETS) :]] == ["mine"]
    assert options["presets"][-1].edits == (SetFlag("--x", "1"),)


def test_the_default_theme_is_our_own() -> None:
    assert app_options(loaded(""))["theme"] == SPECTTUI_DARK.name


@pytest.mark.parametrize(
    ("text", "cause", "remedy"),
    [
        ('[keymap]\npatches = "f2"', "keymap.patches is not a setting.", "Did you mean patch? "),
        ('theme = "dark"', "theme: there is no theme 'dark'.", "Choose one of "),
        (
            '[[presets]]\nname = "nccl ll"',
            "presets: there are two presets called 'nccl ll'.",
            "Give yours another name.",
        ),
        (
            '[[presets]]\nname = "a"\n[[presets]]\nname = "A"',
            "presets: there are two presets called 'A'.",
            "Give yours another name.",
        ),
    ],
)
def test_what_the_screen_does_not_have_is_refused(text: str, cause: str, remedy: str) -> None:
    with pytest.raises(ConfigError) as refused:
        check(loaded(text))
    assert refused.value.title == "The settings file /settings.toml cannot be used"
    assert refused.value.cause == cause
    assert refused.value.remedy.startswith(remedy)


async def test_keys_and_presets_work_on_the_screen() -> None:
    mine = '[[presets]]\nname = "my own preset"\ngroup = "my group"\n'
    options = app_options(loaded(f'[keymap]\nrestart = "f2"\nhelp = "f3"\n{mine}'))
    app = SpecttuiApp(ScriptedSession(), **options | {"refresh_hz": 0.001})
    async with app.run_test(size=(120, 60)) as pilot:
        await pilot.press("f3")
        await opened(pilot, HelpScreen)
        await pilot.press("escape")
        await pilot.press("f2")
        dialog = await opened(pilot, RestartScreen)
        assert dialog._presets[-1].name == "my own preset"
        assert "steps" in screen_text(pilot)
