"""The cycle breakdown: where each millisecond of a decode cycle goes."""

from __future__ import annotations

from textual.content import Content

from specttui.events import Clock, Phase
from specttui.state.snapshot import CycleView, PhaseRow, ProbeView, RankRow, Snapshot
from specttui.ui.render import figures
from specttui.ui.render.bars import bar
from specttui.ui.render.panel import Panel, Space
from specttui.ui.render.sparkline import sparkline
from specttui.ui.render.text import MUTED, WARN, cut, fit, harmless, left, line

#: What the phases are called on the screen.
PHASE_NAMES = {
    Phase.DRAFT: "draft",
    Phase.VERIFY: "verify",
    Phase.TARGET_FORWARD: "target fwd",
    Phase.ACCEPT: "accept",
    Phase.DRAFT_EXTEND: "draft extend",
    Phase.KV: "kv",
    Phase.OTHER: "other",
    Phase.PREFILL_TARGET: "prefill target",
    Phase.PREFILL_DRAFT: "prefill draft",
}

#: A phase's colour, beside its name and its figure.
PHASE_STYLES = {
    Phase.VERIFY: "$primary",
    Phase.TARGET_FORWARD: "$primary-darken-1",
    Phase.ACCEPT: "$primary-darken-1",
    Phase.DRAFT: "$accent",
    Phase.DRAFT_EXTEND: "$secondary",
    Phase.KV: "$secondary",
    Phase.OTHER: "$foreground-muted",
}

_CLOCK_WORDS = {
    Clock.EVENTS: "GPU time",
    Clock.WALL: "CPU time",
    Clock.SYNC: "sync time, distorted",
    Clock.OFF: "probe off",
}
_NAME_WIDTH = 15
_CPU_FROM_WIDTH = 92
_LINE_WIDTHS = ((140, 24), (110, 16), (0, 8))


def cycle_panel(snapshot: Snapshot, cycle: CycleView, space: Space) -> Panel:
    """The phases of the cycle, each with bar, share, median, p95 and its last window.

    Parts of verify stand indented beneath it; the other rows and `other` sum to 100 %.
    """
    with_cpu = space.width >= _CPU_FROM_WIDTH
    line_width = next(cells for width, cells in _LINE_WIDTHS if space.width >= width)
    figures_width = 9 + 8 + 8 + (8 if with_cpu else 0) + 2 + line_width
    bar_width = max(4, space.width - _NAME_WIDTH - figures_width)
    rows = visible_rows(cycle.rows, space.body_rows - (1 if space.framed else 0))
    lines = [_row(row, snapshot.offset_s, space, (bar_width, line_width), with_cpu=with_cpu) for row in rows]
    window = next((row.series.window_s for row in rows if row.series.values), 60.0)
    lines.extend(_notes(cycle, snapshot, space.width))
    return Panel(
        "CYCLE", caption(cycle), tuple(lines), _columns(window, line_width, with_cpu=with_cpu, space=space)
    )


def caption(cycle: CycleView) -> str:
    """The cycle's figure with its unit, clock and window."""
    clock = _CLOCK_WORDS[cycle.clock] if cycle.clock else "from the log"
    return f"{figures.milliseconds(cycle.cycle_ms)} ms, {clock}, last {cycle.cycles} cycles"


def visible_rows(rows: tuple[PhaseRow, ...], room: int) -> tuple[PhaseRow, ...]:
    """The rows that fit: where they do not, parts of phases give way first, then what is unavailable."""
    if len(rows) <= room:
        return rows
    whole = tuple(row for row in rows if row.part_of is None)
    if len(whole) <= room:
        return whole
    return tuple(row for row in whole if row.available)[: max(0, room)]


def _columns(window_s: float, line_width: int, *, with_cpu: bool, space: Space) -> Content:
    text = f"{'share':>8} {'median':>7} {'p95':>7}" + (f" {'CPU':>7}" if with_cpu else "")
    tail = f"{figures.window(window_s)}, 0-max" if line_width > 12 else figures.window(window_s)
    text += f"  {left(tail, line_width, space.glyphs)}"
    if space.framed:
        text = text.rjust(space.width)
    return line((text, MUTED))


def _row(row: PhaseRow, end_s: float, space: Space, widths: tuple[int, int], *, with_cpu: bool) -> Content:
    bar_width, line_width = widths
    style = PHASE_STYLES.get(row.phase, "$foreground")
    indent = "  " if row.part_of else ""
    name = left(indent + PHASE_NAMES[row.phase], _NAME_WIDTH, space.glyphs)
    if not row.available:
        reason = cut(
            f"n/a: {harmless(row.reason) or 'not seen by this probe'}",
            space.width - _NAME_WIDTH,
            space.glyphs,
        )
        return line((name, MUTED), (reason, MUTED))
    name_style = MUTED if row.part_of else "$foreground"
    figure = (
        f" {figures.percent(row.share):>8} {figures.milliseconds(row.median_ms):>7}"
        f" {figures.milliseconds(row.p95_ms):>7}"
    )
    if with_cpu:
        figure += f" {figures.milliseconds(row.cpu_median_ms):>7}"
    largest = max(
        (value for value in map(figures.finite, row.series.values) if value is not None), default=0.0
    )
    drawn = sparkline(row.series, end_s, line_width, 0.0, figures.nice_ceiling(largest), space.glyphs)[0]
    return line(
        (name, name_style), (bar(row.share, bar_width, space.glyphs), style), (figure, name_style), "  ",
        (drawn, style),
    )  # fmt: skip


def _notes(cycle: CycleView, snapshot: Snapshot, width: int) -> list[Content]:
    notes: list[Content] = []
    if cycle.host_bound:
        notes.append(line(("host-bound: the CPU is the limit, the GPUs wait for it", WARN)))
    if cycle.note:
        notes.append(line((harmless(cycle.note), MUTED)))
    notes.extend(line((text, MUTED)) for text in probe_notes(snapshot.probe))
    if (spread := rank_spread(snapshot.ranks)) is not None:
        notes.append(line((spread, MUTED)))
    return [fit(note, width) for note in notes]


def probe_notes(probe: ProbeView) -> list[str]:
    """Single draft steps, the probe's cost and SGLang's own timers, as far as they were measured."""
    notes = []
    if probe.timed_share < 1:
        share = f"{100 * probe.timed_share:.0f} %"
        notes.append(f"the probe times {share} of the cycles, to take less than 0.5 % of the time")
    if probe.draft_step_ms:
        steps = " ".join(figures.milliseconds(step_ms) for step_ms in probe.draft_step_ms)
        notes.append(f"draft forwards, each: {steps} ms")
    if probe.cost is not None:
        low, high = 100 * probe.cost.low, 100 * probe.cost.high
        notes.append(
            f"the probe costs {100 * probe.cost.value:+.1f} % of the cycle (95 %: {low:+.1f} to {high:+.1f})"
        )
    if probe.cross_check:
        notes.append(probe.cross_check)
    return notes


def rank_spread(ranks: tuple[RankRow, ...]) -> str | None:
    """The slowest rank and the distance to the fastest, in words; None below two known ranks."""
    known = [(figures.finite(rank.cycle_ms), rank.rank) for rank in ranks]
    times = sorted((cycle_ms, harmless(rank)) for cycle_ms, rank in known if cycle_ms)
    if len(times) < 2:
        return None
    (fast_ms, _), (slow_ms, slowest) = times[0], times[-1]
    return (
        f"ranks: slowest {slowest} at {figures.milliseconds(slow_ms)} ms,"
        f" {figures.percent(slow_ms / fast_ms - 1)} above the fastest of {len(times)}"
    )
