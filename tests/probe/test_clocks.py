"""Clocks: what each says, how the control file switches them, and what costs nothing."""

from __future__ import annotations

import sys
import types
from pathlib import Path

import pytest
from support.fake_workers import EAGLE_V1, EAGLE_V2, Batch
from support.probe_bench import ProbeBench, probe_bench

from specttui.events import Clock, Phase
from specttui.probe import control_content
from specttui.probe.block.clocks import _specttui_native


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
        assert line.phase_ms[Phase.ACCEPT] == [0.2] * 5  # where timing is cheap no part is left out
        assert bench.machine.events == []


def test_sync_waits_around_every_phase(tmp_path: Path) -> None:
    with probe_bench(EAGLE_V2, "EAGLEWorkerV2", tmp_path, clock=Clock.SYNC) as bench:
        bench.decode(5, 2)
        # Four calls with their parts, three without; one more mark where the probe had caught up.
        assert bench.machine.synchronisations == 2 * 2 * 4 + 3 * 2 * 3 + 1
        bench.flush()
        [line] = bench.events("probe_cycles")
        assert line.clock is Clock.SYNC
        assert [value is None for value in line.phase_ms[Phase.ACCEPT]] == [False, True, True, True, False]
        assert line.phase_ms[Phase.DRAFT][3] == 1.5  # launch and work, one after the other
        assert line.phase_ms[Phase.VERIFY][4] == pytest.approx(0.5 + 5.0 + 0.2 + 0.5)
        # Without a wait for the target, the launch of the acceptance overlaps it.
        assert line.phase_ms[Phase.VERIFY][3] == pytest.approx(0.5 + 5.0 + 0.5)


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


#: Calls of torch in four cycles, of which one has its parts timed. Phases that follow at once share an event,
#: so that three phases have four.
TORCH_CALLS = {
    "EAGLEWorkerV2": {"record": 5 + 3 * 4, "elapsed_time": 6 + 3 * 4},
    "EAGLEWorker": {"record": 9 + 3 * 4, "elapsed_time": 8 + 3 * 4},
}


@pytest.mark.parametrize(("source", "class_name"), [(EAGLE_V1, "EAGLEWorker"), (EAGLE_V2, "EAGLEWorkerV2")])
def test_what_is_asked_of_torch(source: str, class_name: str, tmp_path: Path) -> None:
    with probe_bench(source, class_name, tmp_path) as bench:
        bench.decode(40, 2, gap_ms=8.0)
        before = bench.machine.calls.copy()
        bench.decode(100, 2, gap_ms=8.0)
        calls = bench.machine.calls - before
        queries = calls.pop("query")
        assert queries <= 2 * 25  # a stream's work ends in order: the newest event that is done tells of all
        once = {"is_current_stream_capturing": 100, "current_stream": 100}
        assert calls == once | {name: 25 * count for name, count in TORCH_CALLS[class_name].items()}


def test_the_stream_is_made_anew_only_when_it_changed(tmp_path: Path) -> None:
    with probe_bench(EAGLE_V1, "EAGLEWorker", tmp_path) as bench:
        machine = bench.machine
        native = types.SimpleNamespace(
            _cuda_getCurrentRawStream=lambda device: hash((device, machine.stream)),
            _cuda_isCurrentStreamCapturing=lambda: machine.capturing,
        )
        sys.modules["torch"]._C = native  # type: ignore[attr-defined]
        bench.decode(20, 2)
        machine.stream = "another"
        bench.decode(20, 2)
        machine.capturing = True
        bench.decode(3, 2)
        machine.capturing = False
        bench.flush()
        assert (machine.calls["current_stream"], machine.calls["is_current_stream_capturing"]) == (2, 0)
        assert sum(len(line.batch) for line in bench.events("probe_cycles")) == 40
        assert not bench.probe.dead


def test_events_of_another_stream_are_asked_for_themselves(tmp_path: Path) -> None:
    with probe_bench(EAGLE_V1, "EAGLEWorker", tmp_path) as bench:
        bench.decode(2, 2)
        bench.probe.pending[0].stream = "another"
        bench.machine.synchronize()
        before = bench.machine.calls["query"]
        bench.decode(1, 2)
        bench.probe.drain()
        assert bench.machine.calls["query"] - before == 2
        assert len(bench.probe.pending) == 1


