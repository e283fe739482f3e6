"""The milestones of a start-up, in the words of every release."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Literal

from specttui.events import StartupStep
from specttui.log.phases import StartupPosition
from specttui.log.prefix import Prefixed

Edge = Literal["begin", "progress", "end"]
_MAX_DETAIL = 200
_ELAPSED = re.compile(r"(?:Time elapsed: |elapsed=)(\d{1,9}(?:\.\d{1,9})?) ?s")
# "Capture cuda graph begin", "Capture draft extend cuda graph end", "Capture target verify CUDA graph begin",
# "Capture Frozen-KV MTP draft cuda graph end".
_CAPTURE = re.compile(
    r"capture (?P<name>[\w \-()=,]{0,60}?) ?(?:cuda|cpu|npu|musa|xpu) graph (?P<edge>begin|end)\b"
)


def milestone(line: Prefixed, position: StartupPosition) -> StartupStep | None:
    """Read a milestone and note it in the position.

    Args:
        line: A line taken apart.
        position: Where the start-up is; updated.

    Returns:
        The step, or None if the line is no milestone.
    """
    reader = _READERS.get(line.body.partition(" ")[0])
    step = reader(line, position) if reader is not None else _literal(line)
    if step is not None:
        position.enter(line.rank, step.phase)
    return step


def _step(line: Prefixed, phase: str, edge: Edge) -> StartupStep:
    elapsed = _ELAPSED.search(line.body)
    return StartupStep(
        rank=line.rank,
        stamp=line.stamp,
        phase=phase,
        edge=edge,
        detail=line.body[:_MAX_DETAIL],
        elapsed_s=float(elapsed[1]) if elapsed else None,
    )


def _distributed(line: Prefixed, position: StartupPosition) -> StartupStep | None:
    if not line.body.startswith("Init torch distributed "):
        return None
    begins = line.body.startswith("Init torch distributed begin")
    if position.has_loaded(line.rank):
        # The draft model's worker joins the group that exists: part of building the draft.
        return _step(line, "draft_weights", "begin" if begins else "progress")
    return _step(line, "distributed", "begin" if begins else "end")


def _weights(line: Prefixed, position: StartupPosition) -> StartupStep | None:
    phase = position.weights_phase(line.rank, line.body)
    if line.body.startswith("Load weight begin"):
        return _step(line, phase, "begin")
    if line.body.startswith("Load weight end"):
        position.loaded(line.rank)
        return _step(line, phase, "end")
    return None


def _capture(line: Prefixed, position: StartupPosition) -> StartupStep | None:
    del position
    found = _CAPTURE.match(line.body[:_MAX_DETAIL].lower())
    if found is None:
        return None
    name = found["name"]
    phase = "extend_graphs" if "extend" in name else "draft_graphs" if "draft" in name else "graphs"
    return _step(line, phase, "begin" if found["edge"] == "begin" else "end")


def _uvicorn(line: Prefixed, position: StartupPosition) -> StartupStep | None:
    message = line.body.partition(" ")[2].lstrip()
    if position.ready or not message.startswith(("Started server", "Application startup", "Uvicorn running")):
        return None
    return _step(line, "warmup", "progress")


def _nccl_version(line: Prefixed, position: StartupPosition) -> StartupStep | None:
    if not line.body.startswith("sglang is using nccl") or position.has_loaded(line.rank):
        return None
    return _step(line, "distributed", "progress")


_READERS: dict[str, Callable[[Prefixed, StartupPosition], StartupStep | None]] = {
    "Init": _distributed,
    "Load": _weights,
    "Capture": _capture,
    "INFO:": _uvicorn,
    "sglang": _nccl_version,
}
#: Milestones that a line's beginning tells alone.
_LITERAL: tuple[tuple[str, str, Edge], ...] = (
    ("Using KV cache dtype", "kv_cache", "begin"),
    ("KV Cache is allocated", "kv_cache", "progress"),
    ("Memory pool end", "kv_cache", "end"),
    ("max_total_num_tokens=", "warmup", "begin"),
    ("The server is fired up and ready to roll!", "ready", "end"),
)
_LITERAL_STARTS = tuple(start for start, _, _ in _LITERAL)


def _literal(line: Prefixed) -> StartupStep | None:
    if not line.body.startswith(_LITERAL_STARTS):
        return None
    return next(_step(line, phase, edge) for start, phase, edge in _LITERAL if line.body.startswith(start))
