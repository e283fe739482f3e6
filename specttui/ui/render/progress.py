"""A server on its way up or down: a bar, an estimate, and when it was last heard of."""

from __future__ import annotations

from textual.content import Content

from specttui.state.snapshot import ProgressView, Snapshot
from specttui.ui.render import figures
from specttui.ui.render.bars import bar
from specttui.ui.render.panel import Panel, Space
from specttui.ui.render.text import DRAWN, MUTED, STRONG, WARN, fit, harmless, line, wrap

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


def progress_panel(snapshot: Snapshot, space: Space) -> Panel:
    """The start-up in progress."""
    title = "STOPPING" if snapshot.server_phase == "stopping" else "STARTING"
    progress = snapshot.progress
    if progress is None:
        detail = harmless(snapshot.server_detail) or "waiting for the first sign of life"
        return Panel(title, "", tuple(line((row, STRONG)) for row in wrap(detail, space.width)))
    name = STARTUP_NAMES.get(progress.phase, harmless(progress.phase))
    lines = [
        line((name, STRONG), (f"  {harmless(progress.detail)}" if progress.detail else "", MUTED)),
        _bar_line(progress, space),
        _time_line(progress),
    ]
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
