"""Lines of figures: their size, their sequence, and what the other ranks write."""

from __future__ import annotations

import json
from pathlib import Path

from support.fake_workers import EAGLE_V1
from support.probe_bench import probe_bench

from specttui.events import Phase


def test_every_line_is_under_4096_bytes_with_every_phase_and_slow_cycles(tmp_path: Path) -> None:
    slow = dict.fromkeys(("draft", "prepare", "target", "accept", "draft_extend", "kv"), (120.111, 1234.567))
    with probe_bench(EAGLE_V1, "EAGLEWorker", tmp_path, times=slow) as bench:
        for _ in range(4):
            bench.decode(40, *range(16))
        bench.flush()
        assert max(len(line) for line in bench.lines()) < 4096
        cycles = bench.events("probe_cycles")
        assert sum(len(line.batch) for line in cycles) == 160
        assert [line.sequence for line in cycles] == list(range(len(cycles)))


def test_too_long_a_line_is_split(tmp_path: Path) -> None:
    with probe_bench(EAGLE_V1, "EAGLEWorker", tmp_path) as bench:
        bench.decode(1, 2)
        figures = bench.probe.figures
        figures.rank = "DP0 TP0 " * 250  # 2000 bytes before the first figure
        bench.decode(23, 2)
        bench.flush()
        lines = [json.loads(line.removeprefix("[specttui] ")) for line in bench.lines()[1:]]
        assert [len(line["batch"]) for line in lines] == [12, 12]
        assert max(len(line) for line in bench.lines()) < 4096


def test_figures_are_written_after_half_a_second_or_32_cycles(tmp_path: Path) -> None:
    with probe_bench(EAGLE_V1, "EAGLEWorker", tmp_path) as bench:
        bench.decode(36, 2, gap_ms=0.5)
        assert bench.events("probe_cycles") == []
        bench.decode(4, 2, gap_ms=0.5)
        # The 37th cycle has its parts timed, and in it the probe catches up: 35 cycles have ended on the GPU.
        assert [len(line.batch) for line in bench.events("probe_cycles")] == [35]
        bench.decode(4, 2, gap_ms=600.0)
        assert [len(line.batch) for line in bench.events("probe_cycles")] == [35, 6, 1, 1]


def test_half_a_second_is_enough_in_steady_traffic(tmp_path: Path) -> None:
    with probe_bench(EAGLE_V1, "EAGLEWorker", tmp_path) as bench:
        bench.decode(100, 2, gap_ms=32.0)  # cycles of 40 ms
        sizes = [len(line.batch) for line in bench.events("probe_cycles")]
        assert sizes == [15, 16, 12, 16, 12, 16]


def test_other_ranks_write_a_summary_each_second(tmp_path: Path) -> None:
    with probe_bench(EAGLE_V1, "EAGLEWorker", tmp_path) as bench:
        bench.loaded.worker.tp_rank = 3
        bench.decode(300, 2, gap_ms=2.0)
        [installed] = bench.events("probe_installed")
        assert installed.rank == "TP3"
        assert bench.events("probe_cycles") == []
        summaries = bench.events("probe_summary")
        assert len(summaries) == 2  # 300 cycles of 9.3 ms
        assert summaries[0].rank == "TP3"
        assert summaries[0].median_phase_ms[Phase.VERIFY] == 5.925
        assert summaries[0].median_cycle_ms == 9.65
        assert sum(summary.cycles for summary in summaries) > 200


def test_self_us_is_the_probes_own_time(tmp_path: Path) -> None:
    with probe_bench(EAGLE_V1, "EAGLEWorker", tmp_path) as bench:
        bench.decode(3, 2)
        original = bench.probe.link
        bench.probe.link = lambda cycle: (bench.machine.cpu(0.02), original(cycle))
        bench.decode(10, 2)
        bench.flush()
        [line] = bench.events("probe_cycles")
        assert line.self_us == round(10 * 20 / 13, 1)


def test_an_unwritten_line_is_counted_in_the_next(tmp_path: Path) -> None:
    with probe_bench(EAGLE_V1, "EAGLEWorker", tmp_path) as bench:
        bench.decode(1, 2)
        writer = bench.probe.writer
        writer._send, send = lambda _: False, writer._send
        bench.decode(40, 2)
        writer._send = send
        bench.flush()
        [line] = bench.events("probe_cycles")
        assert (line.dropped_cycles, line.dropped_lines) == (35, 1)
        assert len(line.batch) == 6
