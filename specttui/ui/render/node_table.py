"""The hosts of a server that spans several, one row each, and their GPUs: for screens with room."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from rich.cells import cell_len
from textual.content import Content

from specttui.state.snapshot import NodeRow
from specttui.ui.render import figures
from specttui.ui.render.bars import bar
from specttui.ui.render.glyphs import Glyphs
from specttui.ui.render.header import value_range
from specttui.ui.render.node_words import Told, Word, tell, visible
from specttui.ui.render.panel import Panel, Space
from specttui.ui.render.text import (
    DRAWN,
    MUTED,
    STRONG,
    WARN,
    Part,
    cut,
    cut_middle,
    fit,
    harmless,
    left,
    line,
    right,
)

_LEAD_WIDTH = 5
_LEAST_NAME, _MOST_NAME, _GAP = 4, 24, 2
_LEAST_TEXT = 8
_MARK_WIDTH = 17
_HEAT_FROM_WIDTH = 44


@dataclass(frozen=True, slots=True)
class Column:
    """One column, for panels `from_width` to `to_width` cells wide; one of 0 cells takes what is left."""

    title: str
    width: int
    word: Callable[[Told], Word]
    from_width: int = 0
    to_width: int = 1000
    numeric: bool = False


def _state(told: Told) -> Word:
    """Connection or server with its detail, and what is wrong with the probe: for tables without columns."""
    wrong = f"probe {told.probe.text}" if told.probe.trouble else ""
    return _sentence(told.state, wrong, told.doing)


def _sentence(word: Word, *more: str) -> Word:
    """A state with what belongs to it."""
    known = "" if word.text == figures.MISSING else word.text
    return Word(", ".join(part for part in (known, *more) if part) or word.text, word.style)


def _load(told: Told) -> Word:
    gpus = told.node.gpus
    load = value_range([gpu.utilisation_percent for gpu in gpus], "%")
    return Word(f"{len(gpus)} x {load}" if gpus else figures.MISSING, "$foreground")


def _memory(told: Told) -> Word:
    used = sum(gpu.memory_used_mib for gpu in told.node.gpus)
    total = sum(gpu.memory_total_mib for gpu in told.node.gpus)
    text = f"{figures.gibibytes(used)} of {figures.gibibytes(total)} GiB"
    return Word(text if told.node.gpus else figures.MISSING, "$foreground")


def _cycle(told: Told) -> Word:
    return Word(figures.milliseconds(told.cycle_ms), STRONG if told.slowest else "$foreground")


#: The table's columns after rank and name, from left to right.
COLUMNS = (
    Column("connection", 14, lambda told: told.connection, 108),
    Column("server", 0, _state, to_width=87),
    Column("server", 0, lambda told: _sentence(told.state, told.doing), 88, 107),
    Column("server", 0, lambda told: _sentence(told.server, told.doing), 108),
    Column("file", 10, lambda told: told.file),
    Column("probe", 9, lambda told: told.probe, 88),
    Column("GPU load", 13, _load, 108),
    Column("GPU memory", 18, _memory, 136),
    Column("cycle ms", 9, _cycle, numeric=True),
)


def nodes_panel(nodes: Sequence[NodeRow], space: Space) -> Panel:
    """One row per node, problems first; where they do not fit, those with problems and the slowest stay."""
    told = tell(nodes)
    shown = visible(told, space.body_rows - (1 if space.framed else 0))
    more = f", +{len(told) - len(shown)} more" if len(shown) < len(told) else ""
    longest = max((cell_len(harmless(node.name)) for node in nodes), default=0)
    name_width = min(max(longest, _LEAST_NAME), _MOST_NAME) + _GAP
    mark_width = _MARK_WIDTH if any(each.slowest for each in told) else 0
    columns = _columns(space.width, _LEAD_WIDTH + name_width + mark_width)
    rows = (_row(each, columns, name_width, space.glyphs) for each in shown)
    titles = "".join(_set(column.title, column, space.glyphs) for column in columns)
    heading = line((f"{'#':>3}  {left('host', name_width, space.glyphs)}{titles}", MUTED))
    return Panel(
        "NODES",
        f"cycle: slowest rank's median, % over the fastest node{more}",
        tuple(fit(row, space.width) for row in rows),
        fit(heading, space.width),
    )


def _columns(width: int, taken: int) -> list[Column]:
    """The columns for a panel of this width; the text column takes what the others leave."""
    columns = [column for column in COLUMNS if column.from_width <= width <= column.to_width]
    rest = max(_LEAST_TEXT, width - taken - sum(column.width for column in columns))
    return [replace(column, width=column.width or rest) for column in columns]


def _row(told: Told, columns: Sequence[Column], name_width: int, glyphs: Glyphs) -> Content:
    name = cut_middle(harmless(told.node.name), name_width - _GAP, glyphs)
    words = [(column, column.word(told)) for column in columns]
    return line(
        (f"{told.rank:>3}  ", MUTED),
        (left(name, name_width, glyphs), STRONG),
        *((_set(word.text, column, glyphs), word.style) for column, word in words),
        (f"  slowest {figures.change(told.behind)}" if told.slowest else "", WARN),
    )


def _set(text: str, column: Column, glyphs: Glyphs) -> str:
    """A cell: figures to the right, words to the left and a blank away from the next."""
    if column.numeric:
        return right(text, column.width, glyphs)
    return left(cut(text, column.width - 1, glyphs), column.width, glyphs)


def node_gpus_panel(nodes: Sequence[NodeRow], space: Space) -> Panel:
    """The GPUs of each node together: the mean load as a bar; the spread of load, power and heat."""
    shown = visible(tell(nodes), space.body_rows)
    more = f", +{len(nodes) - len(shown)} more" if len(shown) < len(nodes) else ""
    heat = space.width >= _HEAT_FROM_WIDTH
    caption = f"per node{more}: load, power{', heat' if heat else ''}"
    rows = (line(*_gpus(each, space, heat=heat)) for each in shown)
    return Panel("GPUS", caption, tuple(fit(row, space.width) for row in rows))


def _gpus(told: Told, space: Space, *, heat: bool) -> Iterator[Part]:
    gpus = told.node.gpus
    yield f"{told.rank:>3}  ", MUTED
    if not gpus:
        yield "nvidia-smi has not answered yet", MUTED
        return
    loads = [gpu.utilisation_percent for gpu in gpus]
    known = [load for load in map(figures.finite, loads) if load is not None]
    text = f" {value_range(loads, '%'):>8} {value_range([gpu.power_w for gpu in gpus], 'W'):>9}"
    if heat:
        text += f" {value_range([gpu.temperature_c for gpu in gpus], 'C'):>8}"
    mean = sum(known) / len(known) / 100 if known else None
    yield bar(mean, max(4, space.width - len(text) - _LEAD_WIDTH), space.glyphs), DRAWN
    yield text
