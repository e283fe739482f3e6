"""The hosts of a server that spans several, on one line: for screens without room for a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from textual.content import Content

from specttui.state.snapshot import NodeRow
from specttui.ui.render import figures
from specttui.ui.render.glyphs import Glyphs
from specttui.ui.render.node_words import Told, Word, common, tell, visible
from specttui.ui.render.text import HEADING, MUTED, STRONG, WARN, Part, cut_middle, fit, line


@dataclass(frozen=True, slots=True)
class Density:
    """A way to put nodes on one line.

    `name` is the cells for a name. What the nodes without problems share is said by each, by one for all, or
    (`aloud` False) by none; `units` False leaves the unit to the first figure.
    """

    name: int
    shared: bool = False
    aloud: bool = True
    units: bool = True


#: The fullest first.
_DENSITIES = (
    Density(20),
    Density(12),
    Density(8),
    Density(20, shared=True),
    Density(12, shared=True),
    Density(8, shared=True),
    Density(12, shared=True, aloud=False),
    Density(8, shared=True, aloud=False),
    Density(8, shared=True, aloud=False, units=False),
)
_TERSE = Density(8, shared=True, units=False)
_TERSEST = replace(_TERSE, aloud=False)
_GAP = "  "
#: No node takes fewer cells: the blanks before it, its number, a blank, a letter.
_LEAST_ITEM = len(_GAP) + 3


def nodes_line(nodes: Sequence[NodeRow], width: int, glyphs: Glyphs) -> Content:
    """All nodes, problems first: rank, name, state, worker file, and the slowest rank's median cycle.

    Where they do not fit, what those without problems share is said once or not at all, names are cut, and at
    last nodes are left out and counted; those with problems and the slowest stay.
    """
    told = tell(nodes)
    most = width // _LEAST_ITEM
    for density in _DENSITIES if len(told) <= most else ():
        parts = _parts(told, len(told), density, glyphs)
        if _width(parts) <= width:
            return _joined(parts)
    must = sum(1 for each in told if each.slowest or each.trouble)
    for density, least in ((_TERSE, must), (_TERSEST, 1)):
        for count in range(min(most, len(told) - 1), max(1, least) - 1, -1):
            parts = _parts(told, count, density, glyphs)
            if _width(parts) <= width:
                return _joined(parts)
    return fit(_joined(parts), width)


def _parts(told: Sequence[Told], count: int, density: Density, glyphs: Glyphs) -> list[Content]:
    """The line's parts, for `count` of the nodes."""
    shown = visible(told, count)
    shared = common(told) if density.shared else ()
    timed = next((each for each in shown if each.cycle_ms is not None), None)
    parts = [
        _item(each, cut_middle(each.name, density.name, glyphs), shared, unit=density.units or each is timed)
        for each in shown
    ]
    if shared and density.aloud:
        whom = "others" if any(each.trouble for each in told) else "all"
        words = line((f"{whom} {', '.join(word.text for word in shared)}", MUTED))
        parts.insert(sum(1 for each in shown if each.trouble), words)
    if count < len(told):
        parts.append(line((f"+{len(told) - count} more", STRONG)))
    return [line(("NODES", HEADING)), *parts]


def _width(parts: Sequence[Content]) -> int:
    return sum(part.cell_length for part in parts) + len(_GAP) * (len(parts) - 1)


def _joined(parts: Sequence[Content]) -> Content:
    first, *rest = parts
    return line(first, *(piece for part in rest for piece in (_GAP, part)))


def _item(told: Told, name: str, said: Sequence[Word], *, unit: bool) -> Content:
    """One node; words that were said for all are left out."""
    parts: list[Part] = [(told.rank, MUTED), " ", (name, STRONG)]
    parts += [
        (f" {word.text}", word.style)
        for word in (told.state, told.file)
        if word.text != figures.MISSING and word not in said
    ]
    if told.probe.trouble:
        parts.append((f" probe {told.probe.text}", told.probe.style))
    if told.cycle_ms is not None:
        parts.append(f" {figures.milliseconds(told.cycle_ms)}{' ms' if unit else ''}")
    if told.slowest:
        parts.append((" slowest", WARN))
    return line(*parts)
