from dataclasses import replace

import pytest

from specttui.analysis.stats import Estimate
from specttui.analysis.verdict import VerdictInput, verdict
from specttui.events import Clock, Phase

LL = VerdictInput(
    accept_len=1.8316,
    cycle_ms=19.471,
    num_steps=2,
    throughput_tok_s=Estimate(94.1, 93.8, 94.4),
    batch=1.0,
    baseline_tpot_ms=11.26,
    baseline_throughput_tok_s=Estimate(88.8, 88.4, 89.2),
    baseline_batch=1.0,
    baseline_tensor_parallel=1,
    shares={Phase.VERIFY: 0.967, Phase.DRAFT: 0.018, Phase.DRAFT_EXTEND: 0.015, Phase.OTHER: 0.0},
)


def test_it_pays():
    found = verdict(LL)
    assert found.outcome == "pays"
    assert found.text == (
        "Pays: accept length 1.83 against break-even 1.73 at batch 1. Verify is 97 % of the cycle."
    )
    assert found.speed_up == pytest.approx(1.059, abs=0.0005)
    assert found.headroom == pytest.approx(0.102, abs=0.0005)
    assert found.limiting_phase is Phase.VERIFY
    assert found.caveats == ("Holds only for the load it was measured at",)


def test_it_costs():
    found = verdict(
        replace(LL, accept_len=2.12, cycle_ms=29.86, num_steps=5, throughput_tok_s=Estimate(71, 70.7, 71.3))
    )
    assert found.outcome == "costs"
    assert found.text.startswith("Costs: accept length 2.12 against break-even 2.65 at batch 1.")


def test_intervals_that_touch_are_even():
    found = verdict(replace(LL, throughput_tok_s=Estimate(90, 88, 92)))
    assert (found.outcome, found.text.split(":")[0]) == ("even", "Even")


@pytest.mark.parametrize(
    ("cycle", "outcome"), [(11.26 * 1.825, "even"), (11.26 * 1.7, "pays"), (11.26 * 2, "costs")]
)
def test_without_intervals_the_figures_decide(cycle, outcome):
    bare = replace(LL, throughput_tok_s=None, baseline_throughput_tok_s=None, cycle_ms=cycle)
    assert verdict(bare).outcome == outcome


def test_throughput_and_cycle_that_disagree_are_told():
    found = verdict(replace(LL, throughput_tok_s=Estimate(80, 79, 81)))
    assert found.outcome == "costs"
    assert found.caveats[0] == (
        "Throughput and cycle time disagree: time is spent outside the cycles, or cycles were missed"
    )


def test_b08_cannot_win_at_any_acceptance():
    found = verdict(
        VerdictInput(accept_len=1.97, cycle_ms=15.35, num_steps=1, baseline_tpot_ms=1000 / 342.2, batch=1)
    )
    assert found.outcome == "cannot_win"
    assert found.text == (
        "Cannot win at any acceptance: break-even 5.25 is above 2, "
        "the most this configuration can accept at batch 1."
    )
    assert found.caveats[0] == "Look at the cycle itself: CUDA graphs off, or a draft that runs eagerly?"


def test_b03_no_baseline_is_unknown_and_says_what_to_do():
    found = verdict(replace(LL, baseline_tpot_ms=None))
    assert (found.outcome, found.break_even_accept_len, found.speed_up) == ("unknown", None, None)
    assert found.text == "No baseline yet: restart with r and choose baseline to compare."
    assert found.limiting_phase is Phase.VERIFY


def test_no_figures_and_the_baseline_itself():
    assert verdict(VerdictInput()).text == "No figures yet: waiting for decode traffic."
    assert (
        verdict(replace(LL, cycle_ms=0.0)).text
        == "No figures yet: cycle time or accept length is not positive."
    )
    baseline = VerdictInput(speculative=False, throughput_tok_s=Estimate(88.8, 88, 89), batch=1)
    assert verdict(baseline).text == (
        "This is the baseline at batch 1: 88.8 tok/s. Restart with r and choose steps to compare."
    )
    assert verdict(baseline).outcome == "unknown"


def test_b07_another_tp_is_not_comparable():
    found = verdict(replace(LL, tensor_parallel=4))
    assert (found.outcome, found.speed_up) == ("unknown", None)
    assert found.text == "Not comparable: the baseline ran with tensor parallelism 1, this run with 4."


def test_a17_another_batch_is_not_comparable():
    found = verdict(replace(LL, batch=48.0, baseline_batch=64.0, concurrency=64, max_running=48))
    assert found.text == "Not comparable: the baseline ran at batch 64, this run at batch 48."
    assert found.caveats[-1] == (
        "Concurrency 64 is above the 48 requests that this server runs at once: "
        "a baseline without that limit is at another load"
    )


def test_b12_the_context_length_is_named():
    assert " at batch 1, context 32768." in verdict(replace(LL, context_tokens=32768)).text


def test_c07_one_load_says_nothing_about_another():
    one = verdict(replace(LL, batch=1.0))
    many = verdict(
        replace(
            LL,
            batch=32.0,
            baseline_batch=32.0,
            cycle_ms=60.0,
            throughput_tok_s=Estimate(977, 970, 984),
            baseline_throughput_tok_s=Estimate(2842, 2800, 2880),
        )
    )
    assert (one.outcome, many.outcome) == ("pays", "cannot_win")
    assert "batch 32" in many.text


def test_host_bound_runs_say_so():
    shares = {Phase.VERIFY: 0.6, Phase.DRAFT: 0.06, Phase.OTHER: 0.34}
    found = verdict(replace(LL, shares=shares, host_bound=True))
    assert found.text.endswith("Host-bound: 34 % of the cycle is in no phase.")
    assert verdict(replace(LL, host_bound=True)).text.endswith(
        "Host-bound: launching takes as long as the GPU's work."
    )


def test_no_shares_no_limit():
    found = verdict(replace(LL, shares={}))
    assert found.text == "Pays: accept length 1.83 against break-even 1.73 at batch 1."
    assert found.limiting_phase is None
    parts = {Phase.TARGET_FORWARD: 0.9, Phase.DRAFT: 0.1}
    assert verdict(replace(LL, shares=parts)).limiting_phase is Phase.DRAFT


@pytest.mark.parametrize(
    ("change", "caveat"),
    [
        ({"clock": Clock.SYNC}, "The sync clock slows the server: its figures are distorted"),
        ({"clock": Clock.WALL}, "The wall clock charges one phase's GPU time to another"),
        ({"simulated": True, "accept_len": 1.1}, "Acceptance is simulated: timing only"),
        (
            {"accept_len": 1.3, "random_prompts": True},
            "Random-token prompts ruin acceptance: use natural text",
        ),
        (
            {"accept_len": 1.3},
            "Hardly anything is accepted: check the draft model, and that the prompts are natural text",
        ),
    ],
)
def test_b16_caveats(change, caveat):
    assert verdict(replace(LL, throughput_tok_s=None, **change)).caveats[-1] == caveat
