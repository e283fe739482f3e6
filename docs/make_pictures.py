"""Make the pictures of the documentation: the real screens on scripted snapshots, without a host.

Run from anywhere: `.venv/bin/python docs/make_pictures.py [PNG_FOLDER]`. Writes SVG files to docs/pictures/;
with a folder given, also PNG files there, for looking at: that needs `rsvg-convert` (librsvg) and the font
DejaVu Sans Mono.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PICTURES = ROOT / "docs" / "pictures"
sys.path.insert(0, str(ROOT / "tests"))

from support import scripted_snapshots  # noqa: E402
from support.scripted_session import ScriptedSession  # noqa: E402

from specttui.state.snapshot import Snapshot  # noqa: E402
from specttui.ui.app import SpecttuiApp  # noqa: E402

#: Picture pixels per terminal column.
PIXELS_PER_COLUMN = 10


@dataclass(frozen=True)
class Picture:
    """One picture: the state shown, the terminal's size, and the keys pressed before."""

    name: str
    snapshot: Snapshot
    size: tuple[int, int]
    keys: Sequence[str] = ()


def pictures() -> list[Picture]:
    """All pictures."""
    serving, connected = scripted_snapshots.serving(), scripted_snapshots.connected()
    return [
        Picture("main-80x24", serving, (80, 24)),
        Picture("main-120x40", serving, (120, 40)),
        Picture("main-200x60", serving, (200, 60)),
        Picture("starting-80x24", scripted_snapshots.starting(), (80, 24)),
        Picture("patch-80x24", connected, (80, 24), ("p",)),
        Picture("restart-100x30", serving, (100, 30), ("r", "5")),
        Picture("timeline-100x30", serving, (100, 30), ("t",)),
        Picture("help-80x24", serving, (80, 24), ("question_mark",)),
    ]


async def screenshot(picture: Picture) -> str:
    """The picture as SVG."""
    app = SpecttuiApp(ScriptedSession(picture.snapshot, patched=picture.snapshot.cycle is not None))
    async with app.run_test(size=picture.size) as pilot:
        await pilot.pause()
        for key in picture.keys:
            await pilot.press(key)
            await pilot.pause(0.3)
        app.draw_now()
        await pilot.pause(0.3)
        return app.export_screenshot(title="specttui")


def to_png(svg: Path, columns: int, folder: Path) -> None:
    """Draw an SVG as PNG with librsvg, which needs the spaces and the font that it knows."""
    folder.mkdir(parents=True, exist_ok=True)
    text = svg.read_text("utf-8").replace("&#160;", " ").replace("<text ", '<text xml:space="preserve" ')
    text = text.replace("Fira Code", "DejaVu Sans Mono")
    width = str(columns * PIXELS_PER_COLUMN)
    subprocess.run(
        ["rsvg-convert", "-w", width, "-o", str(folder / f"{svg.stem}.png")], input=text.encode(), check=True
    )


async def main(png_folder: Path | None) -> None:
    """Make them all."""
    PICTURES.mkdir(exist_ok=True)
    for picture in pictures():
        svg = PICTURES / f"{picture.name}.svg"
        svg.write_text(await screenshot(picture), "utf-8")
        if png_folder is not None:
            to_png(svg, picture.size[0], png_folder)
        print(svg.relative_to(ROOT))


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]) if len(sys.argv) > 1 else None))
