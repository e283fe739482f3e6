"""Throughput and accept length: a big figure, how it stands, and its last minute."""

from __future__ import annotations

from textual.content import Content

from specttui.state.snapshot import RunRow, Series, Snapshot
from specttui.ui.render import figures
from specttui.ui.render.bars import bar
from specttui.ui.render.digits import big
from specttui.ui.render.panel import Panel, Space
from specttui.ui.render.sparkline import sparkline
from specttui.ui.render.text import BAD, DRAWN, FIGURE, GOOD, MUTED, fit, harmless, line, wrap

#: A computed throughput further than this from the measured one means something is unaccounted for.
UNACCOUNTED = 0.05


def throughput_panel(snapshot: Snapshot, space: Space) -> Panel:
    """Server throughput now, its difference from the baseline run, and the last window."""
    series = snapshot.throughput
    caption = f"tok/s, server, {figures.window(series.window_s)}"
    value = figures.finite(snapshot.throughput_now)
    if value is None and series.last is None:
        return Panel("THROUGHPUT", caption, _awaited(throughput_awaited(snapshot), space))
    notes = [_against_baseline(snapshot), _computed(snapshot)]
    if snapshot.throughput_note:
        notes.append(line((snapshot.throughput_note, MUTED)))
    high = figures.nice_ceiling(_largest(series, value))
    lines = _figure_and_line(figures.tokens_per_second(value), notes, series, (0.0, high), snapshot, space)
    return Panel("THROUGHPUT", caption, lines)


def accept_panel(snapshot: Snapshot, space: Space) -> Panel:
    """Accept length now, with the printed rate, and the last window.

    Its scale runs from 1, nothing accepted, to steps + 1, all accepted.
    """
    series = snapshot.accept_len
    caption = f"tokens/cycle, {figures.window(series.window_s)}"
    value = figures.finite(snapshot.accept_len_now)
    if value is None and series.last is None:
        return Panel("ACCEPT LENGTH", caption, _awaited(accept_awaited(snapshot), space))
    notes = []
    if (break_even := figures.finite(snapshot.verdict.break_even_accept_len)) is not None:
        above = value is not None and value > break_even
        notes.append(line((f"{'>' if above else '<'} break-even {break_even:.2f}", GOOD if above else BAD)))
    if (rate := figures.finite(snapshot.accept_rate_now)) is not None:
        notes.append(line((f"rate {rate:.2f}", MUTED)))
    steps = snapshot.settings.num_steps
    largest = _largest(series, value)
    high = float(steps + 1) if steps and largest <= steps + 1 else figures.nice_ceiling(largest)
    lines = _figure_and_line(figures.accept_length(value), notes, series, (1.0, high), snapshot, space)
    return Panel("ACCEPT LENGTH", caption, lines)


def histogram_panel(snapshot: Snapshot, space: Space) -> Panel:
    """How many drafts were accepted per cycle, as shares."""
    counts = snapshot.accept_histogram
    total = sum(counts)
    if not total:
        return Panel("ACCEPTED DRAFTS", "share of cycles", _awaited("No counts yet.", space))
    width = max(4, space.width - 14)
    lines = [
        line(
            (f"{drafts:>3}  ", MUTED),
            (bar(count / total, width, space.glyphs), DRAWN),
            f" {figures.percent(count / total):>7}",
        )
        for drafts, count in enumerate(counts)
    ]
    return Panel("ACCEPTED DRAFTS", "share of cycles", tuple(lines[: space.body_rows]))


def throughput_awaited(snapshot: Snapshot) -> str:
    """What has to happen before there is a throughput to show."""
    if snapshot.connection == "connecting":
        return "Waiting for the connection."
    if snapshot.server_phase in {"starting", "stopping"}:
        return "Waiting for the server to be ready."
    if snapshot.server_phase != "serving":
        return "Waiting for a server."
    note = harmless(snapshot.throughput_note)
    if note and not note.startswith("No decode lines yet"):
        return note
    return "No decode lines yet: waiting for traffic; press l to send load."


def accept_awaited(snapshot: Snapshot) -> str:
    """What has to happen before there is an accept length to show."""
    if snapshot.server_phase == "serving" and snapshot.settings.is_baseline:
        return "Speculation is off: one token per step."
    return throughput_awaited(snapshot)


def _awaited(text: str, space: Space) -> tuple[Content, ...]:
    return tuple(line((row, MUTED)) for row in wrap(text, space.width)[: space.body_rows])


def _largest(series: Series, value: float | None) -> float:
    known = [figures.finite(sample) for sample in (*series.values, value)]
    return max((sample for sample in known if sample is not None), default=0.0)


def _against_baseline(snapshot: Snapshot) -> Content:
    run = next((run for run in snapshot.runs if run.current), None)
    if run is None:
        return line("")
    if run.is_baseline:
        return line(("the baseline", MUTED))
    return against_baseline(run)


def against_baseline(run: RunRow) -> Content:
    """A run's difference from the baseline in words, marked when it may be noise."""
    ratio = figures.finite(run.change_vs_baseline)
    if ratio is None:
        return line(("no baseline run yet", MUTED))
    if run.significant is False:
        return line((f"{figures.change(ratio)} vs baseline, within noise", MUTED))
    return line((f"{figures.change(ratio)} vs baseline", GOOD if ratio > 0 else BAD))


def _computed(snapshot: Snapshot) -> Content:
    """The throughput computed from the cycle, where it differs too much from the measured one."""
    measured, computed = figures.finite(snapshot.throughput_now), figures.finite(snapshot.computed_tok_s)
    if computed is None or not measured:
        return line("")
    if abs(computed / measured - 1) <= UNACCOUNTED:
        return line((f"computed {figures.tokens_per_second(computed)}", MUTED))
    return line((f"computed {figures.tokens_per_second(computed)}, differs", BAD))


def _figure_and_line(
    figure: str,
    notes: list[Content],
    series: Series,
    ends: tuple[float, float],
    snapshot: Snapshot,
    space: Space,
) -> tuple[Content, ...]:
    """Big digits beside the notes where four rows are free, one bold figure otherwise; then the line."""
    known = [note for note in notes if note.plain]
    rows = space.body_rows
    if rows >= 4 and space.glyphs.name != "ascii":
        head = _big_head(figure, known, space.width)
    else:
        head = [_small_head(figure, known, space.width)]
    scale = figures.scale(*ends)
    width = space.width - len(scale) - 1
    drawn = sparkline(series, snapshot.offset_s, width, *ends, space.glyphs, rows=max(1, rows - len(head)))
    tail = [line((row, DRAWN), " ", (scale if row is drawn[0] else "", MUTED)) for row in drawn]
    return (*head, *tail)[: max(1, rows)]


def _small_head(figure: str, notes: list[Content], width: int) -> Content:
    """The figure and as many notes as fit whole."""
    head = line((f"{figure:>6}", FIGURE))
    for note in notes:
        longer = line(head, "  ", note)
        head = longer if longer.cell_length <= width else head
    return head


def _big_head(figure: str, notes: list[Content], width: int) -> list[Content]:
    shapes = big(figure)
    beside = [*notes, line(""), line(""), line("")]
    return [
        fit(line((shape, FIGURE), "   ", note), width) for shape, note in zip(shapes, beside, strict=False)
    ]
