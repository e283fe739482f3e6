"""Accepted drafts reach the cycle they belong to, however late they come and whatever they are called."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.fake_workers import EAGLE_V1, EAGLE_V1_LOOP, EAGLE_V2, NGRAM, Batch, Lengths, Result
from support.probe_bench import probe_bench

from specttui.events import Clock
from specttui.probe import control_content
from specttui.probe.block.acceptance import _SpecttuiAcceptance
from specttui.probe.block.cycle import _SpecttuiCycle


def waiting_cycle(batch: int) -> _SpecttuiCycle:
    """A decode cycle that has just ended."""
    cycle = _SpecttuiCycle()
    cycle.start(0.0, None, batch)
    return cycle


def test_verify_list_of_a_synchronous_worker(tmp_path: Path) -> None:
    with probe_bench(EAGLE_V1, "EAGLEWorker", tmp_path) as bench:
        bench.decode(2, 2, 0)
        bench.decode(1, 3, 1)
        bench.flush()
        [line] = bench.events("probe_cycles")
        assert line.accepted == [2, 2, 4]
        assert line.accept_histogram == [2, 1, 2, 1]


def test_bare_list_of_the_oldest_releases(tmp_path: Path) -> None:
    with probe_bench(EAGLE_V1_LOOP, "EAGLEWorker", tmp_path) as bench:
        bench.decode(2, 2, 1)
        bench.flush()
        [line] = bench.events("probe_cycles")
        assert line.accepted == [3, 3]


@pytest.mark.parametrize(
    "name",
    [
        "accept_length_per_req_cpu",
        "num_accepted_drafts_per_req_cpu",
        "num_correct_drafts_per_req_cpu",
    ],
)
def test_every_name_of_the_list(name: str) -> None:
    acceptance = _SpecttuiAcceptance(("verify", "result"))
    holder = Result(**{name: [1, 0]})
    assert acceptance.in_verify(("logits", holder, True)) == [1, 0]
    assert acceptance.in_verify(holder) == [1, 0]
    cycle = waiting_cycle(2)
    acceptance.expect(cycle, holder)
    assert (cycle.counts, cycle.waiting) == ([1, 0], False)


@pytest.mark.parametrize("name", ["num_accepted_tokens", "num_accepted_drafts", "num_correct_drafts"])
def test_total_where_there_is_no_list(name: str) -> None:
    acceptance = _SpecttuiAcceptance(("result", "total"))
    cycle = waiting_cycle(3)
    acceptance.expect(cycle, Result(**{name: 5}))
    assert (cycle.accepted, cycle.counts, cycle.waiting) == (5, None, False)


def test_a_default_zero_of_an_overlapped_result_is_not_a_count() -> None:
    acceptance = _SpecttuiAcceptance(("callback",))
    cycle = waiting_cycle(1)
    acceptance.expect(cycle, Result(num_correct_drafts=0))
    assert (cycle.accepted, cycle.counts, cycle.waiting) == (None, None, True)


@pytest.mark.parametrize("late", [0, 1, 2, 3])
def test_callback_joins_the_cycle_it_belongs_to(late: int, tmp_path: Path) -> None:
    with probe_bench(EAGLE_V2, "EAGLEWorkerV2", tmp_path) as bench:
        counts = [[index % 4, (index + 1) % 4] for index in range(12)]
        for index, accepted in enumerate(counts):
            bench.decode(1, *accepted)
            if index >= late:
                bench.loaded.worker.on_verify_complete_cpu(counts[index - late], batch_size=2)
        for accepted in counts[len(counts) - late :]:
            bench.loaded.worker.on_verify_complete_cpu(accepted)
        bench.flush()
        written = [value for line in bench.events("probe_cycles") for value in line.accepted]
        assert written == [sum(accepted) for accepted in counts]
        assert bench.loaded.worker.completed == counts  # the worker's own method still ran


@pytest.mark.parametrize("late", [0, 1, 2])
def test_callbacks_of_cycles_that_were_not_timed_are_not_taken_for_later_ones(
    late: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    control = tmp_path / "control"
    monkeypatch.setenv("SPECTTUI_PROBE_CONTROL", str(control))
    clocks = [Clock.EVENTS] * 5 + [Clock.OFF] * 7 + [Clock.EVENTS] * 6
    counts = [[index % 4, (index + 1) % 4] for index in range(len(clocks))]
    with probe_bench(EAGLE_V2, "EAGLEWorkerV2", tmp_path) as bench:
        for index, (clock, accepted) in enumerate(zip(clocks, counts, strict=True)):
            control.write_text(control_content(clock))
            bench.machine.cpu(600)
            bench.decode(1, *accepted)
            if index == 8:
                bench.prefill()  # no callback tells of a prefill
            if index >= late:
                bench.loaded.worker.on_verify_complete_cpu(counts[index - late])
        for accepted in counts[len(counts) - late :]:
            bench.loaded.worker.on_verify_complete_cpu(accepted)
        bench.flush()
        written = [value for line in bench.events("probe_cycles") for value in line.accepted]
    timed = [sum(each) for clock, each in zip(clocks, counts, strict=True) if clock is not Clock.OFF]
    assert written == timed


def test_counts_that_never_come_do_not_hold_the_figures_up(tmp_path: Path) -> None:
    with probe_bench(EAGLE_V2, "EAGLEWorkerV2", tmp_path) as bench:
        bench.decode(48, 2, gap_ms=8.0)
        written = [value for line in bench.events("probe_cycles") for value in line.accepted]
        assert len(written) >= 32
        assert set(written) == {None}


def test_callback_of_another_batch_size_skips_to_the_cycle_that_fits() -> None:
    acceptance = _SpecttuiAcceptance(("callback",))
    first, second = waiting_cycle(1), waiting_cycle(2)
    for cycle in (first, second):
        acceptance.expect(cycle, Result())
    acceptance.complete([])
    acceptance.complete([1, 1, 1])
    assert (first.waiting, second.waiting) == (True, True)
    acceptance.complete([3, 0])
    assert (first.counts, second.counts) == (None, [3, 0])
    assert (first.waiting, second.waiting) == (False, False)


class Done:
    """A copy_done event."""

    def __init__(self) -> None:
        self.arrived = False

    def query(self) -> bool:
        """Whether the copy has arrived."""
        return self.arrived


def test_copied_result_of_overlapped_workers_before_the_callback(tmp_path: Path) -> None:
    with probe_bench(EAGLE_V2, "EAGLEWorkerV2", tmp_path) as bench:
        del bench.loaded.namespace["EAGLEWorkerV2"].on_verify_complete_cpu
        results = []
        for accepted in ([2, 0], [1, 1], [3, 3]):
            result = bench.loaded.run(Batch(accepted))
            result.copy_done = Done()
            result.copy_to_cpu()
            results.append(result)
        assert all(result.copied for result in results)
        [installed] = bench.events("probe_installed")
        assert installed.hooked["accept_counts"] == "result: copied"
        for result in results[:2]:
            result.copy_done.arrived = True
        bench.flush()
        [line] = bench.events("probe_cycles")
        assert line.accepted == [2, 2, None]  # the third copy had not arrived
        assert line.accept_histogram == [1, 2, 1]


def test_only_the_small_tensor_of_a_copied_result_is_kept() -> None:
    acceptance = _SpecttuiAcceptance(("copied",))
    cycle = waiting_cycle(1)
    result = Result(accept_lens=Lengths([3]), copy_done=None, logits=object())
    acceptance.expect(cycle, result)
    acceptance.copied(Result())
    assert cycle.copy is None
    acceptance.copied(result)
    assert cycle.copy == (result.accept_lens, None)
    acceptance.read_copy(cycle)
    assert (cycle.counts, cycle.waiting, list(acceptance.waiting)) == ([2], False, [])


def test_ngram_total(tmp_path: Path) -> None:
    with probe_bench(NGRAM, "NGRAMWorker", tmp_path) as bench:
        bench.decode(2, 2, 3, spec_info=bench.loaded.namespace["VerifyInput"]())
        bench.flush()
        [line] = bench.events("probe_cycles")
        assert line.accepted == [5, 5]
        assert line.accept_histogram == []
