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


#: Points closer than this to the first of their bucket come in a burst: their arrival tells nothing apart.
BUCKET_S = 0.05
#: Neighbours of which two are kept when a history is full.
_BLOCK = 4


@dataclass(slots=True)
class History:
    """Points (offset in s, value) of one metric, at most `capacity`.

    Of a burst (a backlog, a stall of the network) each moment's newest value is kept, and the one that is
    furthest from it. When full, each four neighbours of the older half are reduced to their least and
    greatest value. So spikes survive both.
    """

    capacity: int = 8192
    offsets_s: list[float] = field(default_factory=list)
    values: list[float | None] = field(default_factory=list)
    _bucket: int = 0

    def add(self, offset_s: float, value: float | None) -> None:
        """Append one point; None is a gap."""
        bucket, count = self._bucket, len(self.values)
        if count - bucket >= 2 and offset_s - self.offsets_s[bucket] < BUCKET_S:
            self._merge(bucket, offset_s, value)
            return
        if count > bucket and offset_s - self.offsets_s[bucket] >= BUCKET_S:
            self._bucket = count
        self.offsets_s.append(offset_s)
        self.values.append(value)
        if count >= self.capacity:
            self._thin()

    def series(self) -> Series:
        """All points kept."""
        span_s = self.offsets_s[-1] - self.offsets_s[0] if self.offsets_s else 0.0
        return Series(tuple(self.offsets_s), tuple(self.values), window_s=span_s)

    def newest(self, since_s: float) -> float | None:
        """The newest known value not older than `since_s`, or None."""
        for index in range(len(self.values) - 1, -1, -1):
            if self.offsets_s[index] < since_s:
                return None
            if self.values[index] is not None:
                return self.values[index]
        return None

    def recent(self, now_s: float, window_s: float) -> Series:
        """The points of the last `window_s` seconds before `now_s`."""
        start = bisect_left(self.offsets_s, now_s - window_s)
        return Series(tuple(self.offsets_s[start:]), tuple(self.values[start:]), window_s=window_s)

    def _merge(self, bucket: int, offset_s: float, value: float | None) -> None:
        """Put a point into a full bucket: the newest stays, and of the others what is furthest off."""
        if value is None:
            return
        first, last = self.values[bucket], self.values[-1]
        if first is None or (last is not None and abs(last - value) > abs(first - value)):
            self.values[bucket] = last
        self.values[-1], self.offsets_s[-1] = value, offset_s

    def _thin(self) -> None:
        older = self.capacity // 2 // _BLOCK * _BLOCK
        offsets_s: list[float] = []
        values: list[float | None] = []
        for start in range(0, older, _BLOCK):
            for index in _extremes(self.values, start, start + _BLOCK):
                offsets_s.append(self.offsets_s[index])
                values.append(self.values[index])
        self.offsets_s[:older] = offsets_s
        self.values[:older] = values
        self._bucket = len(self.values)


def _extremes(values: list[float | None], start: int, stop: int) -> list[int]:
    """Where the least and the greatest known value of a block stand, in order of time."""
    known = [(value, index) for index in range(start, stop) if (value := values[index]) is not None]
    return sorted({min(known)[1], max(known)[1]}) if known else [start]
