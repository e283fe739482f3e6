"""The listing of arguments, and the server's words on them."""

from __future__ import annotations

import pytest
from support.logs import of, one, sample

from specttui.events import ArgumentAdjusted, ServerArguments, StartupStep


def test_the_real_listing() -> None:
    arguments = one(ServerArguments, sample("A_v1_s5")).arguments
    assert len(arguments) > 350
    assert arguments["speculative_algorithm"] == "EAGLE3"
    assert arguments["speculative_num_steps"] == "5"
    assert arguments["speculative_num_draft_tokens"] == "6"
    assert arguments["model_path"] == "/tmp/m/Llama-3-8B-dummy"
    assert arguments["cuda_graph_bs"] == "[1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16]"
    assert arguments["disable_overlap_schedule"] == "True"
    assert arguments["api_key"] == "None"


@pytest.mark.parametrize(
    "listing",
    [
        "ServerArgs(model_path='/m, x', tp_size=2, api_key='sk-1', b=[1, (2, 3)], c={'k': 'v, w'})",
        """{'model_path': '/m, x', "tp_size": 2, 'api_key': 'sk-1', 'b': [1, (2, 3)], 'c': {'k': 'v, w'}}""",
    ],
)
def test_both_forms(listing: str) -> None:
    event = one(ServerArguments, f"[2026-01-01 00:00:00] server_args={listing}\n")
    assert event.arguments == {
        "model_path": "/m, x",
        "tp_size": "2",
        "api_key": "***",
        "b": "[1, (2, 3)]",
        "c": "{'k': 'v, w'}",
    }
    assert event.stamp == "2026-01-01 00:00:00"


def test_a_listing_that_was_cut_off_keeps_whole_arguments() -> None:
    event = one(ServerArguments, "server_args=ServerArgs(model_path='/m', tp_size=2, port=300\n")
    assert event.arguments == {"model_path": "/m", "tp_size": "2"}


def test_the_listing_begins_a_start() -> None:
    steps = of(StartupStep, "server_args=ServerArgs(a=1)\n")
    assert [(step.phase, step.edge) for step in steps] == [("init", "begin")]


@pytest.mark.parametrize(
    ("words", "values"),
    [
        ("Max running requests is reset to 48 for speculative decoding. You can override this.",
         {"max_running_requests": "48"}),
        ("max_running_requests was reduced from the requested 64 to 31 (per dp worker) due to x.",
         {"max_running_requests": "31"}),
        ("Overlap scheduler is disabled because of using eagle3 and standalone speculative decoding.",
         {"disable_overlap_schedule": "True"}),
        ("The overlap scheduler and mixed chunked prefill are disabled because of using ngram.",
         {"disable_overlap_schedule": "True", "enable_mixed_chunk": "False"}),
        ("Beta spec is enabled for eagle speculative decoding and overlap schedule is turned on.",
         {"disable_overlap_schedule": "False"}),
        ("Spec v2 is enabled by default for eagle/eagle3/standalone speculative decoding.",
         {"disable_overlap_schedule": "False"}),
        ("Spec v1 is used for eagle because x.", {"disable_overlap_schedule": "True"}),
        ("Non-overlap (synchronous) spec v2 is used for eagle.", {"disable_overlap_schedule": "True"}),
        ("Attention backend not set. Use triton backend by default.", {"attention_backend": "triton"}),
        ("speculative_adaptive disabled: x. Falling back to static.", {"speculative_adaptive": "False"}),
        ("DeepSeek MTP does not require setting speculative_draft_model_path.", {}),
        ("DFLASH only supports speculative_eagle_topk == 1; overriding speculative_eagle_topk=4 to 1.",
         {"speculative_eagle_topk": "1"}),
        ("Custom allreduce is disabled because it's not supported on more than two PCIe-only GPUs.",
         {"disable_custom_all_reduce": "True"}),
    ],
)  # fmt: skip
def test_adjustments_of_all_releases(words: str, values: dict[str, str]) -> None:
    event = one(ArgumentAdjusted, f"[2026-01-01 00:00:00 TP0] {words}\n")
    assert (event.text, event.values, event.rank) == (words, values, "TP0")


def test_ordinary_lines_adjust_nothing() -> None:
    assert of(ArgumentAdjusted, "[2026-01-01 00:00:00] Using draft model load_format: 'dummy'\n") == []
