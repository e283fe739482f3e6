"""SGLang's own lines: which reader reads which line."""

from __future__ import annotations

import re
from collections.abc import Sequence

from specttui.events import Event, LogNotice, MemoryPressure, StartupStep
from specttui.log.adjustments import adaptive_switch, adjustment
from specttui.log.arguments import server_arguments
from specttui.log.batches import prefill_stats
from specttui.log.milestones import milestone
from specttui.log.phases import StartupPosition
from specttui.log.prefix import Prefixed

_MAX_DETAIL = 300
_RETRACTED = re.compile(r"#retracted_reqs: (\d{1,9})")
_PRESSURE = ("KV cache pool is full. Retract requests.", "Decode out of memory happened.")
_SUPPRESSED = re.compile(r"Suppressed (\d{1,12}) messages from (\S{1,200})")
#: Where a server says that it stops because it was asked to.
STOPPING = ("SIGTERM received.", "Gracefully exiting...")


def read_line(line: Prefixed, position: StartupPosition) -> Sequence[Event]:
    """Read any line but decode, access-log and probe lines.

    Args:
        line: A line taken apart.
        position: Where the start-up is; updated by what the line says.

    Returns:
        The events in it, none for a line that is only text.
    """
    body = line.body
    if body.startswith("server_args="):
        return _arguments(line, position)
    if body.startswith("Prefill batch"):
        prefill = prefill_stats(line)
        return () if prefill is None else (prefill,)
    event = (
        milestone(line, position)
        or adaptive_switch(line)
        or _pressure(line)
        or adjustment(line)
        or _notice(line)
    )
    return () if event is None else (event,)


def _arguments(line: Prefixed, position: StartupPosition) -> Sequence[Event]:
    arguments = server_arguments(line)
    if arguments is None:
        return ()
    position.reset()
    position.enter(line.rank, "init")
    return arguments, StartupStep(rank=line.rank, stamp=line.stamp, phase="init", edge="begin")


def _pressure(line: Prefixed) -> MemoryPressure | None:
    if not line.body.startswith(_PRESSURE):
        return None
    retracted = _RETRACTED.search(line.body)
    return MemoryPressure(
        rank=line.rank,
        stamp=line.stamp,
        retracted=int(retracted[1]) if retracted else None,
        text=line.body[:_MAX_DETAIL],
    )


def _notice(line: Prefixed) -> LogNotice | None:
    if line.body.startswith(STOPPING):
        what = "draining" if line.body.startswith("SIGTERM") else "graceful_exit"
        return LogNotice(rank=line.rank, stamp=line.stamp, what=what, detail=line.body[:_MAX_DETAIL])
    suppressed = _SUPPRESSED.match(line.body)
    if suppressed is not None:
        return LogNotice(what="suppressed", detail=f"{suppressed[1]} lines of {suppressed[2]}")
    return None
