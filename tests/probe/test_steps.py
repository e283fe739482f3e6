"""Single draft steps: eager ones, those captured into a graph, and what is said when there are none."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from support import block_parts
from support.fake_torch import FakeEvent, FakeMachine
from support.fake_workers import ForwardMode
from support.probe_bench import ProbeBench, probe_bench

#: A worker whose draft runs steps - 1 forwards, eagerly or by replaying a captured graph.
SOURCE = """\
class DraftBatch:
    def __init__(self, size, mode):
        self.batch_size = size
        self.forward_mode = mode


class EAGLEWorker:
    def __init__(self, target_worker):
        self.target_worker = target_worker
        self.draft_model_runner = DraftRunner()
        self.speculative_num_steps = 3
        self.graphs = {}

    def init_cuda_graphs(self, capture, sizes, mode):
        for size in sizes:
            self.graphs[size] = capture(lambda: self.draft_forward(DraftBatch(size, mode)))

    def draft_forward(self, batch):
        for _ in range(self.speculative_num_steps - 1):
            self.draft_model_runner.forward(batch)

    def forward_batch_generation(self, batch):
        self.draft(batch)
        result = self.verify(batch)
        self.forward_draft_extend_after_decode(batch)
        return result

    def draft(self, batch):
        fitting = [size for size in sorted(self.graphs) if size >= len(batch.seq_lens)]
        if fitting:
            self.graphs[fitting[0]]()
        else:
            self.draft_forward(batch)

    def verify(self, batch):
        self.target_worker.forward_batch_generation(batch, is_verify=True)
        synchronize()
        return "logits", Result(num_correct_drafts_per_req_cpu=list(batch.accepted)), True

    def forward_draft_extend_after_decode(self, batch):
        work("draft_extend")


class DraftModel:
    def forward(self, batch):
        work("step")


class DraftRunner:
    def __init__(self):
        self.model = DraftModel()

    def forward(self, batch, skip=True):
        return self.model.forward(batch)
