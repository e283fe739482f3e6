"""Every family's cycle on a fake machine: which call is which phase, to the microsecond."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support import fake_workers
from support.probe_bench import ProbeBench, probe_bench

from specttui.events import Phase, ProbeCycles, ProbeInstalled, ProbePrefill
from specttui.probe import TARGETS, custom_target

FAMILIES = [
    pytest.param(
        fake_workers.EAGLE_V1,
        "EAGLEWorker",
        # GPU: kv runs inside draft and verify, and verify's free follows the acceptance.
        {
            "draft": 1.3,
            "verify": 5.925,
            "target_forward": 5.0,
            "accept": 0.675,
            "draft_extend": 0.925,
            "kv": 0.3,
        },
        {"prefill_target": 5.5, "prefill_draft": 2.0},
        id="eagle-v1",
    ),
    pytest.param(
        fake_workers.EAGLE_V1_LOOP,
        "EAGLEWorker",
        # Three forwards of the draft are one phase.
        {"draft": 3.25, "verify": 5.5, "target_forward": 5.0, "accept": 0.5, "draft_extend": 1.05},
        {"prefill_target": 5.5, "prefill_draft": 2.0},
        id="eagle-v1-loop",
    ),
    pytest.param(
        fake_workers.EAGLE_V2,
        "EAGLEWorkerV2",
        {"draft": 1.0, "verify": 5.5, "target_forward": 5.0, "accept": 0.5, "draft_extend": 0.75},
        {"prefill_target": 5.5, "prefill_draft": 2.0},
        id="eagle-v2",
    ),
    pytest.param(
        fake_workers.EAGLE_V2_INLINE,
        "EAGLEWorkerV2",
        # The draft forward inside verify begins the extend, which lasts to the end of the call.
        {"draft": 1.0, "verify": 5.5, "target_forward": 5.0, "accept": 0.5, "draft_extend": 1.25},
        {"prefill_target": 5.5, "prefill_draft": 2.0},
        id="eagle-v2-inline-extend",
    ),
    pytest.param(
        fake_workers.NGRAM,
        "NGRAMWorker",
        # Verify is no call: it begins with the target's forward and ends where the table is updated.
        {"draft": 1.5, "verify": 5.5, "target_forward": 5.0, "accept": 0.5},
        {"prefill_target": 5.0},
        id="ngram",
    ),
    pytest.param(
        fake_workers.DFLASH_V1,
        "DFlashWorker",
        {"draft": 1.25, "verify": 5.5, "target_forward": 5.0, "accept": 0.5, "draft_extend": 1.05},
        {"prefill_target": 5.5, "prefill_draft": 0.75},
        id="dflash-v1",
    ),
    pytest.param(
        fake_workers.DFLASH_V2,
        "DFlashWorkerV2",
        # The draft's forward and its sampling are two calls of one phase.
        {"draft": 1.25, "verify": 5.5, "target_forward": 5.0, "accept": 0.5, "draft_extend": 0.75},
        {"prefill_target": 5.5, "prefill_draft": 0.75},
        id="dflash-v2",
    ),
    pytest.param(
        fake_workers.UNO,
        "UnoWorkerV2",
        # The draft block runs the target's forward, too: that one is draft.
        {"draft": 5.0, "verify": 5.5, "target_forward": 5.0, "accept": 0.5},
        {"prefill_target": 5.5},
        id="uno",
    ),
]
#: Workers whose verify is one call: in three of four cycles nothing inside it is timed. Where verify is put
#: together from its parts, they are marked in every cycle.
WITH_VERIFY = {"EAGLEWorker", "EAGLEWorkerV2"}
PARTS = ("target_forward", "accept", "kv")


def settled(bench: ProbeBench, class_name: str, cycles: int = 6) -> ProbeCycles:
    """Prefill, decode, let the scheduler report acceptance, and read the one line of figures."""
    context: dict[str, Any] = {}
    if class_name == "NGRAMWorker":
        context["spec_info"] = bench.loaded.namespace["VerifyInput"]()
    bench.prefill()
    for _ in range(cycles):
        bench.decode(1, 2, 1, **context)
        if hasattr(bench.loaded.worker, "on_verify_complete_cpu"):
            bench.loaded.worker.on_verify_complete_cpu([2, 1])
    bench.flush()
    [line] = bench.events("probe_cycles")
    return line


@pytest.mark.parametrize(("source", "class_name", "phases", "prefill"), FAMILIES)
def test_phases(
    source: str, class_name: str, phases: dict[str, float], prefill: dict[str, float], tmp_path: Path
) -> None:
    with probe_bench(source, class_name, tmp_path) as bench:
        line = settled(bench, class_name)
        # The first cycles fill the queue; from then on every cycle is the same, and the fifth has its parts.
        assert {phase.value: values[4] for phase, values in line.phase_ms.items()} == phases
        sampled = {*PARTS} & {*phases} if class_name in WITH_VERIFY else {"kv"} & {*phases}
        assert {phase.value: values[3] for phase, values in line.phase_ms.items()} == phases | dict.fromkeys(
            sampled
        )
        [prefills] = bench.events("probe_prefill")
        assert isinstance(prefills, ProbePrefill)
        assert {phase.value: values for phase, values in prefills.phase_ms.items()} == {
            phase: [value] for phase, value in prefill.items()
        }
        assert (prefills.batch, prefills.tokens) == ([1], [128])


@pytest.mark.parametrize(("source", "class_name", "phases", "prefill"), FAMILIES)
def test_phases_sum_to_the_cycle(
    source: str, class_name: str, phases: dict[str, float], prefill: dict[str, float], tmp_path: Path
) -> None:
    with probe_bench(source, class_name, tmp_path) as bench:
        line = settled(bench, class_name)
        cycle_ms = line.cycle_ms[3]
        assert cycle_ms is not None
        parts = sum(phases.get(phase, 0.0) for phase in ("draft", "verify", "draft_extend"))
        assert 0 <= cycle_ms - parts <= 0.9  # the scheduler's 0.5 ms and what no phase covers
        assert line.cycle_ms[-1] is None  # nothing came after it


@pytest.mark.parametrize(("source", "class_name", "phases", "prefill"), FAMILIES)
def test_first_line_names_every_phase_that_is_timed(
    source: str, class_name: str, phases: dict[str, float], prefill: dict[str, float], tmp_path: Path
) -> None:
    with probe_bench(source, class_name, tmp_path) as bench:
        settled(bench, class_name)
        [installed] = bench.events("probe_installed")
        assert isinstance(installed, ProbeInstalled)
        assert installed.worker_class == class_name
        assert set(installed.hooked) == {*phases, *prefill, "accept_counts"}
        assert not set(installed.hooked) & set(installed.missing)
        assert (installed.session_id, installed.way) == ("s1", "file")


def test_dspark_verify_is_put_together_from_its_parts(tmp_path: Path) -> None:
    with probe_bench(fake_workers.DSPARK, "DSparkWorkerV2", tmp_path) as bench:
        bench.decode(6, 2, compact=True)
        bench.flush()
        [line] = bench.events("probe_cycles")
        times = {phase.value: values[3] for phase, values in line.phase_ms.items()}
        assert times == {
            "draft": 1.0,
            "verify": 5.75,
            "target_forward": 5.0,
            "accept": 0.5,
            "draft_extend": 0.75,
        }
        [installed] = bench.events("probe_installed")
        assert "_kv_injector" in installed.missing["prefill_draft"]


def test_uno_tree_verifies_in_a_function_of_its_module(tmp_path: Path) -> None:
    with probe_bench(fake_workers.UNO, "UnoWorkerV2", tmp_path) as bench:
        bench.decode(6, 2, tree=True)
        bench.flush()
        [line] = bench.events("probe_cycles")
        times = {phase.value: values[4] for phase, values in line.phase_ms.items()}
        assert times == {"draft": 5.25, "verify": 5.5, "target_forward": 5.0, "accept": 0.5}


def test_zero_steps_take_the_trivial_path(tmp_path: Path) -> None:
    times = {"trivial": (0.1, 0.0), "stub": (0.1, 0.125)}
    with probe_bench(fake_workers.EAGLE_V2, "EAGLEWorkerV2", tmp_path, times=times) as bench:
        bench.loaded.worker.speculative_num_steps = 0
        bench.decode(6, 2)
        bench.flush()
        [line] = bench.events("probe_cycles")
        assert line.steps == [0] * 6
        assert line.phase_ms[Phase.DRAFT][3] == 0.0
        assert line.phase_ms[Phase.DRAFT_EXTEND][3] == 0.125


def test_steps_are_read_every_cycle(tmp_path: Path) -> None:
    with probe_bench(fake_workers.EAGLE_V2, "EAGLEWorkerV2", tmp_path) as bench:
        for steps in (3, 3, 5, 1):
            bench.loaded.worker.speculative_num_steps = steps
            bench.decode(1, 2)
        bench.flush()
        assert [steps for line in bench.events("probe_cycles") for steps in line.steps] == [3, 3, 5, 1]


def test_a_missing_method_costs_only_its_phase(tmp_path: Path) -> None:
    with probe_bench(fake_workers.EAGLE_V1, "EAGLEWorker", tmp_path) as bench:
        del bench.loaded.namespace["EAGLEWorker"].forward_draft_extend
        bench.decode(4, 2)
        bench.flush()
        [installed] = bench.events("probe_installed")
        assert installed.missing == {
            "prefill_draft": "forward_draft_extend: no method forward_draft_extend on EAGLEWorker"
        }
        [line] = bench.events("probe_cycles")
        assert line.phase_ms[Phase.VERIFY][3] == 5.925


def test_the_block_leaves_one_name_in_the_module(tmp_path: Path) -> None:
    with probe_bench(fake_workers.EAGLE_V2, "EAGLEWorkerV2", tmp_path) as bench:
        plain = fake_workers.load_worker(fake_workers.EAGLE_V2, "EAGLEWorkerV2", lambda _: None)
        assert set(bench.loaded.namespace) - set(plain.namespace) == {"_specttui_probe"}


def test_a_subclass_inherits_the_wrapped_cycle(tmp_path: Path) -> None:
    with probe_bench(fake_workers.EAGLE_V1, "EAGLEWorker", tmp_path) as bench:
        base = bench.loaded.namespace["EAGLEWorker"]
        standalone = type("StandaloneWorker", (base,), {})(bench.loaded.target)
        bench.loaded.worker = standalone
        bench.decode(3, 2)
        bench.flush()
        [installed] = bench.events("probe_installed")
        assert installed.worker_class == "StandaloneWorker"
        [line] = bench.events("probe_cycles")
        assert len(line.cycle_ms) == 3


def test_other_instances_run_untimed(tmp_path: Path) -> None:
    with probe_bench(fake_workers.EAGLE_V1, "EAGLEWorker", tmp_path) as bench:
        bench.decode(2, 2)
        other = bench.loaded.namespace["EAGLEWorker"](bench.loaded.target)
        bench.loaded.worker, first = other, bench.loaded.worker
        assert bench.decode(3, 2).token == "drafted"
        bench.loaded.worker = first
        bench.decode(1, 2)
        bench.flush()
        assert sum(len(line.batch) for line in bench.events("probe_cycles")) == 3


CUSTOM = """\
class HouseWorker:
    def __init__(self, target_worker):
        self.target_worker = target_worker

    def step(self, batch):
        self.guess(batch)
        return batch

    def guess(self, batch):
        work("draft")
