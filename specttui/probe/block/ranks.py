"""Which rank this process is, without asking anything that could fail or wait."""

from __future__ import annotations

import re
import sys
from typing import Any, Dict

# Rank dimensions as they stand in a scheduler's title and in the prefix of its log lines.
_SPECTTUI_RANK = re.compile(r"_((?:ATTN_|MOE_)?[A-Z]{2})(\d+)")


def _specttui_rank(worker: Any) -> str:
    """The rank as the log prints it ("TP0", "DP1 TP2"), "" when there is only one or it is unknown."""
    title = _specttui_title()
    if "scheduler" in title:
        parts = _SPECTTUI_RANK.findall(title.split("scheduler", 1)[1])
        if parts:
            return " ".join(name + number for name, number in parts)
    holder = getattr(worker, "ps", None)
    rank = getattr(worker, "tp_rank", None)
    rank = getattr(holder, "tp_rank", rank)
    distributed = _specttui_distributed()
    if not isinstance(rank, int) and distributed is not None:
        rank = distributed.get_rank()
    if not isinstance(rank, int):
        return ""
    several = distributed is not None and distributed.get_world_size() > 1
    return "TP" + str(rank) if rank or several else ""


def _specttui_title() -> str:
    """The process title, if SGLang set one."""
    module = sys.modules.get("setproctitle")
    return str(module.getproctitle()) if module is not None else ""


def _specttui_distributed() -> Any:
    """torch.distributed when it is up, else None."""
    module = sys.modules.get("torch.distributed")
    return module if module is not None and module.is_available() and module.is_initialized() else None


def _specttui_writes_cycles(worker: Any, rank: str) -> bool:
    """Whether this rank is the first of its group: it writes every cycle, the others a summary.

    With attention data parallelism, TP ranks are split over the DP groups; each group has its own first.
    """
    parts: Dict[str, int] = {
        name: int(number) for name, number in _SPECTTUI_RANK.findall("_" + rank.replace(" ", "_"))
    }
    if parts.get("ATTN_CP", 0):
        return False
    tensor = parts.get("TP", 0)
    arguments = getattr(worker, "server_args", None)
    if getattr(arguments, "enable_dp_attention", False) is True:
        groups = max(int(getattr(arguments, "dp_size", 1)), 1)
        return tensor % max(int(getattr(arguments, "tp_size", 1)) // groups, 1) == 0
    return tensor == 0
