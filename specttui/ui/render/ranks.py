"""The ranks side by side, and the GPUs one by one: for screens with room."""

from __future__ import annotations

from specttui.events import Gpu, Phase
from specttui.state.snapshot import RankRow
from specttui.ui.render import figures
from specttui.ui.render.bars import bar
from specttui.ui.render.panel import Panel, Space
from specttui.ui.render.text import DRAWN, MUTED, harmless, left, line


def ranks_panel(ranks: tuple[RankRow, ...], space: Space) -> Panel:
    """Each rank's median cycle, its bar from zero to the slowest, and its verify time."""
    if not ranks:
        text = "Each rank reports about once a second while it decodes."
        return Panel("RANKS", "median cycle, ms", (line((text, MUTED)),))
    rows = space.body_rows - (1 if space.framed else 0)
    caption = "median ms, > slowest"
    slowest = max(figures.finite(rank.cycle_ms) or 0.0 for rank in ranks) or 1.0
    if (hidden := len(ranks) - rows) > 0:
        caption += f" first, +{hidden} more"
        ranks = tuple(sorted(ranks, key=lambda rank: -(figures.finite(rank.cycle_ms) or 0.0))[: max(0, rows)])
    times = [figures.finite(rank.cycle_ms) or 0.0 for rank in ranks]
    bar_width = max(4, space.width - 30)
    lines = []
    for rank, cycle_ms in zip(ranks, times, strict=True):
        marker = ">" if cycle_ms == slowest and len(ranks) > 1 else " "
        lines.append(
            line(
                f"{marker}{left(harmless(rank.rank) or '-', 11, space.glyphs)}",
                (bar(cycle_ms / slowest, bar_width, space.glyphs), DRAWN),
                f" {figures.milliseconds(rank.cycle_ms):>7}",
                (f" {figures.milliseconds(rank.phase_ms.get(Phase.VERIFY)):>8}", MUTED),
            )
        )
    heading = line(
        (f"{'cycle':>{space.width - 10}} {'verify':>8}" if space.framed else "cycle   verify", MUTED)
    )
    return Panel("RANKS", caption, tuple(lines), heading)


def gpus_panel(gpus: tuple[Gpu, ...], space: Space) -> Panel:
    """Each GPU's load, memory, power and heat."""
    caption = "load, memory, power, heat"
    if not gpus:
        return Panel("GPUS", caption, (line(("nvidia-smi has not answered yet", MUTED)),))
    bar_width = max(4, space.width - 38)
    lines = [
        line(
            (f"{gpu.index:>3}  ", MUTED),
            (bar((figures.finite(gpu.utilisation_percent) or 0.0) / 100, bar_width, space.glyphs), DRAWN),
            f" {figures.decimals(gpu.utilisation_percent, 0):>3} %"
            f" {figures.gibibytes(gpu.memory_used_mib):>4}/{figures.gibibytes(gpu.memory_total_mib)} GiB"
            f" {figures.decimals(gpu.power_w, 0):>4} W {figures.decimals(gpu.temperature_c, 0):>3} C",
        )
        for gpu in gpus
    ]
    return Panel("GPUS", caption, tuple(lines))