"""


def test_a_users_target_without_verify_tells_prefill_by_the_batch(tmp_path: Path) -> None:
    targets = (custom_target("HouseWorker", "step", {"draft": "self.guess"}),)
    with probe_bench(CUSTOM, "HouseWorker", tmp_path, targets=targets) as bench:
        bench.loaded.method = "step"
        bench.prefill()
        bench.decode(3, 2)
        bench.flush()
        [line] = bench.events("probe_cycles")
        assert line.phase_ms == {Phase.DRAFT: [1.0, 1.0, 1.0]}
        assert bench.events("probe_prefill")[0].phase_ms == {}
        [installed] = bench.events("probe_installed")
        assert installed.missing["verify"] == "this worker has no such call"


def test_a_batch_given_by_name_is_timed(tmp_path: Path) -> None:
    with probe_bench(fake_workers.EAGLE_V1, "EAGLEWorker", tmp_path) as bench:
        for _ in range(3):
            bench.loaded.worker.forward_batch_generation(batch=fake_workers.Batch([2, 1]))
        bench.flush()
        [line] = bench.events("probe_cycles")
        assert line.batch == [2, 2, 2]


def test_what_runs_inside_graph_capture_is_never_hooked() -> None:
    calls = [call for target in TARGETS for group in target.calls.values() for call in group]
    assert not [call for call in calls if "draft_forward" in call]
