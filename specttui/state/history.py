"""Metrics over the whole session, bounded: old points are thinned, never lost altogether."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, field

from specttui.state.snapshot import Series

#: What the timeline can show: key -> title with unit.
HISTORY_METRICS = {
    "throughput": "throughput, tok/s, server",
    "accept_len": "accept length, tokens per cycle",
    "cycle": "cycle, ms",
    "draft": "draft, ms",
    "verify": "verify, ms",
    "target_forward": "target forward, ms",
    "accept": "accept, ms",
    "draft_extend": "draft extend, ms",
    "kv": "KV bookkeeping, ms",
    "running": "running requests",
    "gpu_memory": "GPU memory used, GiB, all GPUs",
    "gpu_power": "GPU power, W, all GPUs",
}


@dataclass(slots=True)
class History:
    """Points (offset in s, value) of one metric, at most `capacity`.

    When full, each four neighbours of the older half are reduced to their least and greatest value, so
    spikes survive the thinning.
    """

    capacity: int = 8192
    offsets_s: list[float] = field(default_factory=list)
    values: list[float | None] = field(default_factory=list)

    def add(self, offset_s: float, value: float | None) -> None:
        """Append one point; None is a gap."""
        self.offsets_s.append(offset_s)
        self.values.append(value)
        if len(self.values) > self.capacity:
            self._thin()

    def series(self) -> Series:
        """All points kept."""
        span_s = self.offsets_s[-1] - self.offsets_s[0] if self.offsets_s else 0.0
        return Series(tuple(self.offsets_s), tuple(self.values), window_s=span_s)

    def recent(self, now_s: float, window_s: float) -> Series:
        """The points of the last `window_s` seconds before `now_s`."""
        start = bisect_left(self.offsets_s, now_s - window_s)
        return Series(tuple(self.offsets_s[start:]), tuple(self.values[start:]), window_s=window_s)

    def _thin(self) -> None:
        block = 4
        older = self.capacity // 2 // block * block
        offsets_s: list[float] = []
        values: list[float | None] = []
        for start in range(0, older, block):
            for index in _extremes(self.values, start, start + block):
                offsets_s.append(self.offsets_s[index])
                values.append(self.values[index])
        self.offsets_s[:older] = offsets_s
        self.values[:older] = values


def _extremes(values: list[float | None], start: int, stop: int) -> list[int]:
    """Where the least and the greatest known value of a block stand, in order of time."""
    known = [(value, index) for index in range(start, stop) if (value := values[index]) is not None]
    return sorted({min(known)[1], max(known)[1]}) if known else [start]
