"""The hosts of a server that spans several, on one line: for screens without room for a table."""

from __future__ import annotations

from collections.abc import Sequence

from textual.content import Content

from specttui.state.snapshot import NodeRow
from specttui.ui.render import figures
from specttui.ui.render.glyphs import Glyphs
from specttui.ui.render.node_words import (
    Word,
    common,
    cycle_ms,
    file_word,
    probe_word,
    rank_text,
    short_names,
    slowest,
    state_word,
    trouble,
    visible,
)
from specttui.ui.render.text import HEADING, MUTED, STRONG, WARN, cut_middle, fit, line

#: Ways to put all nodes on one line, the fullest first: cells for a name, and whether what the nodes share
#: is said once for all.
_DENSITIES = ((20, False), (12, False), (8, False), (20, True), (12, True), (8, True))


def nodes_line(nodes: Sequence[NodeRow], width: int, glyphs: Glyphs) -> Content:
    """All nodes, problems first: rank, name, state, worker file, and the slowest rank's median cycle.

    Where they do not fit, what those without problems share is said once, names are cut, and at last nodes
    are left out and counted; those with problems and the slowest stay.
    """
    content = line(("NODES", HEADING))
    for name_width, shared in _DENSITIES:
        content = _line(nodes, len(nodes), name_width, glyphs, shared=shared)
        if content.cell_length <= width:
            return content
    slow = slowest(nodes)
    must = sum(1 for node in nodes if node is slow or trouble(node, nodes))
    for least, said in ((must, True), (1, False)):
        for count in range(len(nodes) - 1, least - 1, -1):
            content = _line(nodes, count, _DENSITIES[-1][0], glyphs, shared=True, said_aloud=said)
            if content.cell_length <= width:
                return content
    return fit(content, width)


def _line(
    nodes: Sequence[NodeRow],
    count: int,
    name_width: int,
    glyphs: Glyphs,
    *,
    shared: bool,
    said_aloud: bool = True,
) -> Content:
    """The line for `count` of the nodes; even what they share goes unsaid where it costs one that matters."""
    shown, names, said = visible(nodes, count), short_names(nodes), common(nodes) if shared else ()
    items = [_item(node, nodes, cut_middle(names[node.name], name_width, glyphs), said) for node in shown]
    if said and said_aloud:
        whom = "others" if any(trouble(node, nodes) for node in nodes) else "all"
        troubled = sum(1 for node in shown if trouble(node, nodes))
        items.insert(troubled, line((f"{whom} {', '.join(word.text for word in said)}", MUTED)))
    if count < len(nodes):
        items.append(line((f"+{len(nodes) - count} more", STRONG)))
    return Content("  ").join([line(("NODES", HEADING)), *items])


def _item(node: NodeRow, nodes: Sequence[NodeRow], name: str, said: Sequence[Word]) -> Content:
    """One node; words that were said for all are left out."""
    parts = [line((rank_text(node), MUTED), " ", (name, STRONG))]
    parts += [
        line((word.text, word.style))
        for word in (state_word(node), file_word(node, nodes))
        if word.text != figures.MISSING and word not in said
    ]
    if probe_word(node).trouble:
        parts.append(line((f"probe {probe_word(node).text}", probe_word(node).style)))
    if (time := cycle_ms(node)) is not None:
        parts.append(line(f"{figures.milliseconds(time)} ms"))
    if node is slowest(nodes):
        parts.append(line(("slowest", WARN)))
    return Content(" ").join(parts)
