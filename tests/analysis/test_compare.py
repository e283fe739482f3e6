import pytest

from specttui.analysis.compare import (
    Metric,
    RunFigures,
    change,
    contradictions,
    obstacles,
    repeat_noise,
    same_batch,
    tied_with_best,
)
from specttui.analysis.stats import Estimate
from specttui.analysis.throughput import cycle_ms


def exact(value, error=0.001):
    return Estimate(value, value * (1 - error), value * (1 + error))


def figures(label, tps, length=None, **more):
    cycle = cycle_ms(tps, length) if length else None
    return RunFigures(label, exact(tps), length, cycle, **more)


def test_b13_all_of_it_is_cycle_time():
    before, after = figures("old", 129.26, 2.960), figures("new", 113.59, 2.960)
    assert (before.cycle_ms, after.cycle_ms) == pytest.approx((22.90, 26.06), abs=0.006)
    found = change(before, after)
    assert after.cycle_ms / before.cycle_ms == pytest.approx(1.138, abs=0.0005)
    assert (found.from_cycle, found.from_acceptance) == pytest.approx((1.0, 0.0), abs=1e-12)
    assert (found.ratio, found.significant, found.note) == (pytest.approx(113.59 / 129.26), True, "")


def test_all_of_it_is_acceptance():
    found = change(RunFigures("a", exact(100), 2.0, 20.0), RunFigures("b", exact(150), 3.0, 20.0))
    assert (found.from_cycle, found.from_acceptance) == (0.0, 1.0)


def test_both_work_against_each_other():
    found = change(RunFigures("a", exact(100), 2.0, 20.0), RunFigures("b", exact(110), 3.3, 30.0))
    assert found.from_cycle < 0 < 1 < found.from_acceptance
    assert found.from_cycle + found.from_acceptance == pytest.approx(1.0)


def test_parts_are_unknown_without_figures_or_without_a_change():
    assert change(figures("a", 100), figures("b", 120)).from_cycle is None
    same = change(figures("a", 100, 2.0), figures("b", 100, 2.0))
    assert (same.from_cycle, same.from_acceptance, same.significant) == (None, None, False)


def test_b07_runs_of_different_tp_are_never_compared():
    a, b = figures("tp 1", 30, tensor_parallel=1), figures("tp 4", 59, tensor_parallel=4)
    assert obstacles(a, b) == ("different tensor parallelism: 1 and 4",)
    assert change(a, b) is None


def test_b14_metrics_are_named_and_never_mixed():
    server = figures("server", 841.0)
    client = figures("client", 377.4, metric=Metric.CLIENT_WALL)
    assert obstacles(server, client) == ("different metrics: server steady decode and client wall",)
    assert change(server, client) is None


def test_a17_b12_other_loads_are_not_compared():
    a = figures("baseline", 100, batch=64.0, context_tokens=16000)
    b = figures("steps 3", 100, batch=48.0, context_tokens=32000)
    assert obstacles(a, b) == ("different load: batch 64 and 48", "different context: 16000 and 32000 tokens")
    assert same_batch(1.0, 1.1)
    assert not same_batch(1.0, 1.2)


def test_b17_a_cycle_five_times_longer_points_at_the_link():
    found = change(figures("x8", 70.5, 2.5), figures("x1", 14.4, 2.5))
    assert found.note == (
        "the cycle grew 4.9 times at the same acceptance: "
        "suspect the link between the GPUs (lane width, P2P), not the configuration"
    )
    assert change(figures("x8", 70.5, 2.5), figures("other", 14.4, 1.2)).note == ""


def test_c06_ties_within_the_noise_of_repeats():
    default = [1003.5, 998.6]
    noise = repeat_noise(default)
    assert noise == pytest.approx(0.005, abs=0.0002)
    sweep = {"default": 1001.05, "LL": 998.1, "LL128": 1131.6, "Simple": 1108.9, "LL,LL128,Simple": 1127.6}
    assert tied_with_best(sweep, noise) == ("LL128", "LL,LL128,Simple")
    assert sweep["LL128"] / sweep["default"] == pytest.approx(1.13, abs=0.005)
    assert tied_with_best({}) == ()
    assert repeat_noise([5.0]) == 0.0


def b06(steps, topk, draft, tps, length):
    return RunFigures(
        f"{steps}/{topk}/{draft}", exact(tps), length, cycle_ms(tps, length),
        num_steps=steps, eagle_topk=topk, num_draft_tokens=draft,
    )  # fmt: skip


def test_b06_costs_that_contradict_each_other_are_flagged():
    runs = [
        b06(3, 1, 4, 159.78, 1.86), b06(3, 3, 8, 172.99, 2.20), b06(3, 3, 4, 207.62, 1.99),
        b06(7, 4, 16, 191.90, 2.52), b06(6, 4, 12, 171.54, 2.42), b06(8, 8, 60, 177.5, 3.2),
    ]  # fmt: skip
    assert [run.cycle_ms for run in runs] == pytest.approx(
        [11.64, 12.72, 9.58, 13.13, 14.11, 18.03], abs=0.006
    )
    assert contradictions(runs) == (("3/1/4", "3/3/4"), ("6/4/12", "7/4/16"))


def test_only_like_is_held_against_like():
    a = RunFigures("a", exact(100), 2.0, 20.0, num_steps=2)
    b = RunFigures("b", exact(100), 2.0, 10.0, num_steps=5, tensor_parallel=8)
    assert contradictions([a, b, RunFigures("c", exact(100))]) == ()
