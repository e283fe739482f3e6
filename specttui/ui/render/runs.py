"""The runs table: every configuration measured, against the baseline."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from textual.content import Content

from specttui.events import Phase
from specttui.state.snapshot import RunRow, Snapshot
from specttui.ui.render import figures
from specttui.ui.render.panel import Panel, Space
from specttui.ui.render.text import BAD, GOOD, MUTED, STRONG, harmless, left, line, right


@dataclass(frozen=True, slots=True)
class Column:
    """One column of figures; shown where the panel is at least `from_width` cells wide."""

    title: str
    width: int
    text: Callable[[RunRow], str]
    from_width: int = 0


def _phase(phase: Phase) -> Callable[[RunRow], str]:
    return lambda run: figures.milliseconds(run.phase_ms.get(phase))


#: Columns of figures from left to right, before the comparison with the baseline.
COLUMNS = (
    Column("tok/s", 13, lambda run: figures.interval(run.throughput_tok_s)),
    Column("per request", 12, lambda run: figures.tokens_per_second(run.per_request_tok_s), 120),
    Column("accept", 7, lambda run: figures.accept_length(run.accept_len)),
    Column("cycle", 7, lambda run: figures.milliseconds(run.cycle_ms)),
    Column("verify", 7, _phase(Phase.VERIFY)),
    Column("draft", 7, _phase(Phase.DRAFT), 96),
    Column("extend", 7, _phase(Phase.DRAFT_EXTEND), 96),
    Column("other", 7, _phase(Phase.OTHER), 120),
    Column("batch", 6, lambda run: figures.decimals(run.batch, 1), 120),
    Column("cycles", 8, lambda run: str(run.cycles), 140),
    Column("source", 7, lambda run: run.source or figures.MISSING, 140),
    Column("clock", 7, lambda run: run.clock.value if run.clock else figures.MISSING, 140),
)
_CHANGE = Column("vs baseline", 12, lambda run: comparison(run)[0])
_LEAD_WIDTH = 6


def comparison(run: RunRow) -> tuple[str, str]:
    """A run against the baseline, with its style; "~" marks what may be noise."""
    if run.warming_up:
        return "warming up", MUTED
    ratio = figures.finite(run.change_vs_baseline)
    if ratio is None or run.is_baseline:
        return figures.MISSING, MUTED
    if run.significant is False:
        return f"~ {figures.change(ratio)}", MUTED
    return figures.change(ratio), GOOD if ratio > 0 else BAD


def runs_panel(snapshot: Snapshot, space: Space) -> Panel:
    """One line per run, the current one marked with >; where they do not fit, the newest and the baseline."""
    caption = "cycle in ms, of a baseline ms per token; ~ within noise" if space.width >= 96 else ""
    if not snapshot.runs:
        text = "A run begins when the server has served its first tokens."
        return Panel("RUNS", caption, (line((text, MUTED)),))
    columns = [column for column in COLUMNS if space.width >= column.from_width]
    label_width = max(8, space.width - _LEAD_WIDTH - sum(column.width for column in (*columns, _CHANGE)))
    runs, hidden = visible_runs(snapshot.runs, space.body_rows - (1 if space.framed else 0))
    lines = [_row(run, columns, label_width, space) for run in runs]
    if hidden:
        caption = f"{hidden} more, press 4"
    return Panel("RUNS", caption, tuple(lines), _heading(columns, label_width, space))


def visible_runs(runs: tuple[RunRow, ...], room: int) -> tuple[tuple[RunRow, ...], int]:
    """The runs that fit, in their order, and how many are left out.

    The current run and the baseline stay; of the others the newest.
    """
    if len(runs) <= room:
        return runs, 0
    ranked = sorted(runs, key=lambda run: (run.current, run.is_baseline, run.run_id), reverse=True)
    kept = {run.run_id for run in ranked[: max(0, room)]}
    return tuple(run for run in runs if run.run_id in kept), len(runs) - len(kept)


def _heading(columns: list[Column], label_width: int, space: Space) -> Content:
    titles = "".join(right(column.title, column.width, space.glyphs) for column in (*columns, _CHANGE))
    if not space.framed:
        return line((titles, MUTED))
    return line((f"{'#':>4}  {left('configuration', label_width, space.glyphs)}{titles}", MUTED))


def _row(run: RunRow, columns: list[Column], label_width: int, space: Space) -> Content:
    style = STRONG if run.current else "$foreground"
    marker = ">" if run.current else " "
    figures_text = "".join(right(column.text(run), column.width, space.glyphs) for column in columns)
    change_text, change_style = comparison(run)
    return line(
        (f"{marker}{run.run_id:>3}  ", style),
        (left(harmless(run.label), label_width, space.glyphs), style),
        (figures_text, style),
        (right(change_text, _CHANGE.width, space.glyphs), change_style),
    )
