"""What `specttui config` prints is a settings file that means the same."""

from __future__ import annotations

import tomllib
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from support.settings_file import WHOLE

from specttui.config import HostProfile, Loaded, Settings
from specttui.config.reader import parse
from specttui.config.show import show

PATH = Path("/settings.toml")
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)


def test_every_setting_in_force_is_shown() -> None:
    settings = parse(WHOLE, PATH)
    shown = show(Loaded(settings, PATH, exists=True))
    assert shown.startswith("# /settings.toml\n")
    again = parse(shown, PATH)
    assert again.model_copy(update={"hosts": {}}) == settings.model_copy(update={"hosts": {}})
    assert again.hosts == {name: settings.profile(name) for name in settings.hosts}


def test_the_defaults_are_shown_with_where_a_file_would_be() -> None:
    shown = show(Loaded(Settings(), PATH, exists=False))
    assert shown.splitlines() == [
        "# /settings.toml is not there: these are the defaults.",
        'theme = "specttui-dark"',
        "refresh_hz = 2.0",
        'glyphs = "block"',
    ]


@given(texts, texts, st.lists(texts, max_size=3))
def test_any_text_comes_back_as_it_was(name: str, log: str, words: list[str]) -> None:
    profile = HostProfile(host=name or "h", log=log or None, via=tuple(words))
    shown = show(Loaded(Settings(hosts={name: profile}, keymap={log: name}), PATH, exists=True))
    read = tomllib.loads(shown)
    assert read["keymap"] == {log: name}
    assert read["hosts"][name]["via"] == words
