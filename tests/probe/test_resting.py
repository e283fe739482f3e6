"""The probe's own CPU time stays a small share of the time: where it would be more, it rests in between."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.fake_workers import EAGLE_V2
from support.probe_bench import ProbeBench, probe_bench

from specttui.events import Clock
from specttui.probe import control_content

CYCLES = 4000
#: (CPU ms a recorded event costs, the share of cycles that may be timed then), for a cycle of 8 to 9 ms with
#: four events: half a percent of it is 0.04 ms.
COSTS = [(0.002, 1.0, 1.0), (0.02, 0.4, 0.6), (0.04, 0.2, 0.33), (1.0, 0.14, 0.25)]


def decode_on(bench: ProbeBench, cycles: int, late: int = 0) -> None:
    """Decode for long, each cycle with counts of its own, which come `late` cycles later."""
    for index in range(cycles):
        bench.decode(1, index % 4, gap_ms=1.0)
        bench.machine.synchronize()
        if index >= late:
            bench.loaded.worker.on_verify_complete_cpu([(index - late) % 4])


@pytest.mark.parametrize(("record_ms", "least", "most"), COSTS)
def test_what_it_costs_decides_how_many_cycles_it_times(
    record_ms: float, least: float, most: float, tmp_path: Path
) -> None:
    with probe_bench(EAGLE_V2, "EAGLEWorkerV2", tmp_path) as bench:
        bench.machine.record_ms = record_ms
        decode_on(bench, CYCLES)
        bench.flush()
        time_ms = bench.machine.cpu_ms
        lines = bench.events("probe_cycles")
    timed = sum(len(line.batch) for line in lines)
    assert least <= timed / CYCLES <= most
    own_ms = sum(line.self_us * len(line.batch) for line in lines) / 1e3
    assert own_ms / time_ms < 0.006 or timed / CYCLES < 0.25  # it never rests for longer than four times
    assert lines[-1].timed_share == pytest.approx(timed / CYCLES, abs=0.1)
    known = [cycle for line in lines for cycle in line.cycle_ms if cycle is not None]
    assert max(known) - min(known) <= 6 * record_ms + 0.1  # no cycle_ms spans a rest
    assert len(known) >= 0.95 * timed


@pytest.mark.parametrize("late", [0, 1, 2])
def test_counts_that_come_in_a_rest_are_those_of_the_cycle_they_belong_to(late: int, tmp_path: Path) -> None:
    with probe_bench(EAGLE_V2, "EAGLEWorkerV2", tmp_path) as bench:
        bench.machine.record_ms = 0.1
        timed: list[int] = []
        begin = bench.probe.begin

        def noting_begin(*arguments: Any) -> Any:
            cycle = begin(*arguments)
            if cycle is not None:
                timed.append(len(bench.loaded.worker.completed) + late)
            return cycle

        bench.probe.begin = noting_begin
        decode_on(bench, 2000, late)
        bench.flush()
        lines = bench.events("probe_cycles")
    accepted = [value for line in lines for value in line.accepted]
    assert len(accepted) < 1000
    expected = [index % 4 for index in timed[late:]]
    assert accepted[late : len(expected)] == expected[: len(expected) - late]


def test_prefills_are_timed_in_a_rest_too(tmp_path: Path) -> None:
    with probe_bench(EAGLE_V2, "EAGLEWorkerV2", tmp_path) as bench:
        bench.machine.record_ms = 0.1
        for _ in range(200):
            decode_on(bench, 5)
            bench.prefill()
        bench.flush()
        lines = bench.events("probe_cycles")
        assert sum(len(line.batch) for line in lines) < 500
        assert sum(len(line.batch) for line in bench.events("probe_prefill")) == 200


def test_another_clock_does_not_begin_with_the_rest_of_the_one_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    control = tmp_path / "control"
    monkeypatch.setenv("SPECTTUI_PROBE_CONTROL", str(control))
    with probe_bench(EAGLE_V2, "EAGLEWorkerV2", tmp_path) as bench:
        bench.machine.record_ms = 1.0
        while bench.probe.rests_until < bench.machine.perf_counter() + 1.5:
            decode_on(bench, 1)
        control.write_text(control_content(Clock.SYNC))
        decode_on(bench, 200)
        bench.flush()
        dear = [line for line in bench.events("probe_cycles") if line.clock is Clock.SYNC]
    assert sum(len(line.batch) for line in dear) >= 200 - 60  # the control file is read twice a second
    assert {line.timed_share for line in dear} == {1.0}


def test_the_clock_that_is_there_to_be_dear_never_rests(tmp_path: Path) -> None:
    with probe_bench(EAGLE_V2, "EAGLEWorkerV2", tmp_path, clock=Clock.SYNC) as bench:
        decode_on(bench, 300)
        bench.flush()
        assert sum(len(line.batch) for line in bench.events("probe_cycles")) == 300
