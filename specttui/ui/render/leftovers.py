"""What other sessions left on a host, as lines of a dialog; pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from textual.content import Content

from specttui.session.api import Leftover
from specttui.ui.render.figures import duration
from specttui.ui.render.text import MUTED, STRONG, WARN, harmless, line


def leftover_lines(leftovers: Sequence[Leftover]) -> Iterator[Content]:
    """Two lines per leftover: what lies where; whose it is, how old, and whether that session lives.

    What harms nobody is only counted.
    """
    for left in leftovers:
        if left.matters:
            place = f"{left.host}: {left.path}" if left.host else left.path
            yield line((left.what, STRONG), " ", harmless(place))
            yield line("  ", _whose(left))
    counted = [_count(leftovers, what) for what in ("control file", "launch script")]
    if any(counted):
        yield line((f"and {', '.join(words for words in counted if words)}", MUTED))


def _whose(left: Leftover) -> Content:
    session = f"session {harmless(left.session_id) or 'unknown'}"
    if left.alive:
        owner = f" of {harmless(left.owner)}" if left.owner else ""
        return line((f"{session}{owner}, alive{_age(left)}", WARN))
    return line((f"{session}, dead{_age(left)}", MUTED))


def _age(left: Leftover) -> str:
    if left.age_s is None:
        return ""
    age = duration(left.age_s)
    return f", for {age}" if left.what == "lock" else f", {age} old"


def _count(leftovers: Sequence[Leftover], what: str) -> str:
    count = sum(left.what == what for left in leftovers)
    return f"{count} {what}{'' if count == 1 else 's'}" if count else ""
