"""Gathers cycles and prefills, and turns them into lines of the wire format (specttui.events.probe)."""

from __future__ import annotations

import json
import os
from collections import Counter
from time import time
from typing import Any, Dict, List, Optional

from specttui.probe.block.cycle import _SpecttuiCycle
from specttui.probe.block.words import (
    _SPECTTUI_CYCLE_PHASES,
    _SPECTTUI_CYCLES_PER_LINE,
    _SPECTTUI_LINE_BYTES,
    _SPECTTUI_PHASES,
)
from specttui.probe.block.writer import _SpecttuiWriter

_SPECTTUI_ENCODE = json.JSONEncoder(separators=(",", ":")).encode


class _SpecttuiFigures:
    """One list per array of the wire format; cleared when written, so nothing grows."""

    def __init__(self, writer: _SpecttuiWriter) -> None:
        self.writer = writer
        self.rank = ""
        self.most = _SPECTTUI_CYCLES_PER_LINE
        self.sequence = 0
        self.dropped_cycles = 0
        self.timed_share = 1.0
        self.step_ms: List[float] = []
        self.cycles: List[_SpecttuiCycle] = []
        self.spare: List[_SpecttuiCycle] = []
        self.prefills: List[_SpecttuiCycle] = []

    def add(self, cycle: _SpecttuiCycle) -> None:
        """Take a settled cycle; a line holds figures of one clock."""
        kept = self.cycles if cycle.decode else self.prefills
        if kept and kept[0].clock is not cycle.clock:
            self.write()
        kept.append(cycle)

    def full(self) -> bool:
        """Whether another line is due whatever the time."""
        return len(self.cycles) >= self.most or len(self.prefills) >= self.most

    def own_s(self) -> float:
        """The probe's own CPU time in what was gathered, in seconds."""
        return sum([cycle.own_s for cycle in self.cycles]) + sum([cycle.own_s for cycle in self.prefills])

    def write(self) -> None:
        """Write what was gathered and make its records ready for use again."""
        self.writer.pay()
        if self.cycles:
            self._write_cycles(self.cycles)
        if self.prefills:
            self._write_prefills(self.prefills)
        self._recycle()

    def summarise(self) -> None:
        """One line of medians instead, for the ranks that do not write every cycle."""
        self.writer.pay()
        cycles = self.cycles
        if cycles:
            fields = self._head("probe_summary", cycles)
            fields["cycles"] = len(cycles)
            fields["median_cycle_ms"] = _specttui_median([cycle.cycle_ms for cycle in cycles])
            medians: Dict[str, float] = {}
            for index in range(_SPECTTUI_CYCLE_PHASES):
                median = _specttui_median([cycle.phase_ms[index] for cycle in cycles])
                if median is not None:
                    medians[_SPECTTUI_PHASES[index]] = median
            fields["median_phase_ms"] = medians
            self.writer.write(_specttui_line(fields))
        self._recycle()

    def put_back(self, cycle: _SpecttuiCycle) -> None:
        """Make a cycle's record ready for use again."""
        cycle.reset()
        self.spare.append(cycle)

    def _recycle(self) -> None:
        for cycle in self.cycles:
            self.put_back(cycle)
        for cycle in self.prefills:
            self.put_back(cycle)
        self.cycles.clear()
        self.prefills.clear()

    def _write_cycles(self, cycles: List[_SpecttuiCycle]) -> None:
        line = self._cycles_line(cycles)
        if len(line) >= _SPECTTUI_LINE_BYTES and len(cycles) > 1:
            half = len(cycles) // 2
            self._write_cycles(cycles[:half])
            self._write_cycles(cycles[half:])
        elif self.writer.write(line):
            self.dropped_cycles = self.writer.dropped = 0
            self.sequence += 1
            self.step_ms = []
        else:
            self.dropped_cycles += len(cycles)

    def _cycles_line(self, cycles: List[_SpecttuiCycle]) -> str:
        fields = self._head("probe_cycles", cycles)
        fields["sequence"] = self.sequence
        histogram = _specttui_histogram(cycles)
        fields["steps"] = [cycle.steps for cycle in cycles]
        fields["batch"] = [cycle.batch for cycle in cycles]
        fields["accepted"] = [cycle.accepted for cycle in cycles]
        fields["accept_histogram"] = histogram
        if self.step_ms:
            fields["draft_step_ms"] = [round(step, 3) for step in self.step_ms]
        fields["dropped_cycles"] = self.dropped_cycles
        fields["dropped_lines"] = self.writer.dropped
        if self.timed_share < 1:
            fields["timed_share"] = self.timed_share
        fields["self_us"] = round(sum([cycle.own_s for cycle in cycles]) / len(cycles) * 1e6, 1)
        arrays = '"cycle_ms":' + _specttui_numbers([cycle.cycle_ms for cycle in cycles])
        phase_ms = list(zip(*[cycle.phase_ms for cycle in cycles]))[:_SPECTTUI_CYCLE_PHASES]
        cpu_ms = list(zip(*[cycle.cpu_ms for cycle in cycles]))[:_SPECTTUI_CYCLE_PHASES]
        arrays += ',"phase_ms":{' + _specttui_phases(phase_ms, 0) + "}"
        arrays += ',"cpu_ms":{' + _specttui_phases(cpu_ms, 0) + "}"
        return _specttui_line(fields)[:-1] + "," + arrays + "}"

    def _write_prefills(self, prefills: List[_SpecttuiCycle]) -> None:
        fields = self._head("probe_prefill", prefills)
        fields["batch"] = [prefill.batch for prefill in prefills]
        fields["tokens"] = [prefill.tokens for prefill in prefills]
        columns = list(zip(*[prefill.phase_ms for prefill in prefills]))[_SPECTTUI_CYCLE_PHASES:]
        phases = _specttui_phases(columns, _SPECTTUI_CYCLE_PHASES)
        self.writer.write(_specttui_line(fields)[:-1] + ',"phase_ms":{' + phases + "}}")

    def _head(self, kind: str, records: List[_SpecttuiCycle]) -> Dict[str, Any]:
        fields = _specttui_head(kind, self.rank)
        fields["clock"] = records[0].clock.name
        fields["time_s"] = round(time(), 3)
        return fields


