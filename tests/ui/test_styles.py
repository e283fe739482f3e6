import re
from pathlib import Path

import pytest

from specttui.errors import SpecttuiError
from specttui.ui import styles

UI = Path(styles.__file__).parent


def test_sheets_are_found_in_a_checkout_and_in_a_wheel(tmp_path, monkeypatch):
    assert all(Path(sheet).is_file() for sheet in styles.style_sheets())
    package = tmp_path / "specttui"
    (package / "styles").mkdir(parents=True)
    (package / "styles" / "app.tcss").write_text("")
    monkeypatch.setattr(styles, "files", lambda name: package)
    assert styles.styles_folder() == package / "styles"


def test_missing_sheets_are_an_error_with_a_remedy(tmp_path, monkeypatch):
    monkeypatch.setattr(styles, "files", lambda name: tmp_path / "specttui")
    with pytest.raises(SpecttuiError, match="style sheets are missing") as raised:
        styles.styles_folder()
    assert raised.value.remedy


def test_colours_are_theme_variables_everywhere_but_in_the_theme():
    colour = re.compile(r"#[0-9a-fA-F]{6}\b|\brgba?\(")
    for path in [*UI.rglob("*.py"), *styles.styles_folder().glob("*.tcss")]:
        if path.name != "theme.py":
            assert not colour.search(path.read_text()), path


def test_no_wide_characters_and_no_emoji_of_ours():
    from rich.cells import cell_len

    for path in UI.rglob("*.py"):
        text = path.read_text()
        assert cell_len(text.replace("\n", "").replace("\u2800", "")) == len(
            text.replace("\n", "").replace("\u2800", "")
        )
