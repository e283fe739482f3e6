"""Rank labels: which lines add up, which repeat each other, and which rank's word counts."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from specttui.events import DecodeStats

_DIMENSION = re.compile(r"([A-Z][A-Z_]*?)(\d+)$")
#: A server has a handful of labels and prints one in every line; what a label means is remembered.
_LABELS = 4096


def dimensions(label: str) -> dict[str, int]:
    """A rank label's parts: "DP1 PP0 TP2" is {"DP": 1, "PP": 0, "TP": 2}; "" has none."""
    found = (_DIMENSION.match(part) for part in label.split())
    return {match[1]: int(match[2]) for match in found if match is not None}


@lru_cache(maxsize=_LABELS)
def series_key(label: str) -> str:
    """What a line's figures are a series of: its data-parallel group ("DP1"), or "" without one.

    Requests are spread over DP groups, so their throughputs add up. TP, PP, EP and the ATTN_CP and MOE_DP
    ranks of one group work on the same requests and repeat each other.
    """
    group = dimensions(label).get("DP")
    return "" if group is None else f"DP{group}"


@lru_cache(maxsize=_LABELS)
def _order(label: str) -> tuple[int, ...]:
    parts = dimensions(label)
    return tuple(parts.get(name, 0) for name in ("PP", "ATTN_CP", "TP", "EP", "MOE_DP"))


class LoggingRanks:
    """Chooses one rank per DP group, so that duplicates of a line (all ranks log) never add up."""

    def __init__(self) -> None:
        self._chosen: dict[str, str] = {}

    def counts(self, label: str) -> bool:
        """Whether a line of this rank counts: it is the lowest of its group seen so far."""
        key = series_key(label)
        chosen = self._chosen.get(key)
        if chosen == label:
            return True
        if chosen is None or _order(label) < _order(chosen):
            self._chosen[key] = label
            return True
        return False


@dataclass(frozen=True, slots=True)
class SystemDecode:
    """The whole server at one moment: sums over DP groups, accept length weighted by running requests."""

    throughput_tok_s: float
    running: int
    queue: int
    accept_len: float | None
    groups: int


def system_decode(latest: Iterable[DecodeStats]) -> SystemDecode | None:
    """Add up the newest decode line of each DP group.

    Args:
        latest: One decode line per group, of the rank that `LoggingRanks` chose.

    Returns:
        The server's figures, or None if no line has a throughput.
    """
    lines = [line for line in latest if line.throughput_tok_s is not None]
    if not lines:
        return None
    weighted = [(line.accept_len, line.running or 1) for line in lines if line.accept_len is not None]
    weight = sum(running for _, running in weighted)
    return SystemDecode(
        throughput_tok_s=sum(line.throughput_tok_s or 0.0 for line in lines),
        running=sum(line.running or 0 for line in lines),
        queue=sum(line.queue or 0 for line in lines),
        accept_len=sum(length * running for length, running in weighted) / weight if weighted else None,
        groups=len(lines),
    )