def _specttui_head(kind: str, rank: str) -> Dict[str, Any]:
    """The fields every line begins with."""
    return {"kind": kind, "v": 1, "pid": os.getpid(), "rank": rank}


def _specttui_line(fields: Dict[str, Any]) -> str:
    """A line of the wire format."""
    return "[specttui] " + _SPECTTUI_ENCODE(fields)


def _specttui_numbers(values: Any) -> str:
    """A JSON array of milliseconds with three decimals; formatting it here is cheaper than rounding."""
    try:
        return "[" + ",".join(["%.3f"] * len(values)) % tuple(values) + "]"
    except TypeError:  # some are None; not asking first saves an eighth of the time
        return "[" + ",".join(["null" if value is None else "%.3f" % value for value in values]) + "]"


def _specttui_phases(columns: List[Any], first: int) -> str:
    """The members of a JSON object of phases, without those that no record has."""
    members = []
    for index, column in enumerate(columns):
        if column[0] is not None or column.count(None) < len(column):
            members.append('"' + _SPECTTUI_PHASES[first + index] + '":' + _specttui_numbers(column))
    return ",".join(members)


def _specttui_histogram(cycles: List[_SpecttuiCycle]) -> List[int]:
    """How many requests had 0, 1, 2, ... drafts accepted; fills each cycle's sum."""
    every: List[int] = []
    for cycle in cycles:
        if cycle.counts is not None:
            every += cycle.counts
            cycle.accepted = sum(cycle.counts)
    found = Counter(every)
    return [found[count] for count in range(max(found) + 1)] if found else []


def _specttui_median(values: List[Optional[float]]) -> Optional[float]:
    """The median of the known values, None without any."""
    known = sorted([value for value in values if value is not None])
    if not known:
        return None
    middle = len(known) // 2
    return round(known[middle] if len(known) % 2 else (known[middle - 1] + known[middle]) / 2, 3)
