"""Where the Textual CSS lies: inside the package in a wheel, beside it in a checkout."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path, PurePath

from specttui.errors import SpecttuiError

#: The style sheets, in the order in which they apply.
SHEETS = ("app.tcss", "main.tcss", "dialogs.tcss", "timeline.tcss")


def styles_folder() -> Path:
    """The folder that holds the style sheets.

    Raises:
        SpecttuiError: The installation holds none.
    """
    package = Path(str(files("specttui")))
    for folder in (package / "styles", package.parent / "styles"):
        if (folder / SHEETS[0]).is_file():
            return folder
    raise SpecttuiError(
        "The screen's style sheets are missing.",
        cause=f"Neither {package / 'styles'} nor {package.parent / 'styles'} holds {SHEETS[0]}.",
        remedy="Install specttui again, or run it from a complete checkout.",
    )


def style_sheets() -> list[str | PurePath]:
    """The paths of all style sheets, as Textual wants them."""
    folder = styles_folder()
    return [folder / sheet for sheet in SHEETS]
