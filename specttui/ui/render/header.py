"""The top of the screen: where we are, what runs, and in which state everything is."""

from __future__ import annotations

from dataclasses import dataclass

from rich.cells import cell_len
from textual.content import Content

from specttui.events import Clock, FileState, Gpu, ServerInfo
from specttui.state.snapshot import Snapshot
from specttui.ui.render import figures
from specttui.ui.render.glyphs import Glyphs
from specttui.ui.render.text import (
    BAD,
    GOOD,
    MUTED,
    STRONG,
    WARN,
    cut,
    cut_middle,
    fit,
    harmless,
    line,
    spread,
)

#: What the probe's clock is called on the screen.
CLOCK_NAMES = {
    Clock.EVENTS: "GPU clock",
    Clock.WALL: "CPU clock",
    Clock.SYNC: "sync clock, distorts",
    Clock.OFF: "probe off",
}


@dataclass(frozen=True, slots=True)
class View:
    """How the screen is being looked at, which no snapshot knows.

    `paused_s` is how long the screen has been frozen, None while it is not.
    """

    paused_s: float | None = None
    replay: bool = False
    readonly: bool = False


def title_line(snapshot: Snapshot, view: View, width: int, glyphs: Glyphs) -> Content:
    """The first line: host, model, version and parallelism; badges at the right."""
    badges = _badges(snapshot, view)
    room = width - badges.cell_length - 1
    words = _server_words(snapshot, glyphs)
    target = cut(harmless(snapshot.target) or "no host", 32, glyphs)
    if snapshot.nodes:  # their names follow below; how many there are must not be lost here
        target = cut(target, room - cell_len(f"specttui    {words[0]}"), glyphs) or words.pop(0)
    start = line(("specttui", STRONG), (f"  {target}", STRONG))
    for text in words:
        longer = line(start, "  ", text)
        if longer.cell_length <= room:
            start = longer
    return spread(start, badges, width)


def _server_words(snapshot: Snapshot, glyphs: Glyphs) -> list[str]:
    """What runs, the most important first; on several hosts that is how many."""
    server, count = snapshot.server, len(snapshot.nodes)
    if server is None:
        return [f"{count} nodes"] if count else []
    words = [cut_middle(model_name(server.model_path), 28, glyphs)]
    if server.sglang_version:
        words.append(f"sglang {harmless(server.sglang_version)}")
    if count:
        words.insert(0, f"{parallelism(server)} on {count} nodes")
    else:
        words.append(parallelism(server))
    return [word for word in words if word]


def model_name(path: str) -> str:
    """A model's short name: the last part of its path or repository, and of a cache path its model."""
    parts = [part for part in harmless(path).split("/") if part]
    cached = next((part for part in reversed(parts) if part.startswith("models--")), "")
    return cached.removeprefix("models--").split("--")[-1] if cached else (parts[-1] if parts else "")


def parallelism(server: ServerInfo) -> str:
    """Tensor, data and pipeline parallelism as "TP8 DP2"; tensor parallelism is always named."""
    words = [f"TP{server.tensor_parallel}"]
    if server.data_parallel > 1:
        words.append(f"DP{server.data_parallel}")
    if server.pipeline_parallel > 1:
        words.append(f"PP{server.pipeline_parallel}")
    return " ".join(words)


def _badges(snapshot: Snapshot, view: View) -> Content:
    word, style = liveness(snapshot, view)
    parts = [line((word, style))]
    if view.readonly:
        parts.append(line(("READONLY", WARN)))
    if (file_state := _file_state(snapshot)) is not None:
        parts.append(line(file_state))
    if snapshot.probe.clock is not None:
        parts.append(line((CLOCK_NAMES[snapshot.probe.clock], MUTED)))
    return Content("  ").join(parts)


def liveness(snapshot: Snapshot, view: View) -> tuple[str, str]:
    """The one word on what the screen shows at this moment, with its style."""
    if view.paused_s is not None:
        return f"PAUSED {figures.duration(view.paused_s)}", WARN
    if view.replay:
        return "REPLAY", WARN
    words = {
        "connecting": ("CONNECTING", WARN),
        "retrying": ("RETRYING", WARN),
        "down": ("DISCONNECTED", BAD),
        "none": ("LOG", WARN),
    }
    return words.get(snapshot.connection, ("DEMO" if snapshot.mode == "demo" else "LIVE", GOOD))


def _file_state(snapshot: Snapshot) -> tuple[str, str] | None:
    state = snapshot.worker_file.state if snapshot.worker_file else None
    if state is None and snapshot.server is not None:
        state = snapshot.server.worker.state
    styles = {FileState.PATCHED: WARN, FileState.FOREIGN: BAD, FileState.ORIGINAL: GOOD}
    return None if state not in styles else (state.value.upper(), styles[state])


def chips_line(snapshot: Snapshot, width: int) -> Content:
    """The second line: the configuration in short, what the server changed about it, and the run's place."""
    parts: list[Content] = []
    for chip in snapshot.chips:
        changed = any(chip.startswith(name) for name in snapshot.changed_settings)
        parts.append(line((harmless(chip), STRONG), ("*", WARN) if changed else ""))
    if not parts:
        parts = [line(("no configuration known yet", MUTED))]
    return spread(Content("  ").join(parts), line((_right_words(snapshot), MUTED)), width)


def _right_words(snapshot: Snapshot) -> str:
    words = [harmless(snapshot.load)] if snapshot.load else []
    if snapshot.running is not None:
        words.append(f"{snapshot.running} running" + (f", {snapshot.queue} queued" if snapshot.queue else ""))
    current = next((index for index, run in enumerate(snapshot.runs, 1) if run.current), None)
    if current is not None:
        words.append(f"run {current} of {len(snapshot.runs)}")
    return "  ".join(words)


def gpu_line(gpus: tuple[Gpu, ...], width: int) -> Content:
    """All GPUs on one line: names, and the spread of load, memory, power and heat over them."""
    if not gpus:
        return line(("GPU  ", MUTED), ("no figures: nvidia-smi was not found or has not answered yet", MUTED))
    names = sorted({harmless(gpu.name).removeprefix("NVIDIA ") for gpu in gpus if gpu.name})
    used = sum(gpu.memory_used_mib for gpu in gpus)
    total = sum(gpu.memory_total_mib for gpu in gpus)
    text = line(
        ("GPU  ", MUTED), (f"{len(gpus)} x {', '.join(names) or 'GPU'}", STRONG),
        ("   load ", MUTED), value_range([gpu.utilisation_percent for gpu in gpus], "%"),
        ("   memory ", MUTED), f"{figures.gibibytes(used)} of {figures.gibibytes(total)} GiB",
        ("   power ", MUTED), value_range([gpu.power_w for gpu in gpus], "W each"),
        ("   ", MUTED), value_range([gpu.temperature_c for gpu in gpus], "C"),
    )  # fmt: skip
    return fit(text, width)


def value_range(values: list[float | None], unit: str) -> str:
    """The smallest and largest of some values, "96-99 %", or one where they agree."""
    known = [value for value in map(figures.finite, values) if value is not None]
    if not known:
        return figures.MISSING
    low, high = f"{min(known):.0f}", f"{max(known):.0f}"
    return f"{low} {unit}" if low == high else f"{low}-{high} {unit}"
