import pytest
from support.launches import launch

from specttui.launch.change import apply
from specttui.launch.edits import Baseline, RemoveFlag, SetEnv, SetFlag, UnsetEnv
from specttui.launch.label import label
from specttui.launch.presets import preset

STEPS, TOPK, DRAFT = "--speculative-num-steps", "--speculative-eagle-topk", "--speculative-num-draft-tokens"


@pytest.mark.parametrize(
    ("edits", "expected"),
    [
        ([Baseline()], "baseline"),
        ([], "steps 5"),
        ([SetFlag(STEPS, "2"), SetEnv("NCCL_PROTO", "LL")], "steps 2, LL"),
        ([Baseline(), SetEnv("NCCL_PROTO", "LL")], "baseline, LL"),
        ([SetFlag(TOPK, "4"), SetFlag(DRAFT, "8")], "steps 5, topk 4, draft 8"),
        ([SetEnv("NCCL_DEBUG", "INFO"), SetFlag("--page-size", "16")], "steps 5"),
        ([SetFlag("--speculative-algorithm", "NGRAM"), RemoveFlag(STEPS)], "NGRAM"),
    ],
)
def test_labels_on_their_own(edits, expected):
    assert label(apply(launch(), edits)) == expected


@pytest.mark.parametrize(
    ("edits", "expected"),
    [
        ([Baseline()], "baseline"),
        ([], "steps 5"),
        ([SetFlag(STEPS, "2"), SetEnv("NCCL_PROTO", "LL")], "steps 2, LL"),
        ([SetFlag("--disable-custom-all-reduce")], "steps 5, no custom AR"),
        ([SetFlag("--attention-backend", "fa3")], "steps 5, fa3"),
        ([SetFlag("--attention-backend", "mine")], "steps 5, attention-backend mine"),
        ([SetFlag("--page-size", "16")], "steps 5, page 16"),
        ([SetFlag("--tp", "4")], "steps 5, TP 4"),
        ([RemoveFlag("--trust-remote-code")], "steps 5, no trust-remote-code"),
        ([SetEnv("NCCL_IB_DISABLE", "1")], "steps 5, IB_DISABLE=1"),
        ([UnsetEnv("NCCL_DEBUG")], "steps 5, no DEBUG"),
        ([SetFlag("--speculative-algorithm", "EAGLE")], "steps 5, EAGLE"),
        ([SetFlag("--speculative-draft-model-path", "/x/other")], "steps 5, draft other"),
        ([SetFlag("--speculative-attention-mode", "decode")], "steps 5, speculative-attention-mode decode"),
        ([SetFlag("--api-key", "hunter2")], "steps 5, api-key ***"),
        ([SetEnv("HF_TOKEN", "hunter2")], "steps 5, HF_TOKEN=***"),
        (list(preset("NCCL P2P SYS").edits), "steps 5, P2P SYS"),
        (list(preset("spec v2").edits), "steps 5, v2"),
    ],
)
def test_labels_against_a_base(edits, expected):
    base = launch(NCCL_DEBUG="INFO")
    assert label(apply(base, edits), base) == expected


def test_what_was_taken_back_is_named():
    base = launch("sglang serve m --disable-custom-all-reduce", NCCL_PROTO="LL")
    after = apply(base, [UnsetEnv("NCCL_PROTO"), RemoveFlag("--disable-custom-all-reduce")])
    assert label(after, base) == "baseline, proto default, +1"


def test_nextn_is_no_other_algorithm_than_eagle():
    base = launch("sglang serve m --speculative-algorithm EAGLE")
    assert label(apply(base, [SetFlag("--speculative-algorithm", "NEXTN")]), base) == "NEXTN"


def test_long_labels_keep_two_parts_and_count_the_rest():
    base = launch()
    edits = [
        SetFlag("--page-size", "16"),
        SetFlag("--mem-fraction-static", "0.8"),
        SetEnv("NCCL_PROTO", "LL"),
    ]
    text = label(apply(base, edits), base)
    assert text == "steps 5, LL, page 16, +1"
    assert len(text) <= 24


def test_the_config_file_counts():
    asked = launch("sglang serve m --config /c.yaml")
    assert label(asked, asked, {"speculative-algorithm": "EAGLE", "speculative-num-steps": 3}) == "steps 3"