"""

TIMES = {"step": (0.02, 0.25)}


class Graph:
    """A captured graph: replays its work and records its external events again."""

    def __init__(self, machine: FakeMachine, body: Any) -> None:
        self.machine = machine
        before = len(machine.events)
        machine.capturing = True
        body()
        machine.capturing = False
        self.events: list[FakeEvent] = machine.events[before:]

    def __call__(self) -> None:
        for start, end in zip(self.events[::2], self.events[1::2], strict=True):
            start.record()
            self.machine.gpu(0.25)
            end.record()


def capture(bench: ProbeBench, *sizes: int, mode: str = "decode") -> None:
    """Capture the draft graphs, as the server does before its first cycle."""
    bench.loaded.worker.init_cuda_graphs(lambda body: Graph(bench.machine, body), sizes, ForwardMode(mode))


def steps(bench: ProbeBench) -> list[list[float]]:
    """The steps in every line that has them."""
    bench.flush()
    return [line.draft_step_ms for line in bench.events("probe_cycles") if line.draft_step_ms]


def test_off_by_default(tmp_path: Path) -> None:
    with probe_bench(SOURCE, "EAGLEWorker", tmp_path, times=TIMES) as bench:
        capture(bench, 1, 4)
        bench.decode(5, 2)
        assert steps(bench) == []
        [installed] = bench.events("probe_installed")
        assert "draft_steps" not in {*installed.hooked, *installed.missing}
        assert not any(event.external for event in bench.machine.events)


def test_eager_steps(tmp_path: Path) -> None:
    with probe_bench(SOURCE, "EAGLEWorker", tmp_path, times=TIMES, draft_steps=True) as bench:
        bench.decode(5, 2)
        assert steps(bench) == [[0.254, 0.25]]  # in the first cycle the GPU waits for the launch, 0.02 ms
        [installed] = bench.events("probe_installed")
        assert installed.missing["draft_steps"] == (
            "no draft graph was captured with events, and no step has run eagerly"
        )


def test_steps_of_a_replayed_graph(tmp_path: Path) -> None:
    with probe_bench(SOURCE, "EAGLEWorker", tmp_path, times=TIMES, draft_steps=True) as bench:
        capture(bench, 1, 4)
        bench.decode(5, 2, 1)  # a batch of 2 replays the graph of 4
        assert steps(bench) == [[0.25, 0.25]]
        [installed] = bench.events("probe_installed")
        assert installed.hooked["draft_steps"] == "events in 2 captured graphs"
        assert "draft_steps" not in installed.missing


def test_the_runner_is_hooked_during_capture_only(tmp_path: Path) -> None:
    with probe_bench(SOURCE, "EAGLEWorker", tmp_path, times=TIMES, draft_steps=True) as bench:
        runner = bench.loaded.worker.draft_model_runner
        capture(bench, 1)
        assert "forward" not in vars(runner)
        assert "forward" not in vars(runner.model)
        assert len(bench.machine.events) == 4


def test_extend_graphs_leave_no_events(tmp_path: Path) -> None:
    with probe_bench(SOURCE, "EAGLEWorker", tmp_path, times=TIMES, draft_steps=True) as bench:
        capture(bench, 1, mode="draft_extend")
        assert bench.machine.events == []


def test_a_graph_captured_again_replaces_the_first(tmp_path: Path) -> None:
    with probe_bench(SOURCE, "EAGLEWorker", tmp_path, times=TIMES, draft_steps=True) as bench:
        capture(bench, 1)
        capture(bench, 1)
        bench.decode(5, 2)
        assert steps(bench) == [[0.25, 0.25]]
        assert {key: len(pairs) for key, pairs in bench.probe.draft_steps.sets.items()} == {(3, 1): 2}


def test_each_number_of_steps_has_its_own_set(tmp_path: Path) -> None:
    with probe_bench(SOURCE, "EAGLEWorker", tmp_path, times=TIMES, draft_steps=True) as bench:
        capture(bench, 1)
        bench.loaded.worker.speculative_num_steps = 5
        capture(bench, 1)
        assert {key: len(pairs) for key, pairs in bench.probe.draft_steps.sets.items()} == {
            (3, 1): 2,
            (5, 1): 4,
        }


def test_torch_without_external_events_says_so(tmp_path: Path) -> None:
    with probe_bench(SOURCE, "EAGLEWorker", tmp_path, times=TIMES, draft_steps=True) as bench:
        cuda = sys.modules["torch"].cuda
        made = cuda.Event

        def old_event(*, enable_timing: bool) -> Any:
            return made(enable_timing=enable_timing)

        cuda.Event = old_event
        capture(bench, 1)
        bench.decode(3, 2)
        assert steps(bench) == []
        [installed] = bench.events("probe_installed")
        assert installed.missing["draft_steps"] == "this torch has no events that can be recorded in a graph"


def test_a_set_that_is_being_recorded_again_is_not_read(tmp_path: Path) -> None:
    with probe_bench(SOURCE, "EAGLEWorker", tmp_path, times=TIMES, draft_steps=True) as bench:
        capture(bench, 1)
        bench.decode(2, 2)
        bench.probe.draft_steps.take()
        bench.machine.gpu(100.0)
        bench.probe.previous = bench.probe.pending[-1]
        bench.loaded.worker.graphs[1]()
        bench.probe.draft_steps.read(bench.probe.previous)
        assert bench.probe.draft_steps.take() == []


def test_times_read_across_two_replays_are_dropped(tmp_path: Path) -> None:
    with probe_bench(SOURCE, "EAGLEWorker", tmp_path, times=TIMES, draft_steps=True) as bench:
        bench.probe.draft_steps.add([0.25, -3.0])
        bench.probe.draft_steps.add([0.25, 0.5])
        bench.probe.draft_steps.add([0.75])
        assert bench.probe.draft_steps.take() == [0.5, 0.5]


def test_environment_asks_for_steps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPECTTUI_PROBE_DRAFT_STEPS", "1")
    with probe_bench(SOURCE, "EAGLEWorker", tmp_path, times=TIMES) as bench:
        capture(bench, 1)
        bench.decode(3, 2)
        assert steps(bench) == [[0.25, 0.25]]


@pytest.mark.parametrize(
    "part",
    [
        "_SpecttuiDraftSteps.open",
        "_SpecttuiDraftSteps.read",
        "_SpecttuiDraftSteps.take",
        "_SpecttuiDraftSteps.add",
        "_specttui_hook_runner",
        "_specttui_captured_step",
    ],
)
def test_a_broken_part_leaves_the_graphs_and_the_worker_right(part: str, tmp_path: Path) -> None:
    with probe_bench(SOURCE, "EAGLEWorker", tmp_path, times=TIMES, draft_steps=True) as bench:
        block_parts.parts(bench.probe)[part](block_parts.broken)
        capture(bench, 1, 4)
        assert set(bench.loaded.worker.graphs) == {1, 4}
        result = bench.decode(5, 2)
        assert result[1].num_correct_drafts_per_req_cpu == [2]
        assert "forward" not in vars(bench.loaded.worker.draft_model_runner) or not bench.probe.dead
