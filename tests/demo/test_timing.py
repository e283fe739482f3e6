"""The demo's timing model against the figures of DESIGN.md section 10 and of the measurements on an H200."""

import pytest

from specttui.demo.simulated.sglang.simulation.timing import (
    H200,
    MISSION,
    TimingModel,
    accept_length,
    is_known_protocol,
    warm_up_factor,
)


def mission(steps: int, protocol: str = "", **settings: object) -> TimingModel:
    return TimingModel(MISSION, steps=steps, draft_tokens=steps + 1, protocol=protocol, **settings)


def test_the_baseline_gives_88_8_tokens_per_second():
    assert round(TimingModel(MISSION).throughput_tok_s(), 1) == 88.8


@pytest.mark.parametrize(("steps", "tok_s"), [(2, 70.7), (5, 71.0), (10, 59.6)])
def test_default_nccl_never_pays(steps, tok_s):
    assert round(mission(steps).throughput_tok_s(), 1) == tok_s


@pytest.mark.parametrize(("steps", "tok_s"), [(2, 94.1), (3, 92.3), (5, 81.6)])
def test_low_latency_pays_at_few_steps(steps, tok_s):
    assert round(mission(steps, "LL").throughput_tok_s(), 1) == tok_s


def test_two_steps_with_low_latency_are_the_best_of_all():
    figures = {
        (steps, proto): mission(steps, proto).throughput_tok_s()
        for steps in range(1, 11)
        for proto in ("", "LL")
    }
    assert max(figures, key=figures.__getitem__) == (2, "LL")


def test_phases_at_five_steps():
    model = mission(5)
    assert round(model.draft_ms(), 3) == 0.87
    assert round(model.verify_ms(), 2) == 28.7
    assert model.extend_ms() == 0.29
    assert round(model.cycle_ms(), 2) == 29.86
    assert round(model.accept_length, 2) == 2.12


def test_accept_length_is_the_geometric_sum():
    assert accept_length(0.5, 2) == 1.75
    assert accept_length(0.5, 0) == 1.0


def test_wrong_draft_layers_ruin_acceptance():
    model = mission(2, layers_right=False)
    assert model.acceptance == 0.19
    assert round(model.accept_length, 4) == 1.2261


def test_verify_grows_by_three_percent_per_further_request():
    model = mission(5)
    assert model.verify_ms(2) / model.verify_ms(1) == pytest.approx(1.03)
    assert model.draft_ms() == mission(5).draft_ms()


def test_a_tree_is_accepted_longer_and_verified_slower():
    chain, tree = mission(3), TimingModel(MISSION, steps=3, topk=4, draft_tokens=8)
    assert tree.accept_length > chain.accept_length
    assert tree.verify_ms() - chain.verify_ms() == pytest.approx(4 * 1.14)


@pytest.mark.parametrize(
    ("protocol", "factor"), [("", 1.0), ("Simple", 1.0), ("LL,Simple", 1.0), ("ll", 0.745)]
)
def test_only_the_plain_low_latency_protocol_changes_the_mission(protocol, factor):
    assert mission(2, protocol).nccl_factor() == factor


def test_nccl_is_void_on_one_gpu():
    assert mission(2, "LL", tensor_parallel=1).nccl_factor() == 1.0


@pytest.mark.parametrize("value", ["LL", "ll128", "Simple", "LL,LL128,Simple", "^LL"])
def test_protocols_that_nccl_takes(value):
    assert is_known_protocol(value)


@pytest.mark.parametrize("value", ["FOO", "LL,FOO", "", "LL256"])
def test_protocols_that_nccl_refuses(value):
    assert not is_known_protocol(value)


def test_warm_up_fades():
    assert warm_up_factor(0) == 1.15
    assert warm_up_factor(600) == pytest.approx(1.0, abs=1e-4)


def test_h200_cycles_match_the_measurements_at_three_steps():
    overlapped = TimingModel(H200, steps=3, draft_tokens=4, tensor_parallel=1)
    synchronous = TimingModel(H200, steps=3, draft_tokens=4, tensor_parallel=1, overlapped=False)
    assert round(overlapped.draft_ms(), 2) == 1.02
    assert round(overlapped.verify_ms(), 2) == 5.11
    assert round(overlapped.cycle_ms(), 2) == 7.03
    assert round(synchronous.cycle_ms(), 2) == 8.6


def test_h200_simple_slows_verify_by_a_quarter_on_two_gpus():
    model = TimingModel(H200, steps=3, draft_tokens=4, protocol="Simple", tensor_parallel=2)
    assert model.nccl_factor() == 1.25