def test_a_phase_that_follows_at_once_begins_at_the_mark_before_it(tmp_path: Path) -> None:
    with probe_bench(EAGLE_V1, "EAGLEWorker", tmp_path) as bench:
        bench.decode(1, 2)
        clock, cycle, machine = bench.probe.clock, type(bench.probe.previous)(), bench.machine
        assert clock.open(cycle)
        marks = [clock.begin(cycle)]
        machine.cpu(0.01)
        marks.append(clock.finish(cycle))  # an end is always marked: the GPU was given work before it
        machine.cpu(0.02)
        marks.append(clock.begin(cycle))
        machine.cpu(0.04)
        marks.append(clock.begin(cycle))
        assert marks == [0, 1, 1, 2]
        assert len(cycle.events) == len(cycle.stamps) == 3


def test_methods_of_events_are_those_beneath_torchs_own() -> None:
    class Native:
        def record(self, stream: object) -> str:
            return f"native {stream}"

    class Refined(Native):
        def record(self, stream: object = None) -> str:
            return f"refined {stream}"

    assert _specttui_native(Refined, "record")(Refined(), 7) == "native 7"
    assert _specttui_native(Native, "record")(Native(), 7) == "native 7"


@pytest.mark.parametrize("clock", [Clock.EVENTS, Clock.SYNC])
def test_parts_are_timed_in_every_fourth_decode_cycle(clock: Clock, tmp_path: Path) -> None:
    with probe_bench(EAGLE_V1, "EAGLEWorker", tmp_path, clock=clock) as bench:
        bench.decode(3, 2)
        bench.prefill()
        bench.decode(6, 2)
        bench.prefill()
        bench.flush()
        [line] = bench.events("probe_cycles")
        for phase in (Phase.TARGET_FORWARD, Phase.ACCEPT, Phase.KV):
            for times in (line.phase_ms[phase], line.cpu_ms[phase]):
                assert [index for index, time in enumerate(times) if time is not None] == [0, 4, 8]
        for phase in (Phase.DRAFT, Phase.VERIFY, Phase.DRAFT_EXTEND):
            assert None not in line.phase_ms[phase]
        # A prefill's forward of the target is a phase of its own, whatever cycle it falls on.
        [prefills] = bench.events("probe_prefill")
        assert None not in prefills.phase_ms[Phase.PREFILL_TARGET]


def test_a_new_clock_begins_with_a_full_cycle(tmp_path: Path) -> None:
    control = tmp_path / "control"
    with probe_bench(EAGLE_V1, "EAGLEWorker", tmp_path, control_path=str(control)) as bench:
        bench.decode(2, 2)
        set_clock(bench, control, Clock.SYNC)
        bench.decode(2, 2)
        bench.flush()
        lines = bench.events("probe_cycles")
        missing = [[value is None for value in line.phase_ms[Phase.ACCEPT]] for line in lines]
        assert missing == [[False, True], [False, True]]


def test_catching_up_is_no_part_of_the_acceptance(tmp_path: Path) -> None:
    idle = {"draft": (0.5, 0.0), "target": (0.5, 0.0), "draft_extend": (0.5, 0.0)}
    with probe_bench(EAGLE_V2, "EAGLEWorkerV2", tmp_path, times=idle) as bench:
        work = bench.probe.work
        bench.probe.work = lambda now: (bench.machine.cpu(3.0), work(now))
        bench.decode(9, 2)
        bench.flush()
        [line] = bench.events("probe_cycles")
        # The GPU has nothing to do while the probe works: verify is longer by it, the acceptance is not.
        assert [line.phase_ms[Phase.ACCEPT][index] for index in (4, 8)] == [0.7, 0.7]
        assert (line.phase_ms[Phase.VERIFY][4], line.phase_ms[Phase.VERIFY][5]) == (4.2, 1.2)


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
