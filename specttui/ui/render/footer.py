"""The footer: the keys that fit, or the command in progress with the key that cancels it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from textual.content import Content
from textual.style import Style

from specttui.state.snapshot import CommandView
from specttui.ui.render.text import MUTED, STRONG, WARN, fit, harmless, line, spread

_KEY = "bold $footer-key-foreground"
_GREYED = "$foreground-disabled"


@dataclass(frozen=True, slots=True)
class FooterKey:
    """One key as the footer shows it; `rank` says who gives way when room is short."""

    display: str
    label: str
    action: str
    rank: int
    enabled: bool = True

    @property
    def width(self) -> int:
        """Cells it takes, with the two that part it from the next."""
        return len(self.display) + 1 + len(self.label) + 2


def footer_line(keys: Sequence[FooterKey], width: int) -> Content:
    """As many keys as fit, the most important ones, in the order given. A click does what the key does."""
    shown: set[int] = set()
    room = width + 2
    for index, key in sorted(enumerate(keys), key=lambda item: (not item[1].enabled, item[1].rank)):
        if key.width <= room:
            shown.add(index)
            room -= key.width
    return Content("  ").join(_key(key) for index, key in enumerate(keys) if index in shown)


def _key(key: FooterKey) -> Content:
    if not key.enabled:
        return line((f"{key.display} {key.label}", _GREYED))
    content = line((key.display, _KEY), (f" {key.label}", "$foreground"))
    return content.stylize(Style.from_meta({"@click": key.action}))


def command_line(command: CommandView, keys: Sequence[FooterKey], width: int) -> Content:
    """What the running command does, with the keys that still apply at the right."""
    start = line(("> ", WARN), (harmless(command.name).replace("_", " "), STRONG))
    if command.detail:
        start = line(start, (f"  {harmless(command.detail)}", MUTED))
    return fit(spread(start, footer_line(keys, width // 2), width), width)
