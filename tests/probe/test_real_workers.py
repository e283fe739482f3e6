"""The real worker files, patched and run: right figures for known times, and the original bytes back."""

from __future__ import annotations

import statistics
from pathlib import Path

import pytest
from support.fake_torch import FakeMachine
from support.real_workers import real_worker, sleeper
from support.wheels import worker_source

from specttui.events import Clock, Phase
from specttui.probe import apply, inspect, remove

pytestmark = pytest.mark.wheels

FILES = [
    ("0.4.10.post2", "eagle_worker.py"),
    ("0.5.2", "eagle_worker.py"),
    ("0.5.12", "eagle_worker.py"),
    ("0.5.12", "eagle_worker_v2.py"),
    ("0.5.23", "eagle_worker_v2.py"),
]
#: Real sleeps, in seconds, told apart by their length.
SLEEPS_S = {"draft": 0.02, "target": 0.06, "accept": 0.02, "draft_extend": 0.03, "prefill_draft": 0.01}


@pytest.mark.parametrize(("version", "name"), FILES)
def test_patch_and_removal(version: str, name: str) -> None:
    source = worker_source(version, name)
    patched = apply(source, session_id="s", utc="u")
    compile(patched, name, "exec")
    assert patched.startswith(source)
    assert remove(patched) == source
    assert set(inspect(source).found) >= {
        "draft",
        "verify",
        "draft_extend",
        "prefill_target",
        "accept_counts",
    }


@pytest.mark.parametrize(("version", "name"), FILES)
def test_figures_for_known_sleeps(version: str, name: str, tmp_path: Path) -> None:
    with real_worker(version, name, tmp_path, sleeper(SLEEPS_S), Clock.WALL) as real:
        for _ in range(6):
            real.decode()
        [installed] = real.events("probe_installed")
        assert set(installed.hooked) >= {"draft", "verify", "target_forward", "accept", "draft_extend"}
        cycles = real.events("probe_cycles")
        accepted = [count for line in cycles for count in line.accepted]
        assert accepted[:4] == [3] * 4
        median = {
            phase: statistics.median(value for line in cycles for value in line.phase_ms[phase])
            for phase in (Phase.DRAFT, Phase.VERIFY, Phase.TARGET_FORWARD, Phase.ACCEPT, Phase.DRAFT_EXTEND)
        }
        known = [value for line in cycles for value in line.cycle_ms if value is not None]
        cycle_ms = statistics.median(known)
    # A sleep is never shorter than asked; how much longer depends on the machine.
    assert 20 <= median[Phase.DRAFT] < 60
    assert 80 <= median[Phase.VERIFY] < 200
    assert 60 <= median[Phase.TARGET_FORWARD] < 150
    assert 20 <= median[Phase.ACCEPT] < 60
    assert 30 <= median[Phase.DRAFT_EXTEND] < 90
    parts = median[Phase.DRAFT] + median[Phase.VERIFY] + median[Phase.DRAFT_EXTEND]
    assert parts <= cycle_ms * 1.1
    other = cycle_ms - parts
    assert abs((parts + other) / cycle_ms - 1) < 1e-9
    assert other / cycle_ms < 0.2


@pytest.mark.parametrize(("version", "name"), FILES)
def test_gpu_times_are_exact(version: str, name: str, tmp_path: Path) -> None:
    machine = FakeMachine()
    gpu_ms = {"draft": 1.0, "target": 5.0, "accept": 0.5, "draft_extend": 0.75, "prefill_draft": 2.0}

    def spend(work: str) -> None:
        machine.cpu(0.125)
        machine.gpu(gpu_ms[work])

    with real_worker(version, name, tmp_path, spend, Clock.EVENTS, machine) as real:
        real.prefill()
        for _ in range(6):
            real.decode()
        machine.synchronize()
        cycles = real.events("probe_cycles")
        [prefill] = real.events("probe_prefill")
    values = {
        phase: [value for line in cycles for value in line.phase_ms[phase]] for phase in cycles[0].phase_ms
    }
    assert {phase.value: times[4] for phase, times in values.items()} == {
        "draft": 1.0,
        "verify": 5.5,
        "target_forward": 5.0,
        "accept": 0.5,
        "draft_extend": 0.75,
    }
    assert [value for line in cycles for value in line.cycle_ms][3] == 7.25
    assert prefill.phase_ms == {Phase.PREFILL_TARGET: [5.125], Phase.PREFILL_DRAFT: [2.0]}
    assert (prefill.batch, prefill.tokens) == ([2], [64])
