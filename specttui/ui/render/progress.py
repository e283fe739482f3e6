"""A server on its way up or down: a bar, an estimate, and when it was last heard of."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len
from textual.content import Content

from specttui.state.snapshot import NodeRow, ProgressView, Snapshot
from specttui.ui.render import figures
from specttui.ui.render.bars import bar
from specttui.ui.render.node_words import Told, tell
from specttui.ui.render.panel import Panel, Space
from specttui.ui.render.text import (
    DRAWN,
    MUTED,
    STRONG,
    WARN,
    cut,
    cut_middle,
    fit,
    harmless,
    left,
    line,
    wrap,
)

#: What the phases of a start-up are called on the screen.
STARTUP_NAMES = {
    "init": "starting processes",
    "distributed": "joining the ranks",
    "weights": "loading the target's weights",
    "draft_weights": "loading the draft model's weights",
    "kv_cache": "allocating the KV cache",
    "graphs": "capturing the target's CUDA graphs",
    "draft_graphs": "capturing the draft's CUDA graphs",
    "extend_graphs": "capturing the draft-extend CUDA graphs",
    "warmup": "warming up",
    "ready": "ready",
}
#: Seconds of silence after which the last output is marked.
QUIET_S = 30.0
#: Cells that a node's progress needs beside that of another one, and how many of them are its name's.
_NODE_WIDTH, _NODE_NAME_WIDTH = 36, 16


def progress_panel(snapshot: Snapshot, space: Space) -> Panel:
    """The start-up in progress."""
    title = "STOPPING" if snapshot.server_phase == "stopping" else "STARTING"
    progress = snapshot.progress
    if progress is None:
        detail = harmless(snapshot.server_detail) or "waiting for the first sign of life"
        words = [line((row, STRONG)) for row in wrap(detail, space.width)]
        return Panel(title, "", (*words, *_node_lines(snapshot.nodes, space, len(words))))
    name = STARTUP_NAMES.get(progress.phase, harmless(progress.phase))
    lines = [
        line((name, STRONG), (f"  {harmless(progress.detail)}" if progress.detail else "", MUTED)),
        _bar_line(progress, space),
        _time_line(progress),
    ]
    lines.extend(_node_lines(snapshot.nodes, space, len(lines)))
    if snapshot.server_detail:
        lines.append(line((harmless(snapshot.server_detail), MUTED)))
    lines.append(line(("escape cancels at the next safe point", MUTED)))
    return Panel(title, "the server", tuple(fit(row, space.width) for row in lines))


def _bar_line(progress: ProgressView, space: Space) -> Content:
    fraction = figures.finite(progress.fraction)
    text = "  ? %" if fraction is None else f"{100 * fraction:3.0f} %"
    return line(
        ("[", MUTED), (bar(fraction, space.width - len(text) - 3, space.glyphs), DRAWN), ("] ", MUTED),
        (text, STRONG),
    )  # fmt: skip


def _time_line(progress: ProgressView) -> Content:
    estimate = figures.finite(progress.eta_s)
    rest = "no estimate yet" if estimate is None else f"about {figures.duration(estimate)} left"
    quiet = figures.finite(progress.last_output_s)
    heard = "" if quiet is None else f"   last output {figures.duration(quiet)} ago"
    return line(
        f"{figures.duration(progress.elapsed_s)} so far, {rest}",
        (heard, WARN if quiet is not None and quiet >= QUIET_S else MUTED),
    )


def _node_lines(nodes: Sequence[NodeRow], space: Space, taken: int) -> list[Content]:
    """Where each node is, in the rows that are left: one per row, or several side by side."""
    told = tell(nodes)
    rows = max(1, space.body_rows - taken)
    columns = max(1, min(-(-len(told) // rows), space.width // _NODE_WIDTH))
    shown = _furthest_behind(told, rows * columns)
    cells = [_node_cell(each, space.width // columns, space, alone=columns == 1) for each in shown]
    if len(shown) < len(told):
        cells.append(line((f"+{len(told) - len(shown)} more", MUTED)))
    return [line(*cells[start : start + columns]) for start in range(0, len(cells), columns)]


def _furthest_behind(told: Sequence[Told], room: int) -> Sequence[Told]:
    """All nodes, or where they do not fit those that the others wait for, in the order given.

    One cell is then kept free, for how many there are more.
    """
    if len(told) <= room:
        return told
    steps = list(STARTUP_NAMES)

    def position(index: int) -> tuple[int, int, float]:
        node = told[index].node
        step = steps.index(node.startup_phase) if node.startup_phase in steps else -1
        return -told[index].trouble, step, (node.startup_done or 0) / (node.startup_total or 1)

    behind = sorted(range(len(told)), key=position)[: room - 1]
    return [told[index] for index in sorted(behind)]


def _node_cell(told: Told, width: int, space: Space, *, alone: bool) -> Content:
    """One node; a step has its full name where the node is alone in its row."""
    glyphs, name_width, step = space.glyphs, _NODE_NAME_WIDTH, told.node.startup_phase
    lead = f"{told.rank:>2} {left(cut_middle(told.name, name_width - 1, glyphs), name_width, glyphs)}"
    if not step or told.state.text != "starting":
        text = ", ".join(part for part in (told.state.text, told.doing) if part)
    elif alone:
        text = f"{STARTUP_NAMES.get(step, harmless(step))}  {told.counted}".rstrip()
    else:
        text = told.doing
    rest = width - cell_len(lead)
    style = told.state.style if told.state.trouble else MUTED
    return line(lead, (left(cut(text, rest - 1, glyphs), rest, glyphs), style))
