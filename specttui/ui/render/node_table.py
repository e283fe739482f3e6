"""The hosts of a server that spans several, one row each, and their GPUs: for screens with room."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from textual.content import Content

from specttui.events import Gpu
from specttui.state.snapshot import NodeRow
from specttui.ui.render import figures
from specttui.ui.render.bars import bar
from specttui.ui.render.glyphs import Glyphs
from specttui.ui.render.header import value_range
from specttui.ui.render.node_words import (
    Word,
    behind,
    connection_word,
    cycle_ms,
    doing,
    file_word,
    probe_word,
    rank_text,
    server_word,
    slowest,
    state_word,
    visible,
)
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
    right,
)

#: What a column says of one node among all.
Tell = Callable[[NodeRow, Sequence[NodeRow]], Word]

_LEAD_WIDTH = 5
_LEAST_NAME, _MOST_NAME = 8, 24
_LEAST_TEXT = 8
_MARK_WIDTH = 17
_FIGURES_OF_GPUS = 52


@dataclass(frozen=True, slots=True)
class Column:
    """One column, for panels `from_width` to `to_width` cells wide; one of 0 cells takes what is left."""

    title: str
    width: int
    word: Tell
    from_width: int = 0
    to_width: int = 1000
    numeric: bool = False


def _own(tell: Callable[[NodeRow], Word]) -> Tell:
    """What a node says whatever the others do."""
    return lambda node, _: tell(node)


def _with_detail(state: Callable[[NodeRow], Word]) -> Tell:
    """A state with what is being done, or went wrong, beside it."""

    def tell(node: NodeRow, nodes: Sequence[NodeRow]) -> Word:
        del nodes
        word = state(node)
        known = "" if word.text == figures.MISSING else word.text
        return Word(", ".join(part for part in (known, doing(node)) if part) or word.text, word.style)

    return tell


def _load(node: NodeRow) -> Word:
    load = value_range([gpu.utilisation_percent for gpu in node.gpus], "%")
    return Word(f"{len(node.gpus)} x {load}" if node.gpus else figures.MISSING, "$foreground")


def _memory(node: NodeRow) -> Word:
    return Word(f"{_used(node.gpus)} GiB" if node.gpus else figures.MISSING, "$foreground")


def _cycle(node: NodeRow, nodes: Sequence[NodeRow]) -> Word:
    style = STRONG if node is slowest(nodes) else "$foreground"
    return Word(figures.milliseconds(cycle_ms(node)), style)


#: The table's columns after rank and name, from left to right.
COLUMNS = (
    Column("connection", 14, _own(connection_word), 108),
    Column("server", 0, _with_detail(state_word), to_width=107),
    Column("server", 0, _with_detail(server_word), 108),
    Column("file", 10, file_word),
    Column("probe", 9, _own(probe_word), 88),
    Column("GPU load", 13, _own(_load), 108),
    Column("GPU memory", 18, _own(_memory), 136),
    Column("cycle ms", 9, _cycle, numeric=True),
)


def nodes_panel(nodes: Sequence[NodeRow], space: Space) -> Panel:
    """One row per node, problems first; where they do not fit, those with problems and the slowest stay."""
    shown = visible(nodes, space.body_rows - (1 if space.framed else 0))
    hidden = len(nodes) - len(shown)
    caption = "cycle: median of the slowest rank" + (f", +{hidden} more" if hidden else "")
    columns = [column for column in COLUMNS if column.from_width <= space.width <= column.to_width]
    longest = max((cell_len(harmless(node.name)) for node in nodes), default=0)
    name_width = min(max(longest, _LEAST_NAME), _MOST_NAME) + 1
    fixed = _LEAD_WIDTH + name_width + sum(column.width for column in columns) + _MARK_WIDTH
    widths = [column.width or max(_LEAST_TEXT, space.width - fixed) for column in columns]
    rows = tuple(
        fit(_row(node, nodes, list(zip(columns, widths, strict=True)), name_width, space.glyphs), space.width)
        for node in shown
    )
    titles = "".join(
        _set(column.title, width, column, space.glyphs) for column, width in zip(columns, widths, strict=True)
    )
    heading = line((f"{'#':>3}  {left('host', name_width, space.glyphs)}{titles}", MUTED))
    return Panel("NODES", caption, rows, fit(heading, space.width))


def _row(
    node: NodeRow,
    nodes: Sequence[NodeRow],
    columns: Sequence[tuple[Column, int]],
    name_width: int,
    glyphs: Glyphs,
) -> Content:
    words = [(column, width, column.word(node, nodes)) for column, width in columns]
    return line(
        (f"{rank_text(node):>3}  ", MUTED),
        (left(cut_middle(harmless(node.name), name_width - 1, glyphs), name_width, glyphs), STRONG),
        *((_set(word.text, width, column, glyphs), word.style) for column, width, word in words),
        (_mark(node, nodes), WARN),
    )


def _set(text: str, width: int, column: Column, glyphs: Glyphs) -> str:
    """A cell: figures to the right, words to the left and a blank away from the next."""
    if column.numeric:
        return right(text, width, glyphs)
    return left(cut(text, width - 1, glyphs), width, glyphs)


def _mark(node: NodeRow, nodes: Sequence[NodeRow]) -> str:
    if node is not slowest(nodes):
        return ""
    return f"  slowest {figures.change(behind(node, nodes))}"


def node_gpus_panel(nodes: Sequence[NodeRow], space: Space) -> Panel:
    """The GPUs of each node together: mean load as a bar, the spread of load, memory, power and heat."""
    shown = visible(nodes, space.body_rows)
    hidden = len(nodes) - len(shown)
    caption = "of each node: load, memory, power, heat" + (f", +{hidden} more" if hidden else "")
    bar_width = max(4, space.width - _FIGURES_OF_GPUS)
    return Panel(
        "GPUS", caption, tuple(fit(_gpus(node, bar_width, space.glyphs), space.width) for node in shown)
    )


def _gpus(node: NodeRow, bar_width: int, glyphs: Glyphs) -> Content:
    lead = (f"{rank_text(node):>3}  ", MUTED)
    if not node.gpus:
        return line(lead, ("nvidia-smi has not answered yet", MUTED))
    loads = [load for gpu in node.gpus if (load := figures.finite(gpu.utilisation_percent)) is not None]
    mean = sum(loads) / len(loads) / 100 if loads else None
    return line(
        lead,
        (bar(mean, bar_width, glyphs), DRAWN),
        f" {value_range([gpu.utilisation_percent for gpu in node.gpus], '%'):>8}"
        f" {_used(node.gpus):>12} GiB"
        f" {value_range([gpu.power_w for gpu in node.gpus], 'W'):>9}"
        f" {value_range([gpu.temperature_c for gpu in node.gpus], 'C'):>7}",
    )


def _used(gpus: Sequence[Gpu]) -> str:
    used = sum(gpu.memory_used_mib for gpu in gpus)
    total = sum(gpu.memory_total_mib for gpu in gpus)
    return f"{figures.gibibytes(used)} of {figures.gibibytes(total)}"
