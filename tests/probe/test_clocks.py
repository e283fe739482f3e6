"""Clocks: what each says, how the control file switches them, and what costs nothing."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.fake_workers import EAGLE_V1, EAGLE_V2, Batch
from support.probe_bench import ProbeBench, probe_bench

from specttui.events import Clock, Phase
from specttui.probe import control_content


def set_clock(bench: ProbeBench, path: Path, clock: Clock) -> None:
    """Write the control file as the session does, and let half a second pass."""
    scratch = path.with_suffix(".new")
    scratch.write_text(control_content(clock))
    scratch.replace(path)
    bench.machine.cpu(600)


def test_events_split_what_the_wall_clock_blurs(tmp_path: Path) -> None:
    with probe_bench(EAGLE_V1, "EAGLEWorker", tmp_path) as bench:
        bench.decode(5, 2)
        bench.flush()
        [line] = bench.events("probe_cycles")
        assert line.clock is Clock.EVENTS
        assert line.phase_ms[Phase.DRAFT][3] == 1.3
        # The CPU waits in verify for the draft, the target and the acceptance.
        assert line.cpu_ms[Phase.DRAFT][3] == 0.55
        assert line.cpu_ms[Phase.VERIFY][3] == 6.8


def test_wall_is_the_cpu_alone(tmp_path: Path) -> None:
    with probe_bench(EAGLE_V2, "EAGLEWorkerV2", tmp_path, clock=Clock.WALL) as bench:
        bench.decode(5, 2)
        bench.flush()
        [line] = bench.events("probe_cycles")
        assert line.clock is Clock.WALL
        assert line.phase_ms == line.cpu_ms
        assert line.phase_ms[Phase.VERIFY][3] == 0.7
        assert line.cycle_ms[3] == pytest.approx(0.5 + 0.7 + 0.3 + 0.5)
        assert bench.machine.events == []


def test_sync_waits_around_every_phase(tmp_path: Path) -> None:
    with probe_bench(EAGLE_V2, "EAGLEWorkerV2", tmp_path, clock=Clock.SYNC) as bench:
        bench.decode(5, 2)
        assert bench.machine.synchronisations == 5 * 2 * 4
        bench.flush()
        [line] = bench.events("probe_cycles")
        assert line.clock is Clock.SYNC
        assert line.phase_ms[Phase.DRAFT][3] == 1.5  # launch and work, one after the other
        assert line.phase_ms[Phase.VERIFY][3] == pytest.approx(0.5 + 5.0 + 0.2 + 0.5)


@pytest.mark.parametrize("clock", [Clock.EVENTS, Clock.SYNC])
def test_without_cuda_the_wall_clock_stands_in(clock: Clock, tmp_path: Path) -> None:
    with probe_bench(EAGLE_V2, "EAGLEWorkerV2", tmp_path, clock=clock, cuda=False) as bench:
        bench.decode(5, 2)
        bench.flush()
        assert [event.clock for event in bench.events()] == [Clock.WALL, Clock.WALL]


def test_no_event_is_made_once_the_pool_is_warm(tmp_path: Path) -> None:
    with probe_bench(EAGLE_V1, "EAGLEWorker", tmp_path) as bench:
        bench.decode(30, 2)
        made = len(bench.machine.events)
        cycles = len(bench.probe.figures.spare)
        bench.decode(300, 2)
        assert len(bench.machine.events) == made
        assert len(bench.probe.figures.spare) <= max(cycles, 64)


def test_events_are_read_with_one_query_a_cycle(tmp_path: Path) -> None:
    with probe_bench(EAGLE_V1, "EAGLEWorker", tmp_path) as bench:
        bench.decode(10, 2)
        before = bench.machine.queries
        bench.decode(100, 2)
        assert bench.machine.queries - before == 100


def test_slow_gpu_drops_the_oldest_cycles_and_says_so(tmp_path: Path) -> None:
    with probe_bench(EAGLE_V2, "EAGLEWorkerV2", tmp_path, times={"target": (0.1, 1000.0)}) as bench:
        bench.decode(100, 2)
        assert len(bench.probe.pending) == 64
        bench.flush()
        lines = bench.events("probe_cycles")
        assert sum(len(line.batch) for line in lines) == 64
        assert lines[0].dropped_cycles == 36


def test_nothing_is_recorded_while_a_graph_is_captured(tmp_path: Path) -> None:
    with probe_bench(EAGLE_V2, "EAGLEWorkerV2", tmp_path) as bench:
        bench.machine.capturing = True
        bench.decode(3, 2)
        bench.machine.capturing = False
        bench.decode(2, 2)
        bench.flush()
        assert sum(len(line.batch) for line in bench.events("probe_cycles")) == 2


def test_control_file_switches_the_clock_and_back(tmp_path: Path) -> None:
    control = tmp_path / "control"
    with probe_bench(EAGLE_V1, "EAGLEWorker", tmp_path, control_path=str(control)) as bench:
        bench.decode(3, 2)
        for clock in (Clock.WALL, Clock.OFF, Clock.SYNC, Clock.EVENTS):
            set_clock(bench, control, clock)
            bench.decode(3, 2)
        bench.flush()
        changes = [(event.previous, event.clock) for event in bench.events("probe_clock")]
        assert changes == [
            (Clock.EVENTS, Clock.WALL),
            (Clock.WALL, Clock.OFF),
            (Clock.OFF, Clock.SYNC),
            (Clock.SYNC, Clock.EVENTS),
        ]
        counted = dict.fromkeys(Clock, 0)
        for line in bench.events("probe_cycles"):
            counted[line.clock] += len(line.batch)
        assert counted == {Clock.EVENTS: 6, Clock.WALL: 3, Clock.SYNC: 3, Clock.OFF: 0}


def test_a_cycle_across_a_switch_has_no_length(tmp_path: Path) -> None:
    control = tmp_path / "control"
    with probe_bench(EAGLE_V1, "EAGLEWorker", tmp_path, control_path=str(control)) as bench:
        bench.decode(3, 2)
        set_clock(bench, control, Clock.WALL)
        bench.decode(3, 2)
        bench.flush()
        lengths = [cycle is None for line in bench.events("probe_cycles") for cycle in line.cycle_ms]
        assert lengths == [False, False, True, False, False, True]


def test_control_file_is_looked_at_twice_a_second_at_most(tmp_path: Path) -> None:
    control = tmp_path / "control"
    control.write_text("wall")
    with probe_bench(EAGLE_V1, "EAGLEWorker", tmp_path, control_path=str(control)) as bench:
        reads = []
        bench.probe.control.read, original = lambda: reads.append(1), bench.probe.control.read
        start_ms = bench.machine.cpu_ms
        bench.decode(400, 2)
        seconds = (bench.machine.cpu_ms - start_ms) / 1e3
        assert 2 <= len(reads) <= 2 * seconds + 2
        assert original() == "wall"


@pytest.mark.parametrize("content", ["", "warp", "{", '{"clock": "warp"}', '{"clock": 3}', "[1]", "\x00\xff"])
def test_a_control_file_that_says_nothing_changes_nothing(content: str, tmp_path: Path) -> None:
    control = tmp_path / "control"
    with probe_bench(EAGLE_V1, "EAGLEWorker", tmp_path, control_path=str(control)) as bench:
        bench.decode(2, 2)
        control.write_bytes(content.encode("latin-1"))
        bench.machine.cpu(600)
        bench.decode(2, 2)
        assert bench.events("probe_clock") == []
        assert bench.events("probe_error") == []


def test_environment_names_another_control_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    control = tmp_path / "other"
    control.write_text("sync\n")
    monkeypatch.setenv("SPECTTUI_PROBE_CONTROL", str(control))
    with probe_bench(EAGLE_V1, "EAGLEWorker", tmp_path, control_path="/nowhere") as bench:
        bench.decode(1, 2)
        [installed] = bench.events("probe_installed")
        assert installed.clock is Clock.SYNC


def test_started_off_it_costs_a_comparison_and_can_be_switched_on(tmp_path: Path) -> None:
    control = tmp_path / "control"
    with probe_bench(
        EAGLE_V2, "EAGLEWorkerV2", tmp_path, clock=Clock.OFF, control_path=str(control)
    ) as bench:
        bench.decode(3, 2)
        assert bench.machine.events == []
        set_clock(bench, control, Clock.EVENTS)
        bench.decode(3, 2)
        bench.flush()
        [line] = bench.events("probe_cycles")
        assert len(line.batch) == 3


def test_control_content_is_what_the_probe_reads() -> None:
    assert control_content(Clock.SYNC) == '{"clock": "sync"}\n'


def test_pause_and_prefill_end_a_run_of_cycles(tmp_path: Path) -> None:
    with probe_bench(EAGLE_V1, "EAGLEWorker", tmp_path) as bench:
        bench.decode(2, 2)
        bench.prefill()
        bench.decode(2, 2)
        bench.machine.cpu(2500)
        bench.decode(2, 2)
        bench.flush()
        known = [cycle is not None for line in bench.events("probe_cycles") for cycle in line.cycle_ms]
        assert known == [True, False, True, False, True, False]


def test_idle_batches_leave_no_record(tmp_path: Path) -> None:
    with probe_bench(EAGLE_V1, "EAGLEWorker", tmp_path) as bench:
        bench.decode(2, 2)
        bench.loaded.run(Batch([]))
        bench.decode(1, 2)
        bench.flush()
        [line] = bench.events("probe_cycles")
        assert line.batch == [1, 1, 1]
        assert [cycle is None for cycle in line.cycle_ms] == [False, True, True]
