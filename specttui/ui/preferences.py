"""The user's settings for the screen, checked against what the screen has: themes, keys, glyphs, presets."""

from __future__ import annotations

from typing import Any

from textual.theme import BUILTIN_THEMES

from specttui.config import Loaded
from specttui.config.reader import unknown_key
from specttui.errors import ConfigError
from specttui.launch.presets import PRESETS
from specttui.ui.keys import KEY_BY_ID
from specttui.ui.render.glyphs import GLYPH_SETS
from specttui.ui.theme import SPECTTUI_DARK


def app_options(loaded: Loaded) -> dict[str, Any]:
    """What the settings say about the program, as `SpecttuiApp` takes it.

    Args:
        loaded: The settings and their file, for messages.

    Raises:
        ConfigError: A key of the keymap or the theme is none; names the nearest one.
    """
    settings = loaded.settings
    check(loaded)
    return {
        "refresh_hz": settings.refresh_hz,
        "glyphs": GLYPH_SETS[settings.glyphs],
        "theme": settings.theme,
        "keymap": settings.keymap,
        "presets": (*PRESETS, *(each.preset() for each in settings.presets)),
    }


def check(loaded: Loaded) -> None:
    """Refuse commands and themes that the screen does not have.

    Raises:
        ConfigError: One is none; names the nearest one.
    """
    settings = loaded.settings
    for name in settings.keymap:
        if name not in KEY_BY_ID:
            raise unknown_key(loaded.path, f"keymap.{name}", list(KEY_BY_ID))
    themes = [SPECTTUI_DARK.name, *BUILTIN_THEMES]
    if settings.theme not in themes:
        raise ConfigError(
            f"The settings file {loaded.path} cannot be used",
            cause=f"theme: there is no theme {settings.theme!r}.",
            remedy=f"Choose one of {', '.join(sorted(themes))}.",
        )
    taken = {each.name.lower() for each in PRESETS}
    for preset in settings.presets:
        if preset.name.lower() in taken:
            raise ConfigError(
                f"The settings file {loaded.path} cannot be used",
                cause=f"presets: there are two presets called {preset.name!r}.",
                remedy="Give yours another name.",
            )
        taken.add(preset.name.lower())
