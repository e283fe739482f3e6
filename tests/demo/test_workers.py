"""The simulated workers have the shape that a probe hooks."""

import inspect
import random

import pytest

from specttui.demo.simulated.sglang.simulation.clock import VirtualClock
from specttui.demo.simulated.sglang.simulation.device import Device
from specttui.demo.simulated.sglang.simulation.process_group import Alone
from specttui.demo.simulated.sglang.simulation.setup import timing_model
from specttui.demo.simulated.sglang.srt.managers.schedule_batch import ForwardMode, Req, ScheduleBatch
from specttui.demo.simulated.sglang.srt.speculative import eagle_worker, eagle_worker_v2
from specttui.demo.simulated.sglang.srt.speculative.spec_info import create_worker

V2_PHASES = (
    "draft_worker.draft",
    "verify",
    "target_worker.forward_batch_generation",
    "draft_worker._draft_extend_for_decode",
)
V1_PHASES = ("draft", "verify", "target_worker.forward_batch_generation", "forward_draft_extend_after_decode")


def make_worker(models, *flags):
    args, clock = models.args(5, *flags), VirtualClock()
    device = Device(timing_model(args), clock, random.Random(1))
    return create_worker(args, device), clock


def hook(worker, path, calls, clock):
    """Replace a method on the live instance, as the probe does."""
    owner = worker
    *parents, name = path.split(".")
    for parent in parents:
        owner = getattr(owner, parent)
    original = getattr(owner, name)

    def timed(*args, **kwargs):
        began = clock.now()
        try:
            return original(*args, **kwargs)
        finally:
            calls.append((path, (clock.now() - began) * 1000, kwargs))

    setattr(owner, name, timed)


def run_cycle(models, phases, *flags, mode=ForwardMode.DECODE):
    worker, clock = make_worker(models, *flags)
    calls = []
    for path in phases:
        hook(worker, path, calls, clock)
    batch = ScheduleBatch([Req("a", 128, 512), Req("b", 128, 512)], mode)
    return worker.forward_batch_generation(batch), calls, clock


@pytest.mark.parametrize(
    ("phases", "flags"), [(V2_PHASES, ()), (V1_PHASES, ("--disable-overlap-schedule",))], ids=["v2", "v1"]
)
def test_phases_hooked_on_the_instance_are_called_in_order_and_fill_the_cycle(models, phases, flags):
    _, calls, clock = run_cycle(models, phases, *flags)
    draft, verify, target, extend = phases
    assert [path for path, _, _ in calls] == [draft, target, verify, extend]
    spent = {path: spent_ms for path, spent_ms, _ in calls}
    assert spent[draft] + spent[verify] + spent[extend] == pytest.approx(clock.now() * 1000)
    assert 0 < spent[verify] - spent[target] < 0.5
    assert calls[1][2] == {"is_verify": True}


def test_the_overlapped_worker_gives_lengths_with_the_bonus(models):
    result, _, _ = run_cycle(models, ())
    assert len(result.accept_lens) == 2
    assert result.new_seq_lens == [128 + length for length in result.accept_lens]
    assert result.num_correct_drafts_per_req_cpu is None


def test_the_synchronous_verify_returns_three_values_with_counts_per_request(models):
    worker, _ = make_worker(models, "--disable-overlap-schedule")
    batch = ScheduleBatch([Req("a", 128, 512)], ForwardMode.DECODE)
    logits_output, verify_output, can_run_cuda_graph = worker.verify(batch)
    assert logits_output is None
    assert can_run_cuda_graph is True
    assert len(verify_output.num_correct_drafts_per_req_cpu) == 1


@pytest.mark.parametrize(
    ("phases", "flags"),
    [
        (("target_worker.forward_batch_generation", "draft_worker._draft_extend_for_prefill"), ()),
        (("forward_target_extend", "forward_draft_extend"), ("--disable-overlap-schedule",)),
    ],
    ids=["v2", "v1"],
)
def test_prefill_goes_through_the_same_method(models, phases, flags):
    _, calls, _ = run_cycle(models, phases, *flags, mode=ForwardMode.EXTEND)
    assert [path for path, _, _ in calls] == list(phases)


def test_the_overlapped_workers_hooks_are_there():
    worker = eagle_worker_v2.EAGLEWorkerV2
    assert list(inspect.signature(worker.forward_batch_generation).parameters) == [
        "self",
        "batch",
        "on_publish",
    ]
    assert list(inspect.signature(worker.on_verify_complete_cpu).parameters) == [
        "self",
        "num_correct_drafts_per_req",
        "batch_size",
    ]


@pytest.mark.parametrize(
    ("flags", "env", "worker_class"),
    [
        ((), "", eagle_worker_v2.EAGLEWorkerV2),
        (("--disable-overlap-schedule",), "", eagle_worker.EAGLEWorker),
        ((), "0", eagle_worker.EAGLEWorker),
        (
            ("--speculative-eagle-topk", "4", "--speculative-num-draft-tokens", "8"),
            "",
            eagle_worker.EAGLEWorker,
        ),
    ],
)
def test_which_worker_serves(models, monkeypatch, flags, env, worker_class):
    if env:
        monkeypatch.setenv("SGLANG_ENABLE_SPEC_V2", env)
    worker, _ = make_worker(models, *flags)
    assert type(worker) is worker_class


def test_the_counts_come_one_cycle_late_with_overlap(models):
    from support.simulated_scheduler import EndlessRequests

    from specttui.demo.simulated.sglang.srt.managers.scheduler import Scheduler

    scheduler = Scheduler(models.args(5), EndlessRequests(), VirtualClock(), Alone(1))
    seen = []
    scheduler.worker.on_verify_complete_cpu = lambda counts, size: seen.append((list(counts), size))
    results = []
    original = scheduler.worker.verify
    scheduler.worker.verify = lambda batch: results.append(original(batch)) or results[-1]
    for _ in range(4):  # a prefill and three decode cycles
        scheduler.step()
    assert len(results) == 3
    assert seen == [([result.accept_lens[0] - 1], 1) for result in results[:2]]
