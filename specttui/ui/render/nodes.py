"""The hosts of a server that spans several, on one line: for screens without room for a table."""

from __future__ import annotations

from collections.abc import Sequence

from textual.content import Content

from specttui.state.snapshot import NodeRow
from specttui.ui.render import figures
from specttui.ui.render.glyphs import Glyphs
from specttui.ui.render.node_words import Told, Word, common, places, tell
from specttui.ui.render.text import HEADING, MUTED, STRONG, WARN, Part, cut_middle, fit, line

#: Ways to put all nodes on one line, the fullest first: cells for a name, and whether what the nodes share
#: is said once for all.
_DENSITIES = ((20, False), (12, False), (8, False), (20, True), (12, True), (8, True))
_GAP = "  "


def nodes_line(nodes: Sequence[NodeRow], width: int, glyphs: Glyphs) -> Content:
    """All nodes, problems first: rank, name, state, worker file, and the slowest rank's median cycle.

    Where they do not fit, what those without problems share is said once, names are cut, and at last nodes
    are left out and counted; those with problems and the slowest stay.
    """
    told = tell(nodes)
    shared = common(told)
    for name_width, once in _DENSITIES:
        parts = _parts(told, len(told), _items(told, name_width, glyphs, shared if once else ()), once=once)
        if _width(parts) <= width:
            return _joined(parts)
    items = _items(told, _DENSITIES[-1][0], glyphs, shared)
    must = sum(1 for each in told if each.slowest or each.trouble)
    # Even what they share goes unsaid where it would cost a node that matters.
    for least, once in ((must, True), (1, False)):
        for count in range(len(told), max(1, least) - 1, -1):
            parts = _parts(told, count, items, once=once)
            if _width(parts) <= width:
                return _joined(parts)
    return fit(_joined(parts), width)


def _items(told: Sequence[Told], name_width: int, glyphs: Glyphs, said: Sequence[Word]) -> list[Content]:
    return [_item(each, cut_middle(each.name, name_width, glyphs), said) for each in told]


def _parts(told: Sequence[Told], count: int, items: Sequence[Content], *, once: bool) -> list[Content]:
    """The line's parts for `count` of the nodes; `once` puts what they share between problems and others."""
    shown = places(told, count)
    parts = [items[index] for index in shown]
    said = common(told) if once else ()
    if said:
        whom = "others" if any(each.trouble for each in told) else "all"
        words = line((f"{whom} {', '.join(word.text for word in said)}", MUTED))
        parts.insert(sum(1 for index in shown if told[index].trouble), words)
    if count < len(told):
        parts.append(line((f"+{len(told) - count} more", STRONG)))
    return [line(("NODES", HEADING)), *parts]


def _width(parts: Sequence[Content]) -> int:
    return sum(part.cell_length for part in parts) + len(_GAP) * (len(parts) - 1)


def _joined(parts: Sequence[Content]) -> Content:
    first, *rest = parts
    return line(first, *(piece for part in rest for piece in (_GAP, part)))


def _item(told: Told, name: str, said: Sequence[Word]) -> Content:
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
        parts.append(f" {figures.milliseconds(told.cycle_ms)} ms")
    if told.slowest:
        parts.append((" slowest", WARN))
    return line(*parts)
