"""Start-up: milestones of all releases, and the model of a start as it goes on."""

from __future__ import annotations

import pytest
from support.logs import of, one, sample

from specttui.events import StartupStep
from specttui.log.startup import StartupModel, learnt


@pytest.mark.parametrize(
    ("line", "phase", "edge"),
    [
        (
            "Capture cuda graph begin. This can take up to several minutes. avail mem=13.4 GB",
            "graphs",
            "begin",
        ),
        (
            "Capture target verify CUDA graph begin. backend=fa3, num_tokens_per_bs=3, bs=[1]",
            "graphs",
            "begin",
        ),
        ("Capture draft cuda graph end. Time elapsed: 2.39 s. mem usage=0.06 GB.", "draft_graphs", "end"),
        ("Capture draft decode CUDA graph begin. backend=fa3, bs=[1]", "draft_graphs", "begin"),
        ("Capture Frozen-KV MTP draft cuda graph begin.", "draft_graphs", "begin"),
        ("Capture draft extend cuda graph end. Time elapsed: 0.76 s.", "extend_graphs", "end"),
        (
            "Capture draft extend (step=1) CUDA graph end. elapsed=0.70 s, mem usage=0.1 GB",
            "extend_graphs",
            "end",
        ),
        ("Init torch distributed begin.", "distributed", "begin"),
        ("Init torch distributed ends. mem usage=0.09 GB", "distributed", "end"),
        ("sglang is using nccl==2.28.9", "distributed", "progress"),
        ("Load weight begin. avail mem=139.13 GB", "weights", "begin"),
        ("Load weight end. type=DeepseekV3ForCausalLMNextN, avail mem=1 GB", "draft_weights", "end"),
        ("Using KV cache dtype: torch.bfloat16", "kv_cache", "begin"),
        ("KV Cache is allocated. dtype: torch.bfloat16, #tokens: 9, KV size: 1 GB", "kv_cache", "progress"),
        ("Memory pool end. avail mem=1.27 GB", "kv_cache", "end"),
        ("max_total_num_tokens=3000, chunked_prefill_size=8192", "warmup", "begin"),
        ("INFO:     Application startup complete.", "warmup", "progress"),
        ("The server is fired up and ready to roll!", "ready", "end"),
    ],
)
def test_milestones(line: str, phase: str, edge: str) -> None:
    step = one(StartupStep, f"[2026-01-01 00:00:00 TP0] {line}\n")
    assert (step.phase, step.edge, step.rank, step.detail) == (phase, edge, "TP0", line)


def test_the_second_model_of_a_rank_is_the_draft() -> None:
    steps = of(StartupStep, sample("F_port_in_use"))
    begun = [step.phase for step in steps if step.edge == "begin"]
    assert begun == [
        "init", "distributed", "weights", "kv_cache", "graphs", "draft_weights", "draft_weights", "kv_cache",
        "draft_graphs", "warmup",
    ]  # fmt: skip
    bars = [(step.phase, step.done, step.total) for step in steps if step.done is not None]
    assert bars[:2] == [("weights", 0, 8), ("weights", 8, 8)]
    assert ("draft_weights", 1, 1) in bars
    assert bars[-1] == ("draft_graphs", 12, 12)


def test_a_bar_after_ready_is_somebody_elses() -> None:
    log = "The server is fired up and ready to roll!\nDownloading:  50%|##  | 1/2 [00:01<00:01, 1.0it/s]\n"
    assert [step.phase for step in of(StartupStep, log)] == ["ready"]


def step(phase: str, edge: str, rank: str = "", **more: float) -> StartupStep:
    return StartupStep.model_validate({"phase": phase, "edge": edge, "rank": rank, **more})


def test_durations_sum_to_the_whole_start() -> None:
    model = StartupModel()
    model.apply(step("init", "begin"), 100.0)
    model.apply(step("weights", "begin"), 110.0)
    model.apply(step("weights", "end"), 140.0)
    model.apply(step("graphs", "begin"), 142.0)
    model.apply(step("ready", "end"), 150.0)
    assert model.durations(1000.0) == {"init": 10.0, "weights": 32.0, "graphs": 8.0}
    view = model.view(1000.0)
    assert (view.ready, view.phase, view.elapsed_s, view.fraction, view.eta_s) == (
        True,
        "ready",
        50.0,
        1.0,
        0.0,
    )


def test_the_rest_is_learnt_from_earlier_starts() -> None:
    model = StartupModel({"init": 10.0, "weights": 30.0, "graphs": 10.0})
    model.apply(step("init", "begin"), 0.0)
    assert model.view(4.0).eta_s == 46.0
    model.apply(step("weights", "begin"), 10.0)
    view = model.view(25.0)
    assert (view.eta_s, view.fraction) == (25.0, pytest.approx(0.5))
    model.apply(step("weights", "progress", done=1, total=3), 25.0)
    view = model.view(25.0)
    assert (view.phase_fraction, view.eta_s) == (pytest.approx(1 / 3), pytest.approx(30.0))
    model.apply(step("weights", "progress", done=2, total=3, eta_s=7.0), 30.0)
    assert model.view(30.0).eta_s == 17.0
    # Much slower than ever before: the estimate runs out, but never below zero and never to "done".
    assert model.view(500.0).fraction == pytest.approx(1 - 17 / 50)


def test_without_earlier_starts_there_is_no_estimate() -> None:
    model = StartupModel()
    model.apply(step("weights", "progress", done=1, total=4, eta_s=9.0), 0.0)
    view = model.view(2.0)
    assert (view.phase_fraction, view.fraction, view.eta_s) == (0.25, None, None)


def test_an_empty_model_has_a_view() -> None:
    view = StartupModel({"init": 5.0}).view(7.0)
    assert (view.phase, view.elapsed_s, view.last_output_s, view.ready) == ("", 0.0, 0.0, False)


def test_learnt_mixes_old_and_new() -> None:
    assert learnt({}, {"init": 10.0}) == {"init": 10.0}
    assert learnt({"init": 10.0, "graphs": 5.0}, {"init": 20.0, "weights": 3.0}) == {
        "init": 15.0,
        "weights": 3.0,
    }


def test_a_rank_that_says_no_more_does_not_hold_back_the_rest() -> None:
    model = StartupModel()
    phases = []
    for at_s, event in enumerate(of(StartupStep, sample("D_v2_LL"))):
        model.apply(event, float(at_s))
        phases.append(model.phase)
    assert list(dict.fromkeys(phases)) == [
        "init", "distributed", "weights", "kv_cache", "graphs", "draft_weights", "draft_graphs", "warmup",
        "ready",
    ]  # fmt: skip
