import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.launches import launch, words

from specttui.errors import LaunchError
from specttui.launch import change
from specttui.launch.coupling import coupling_notes, max_draft_tokens
from specttui.launch.edits import Baseline, RemoveFlag, SetEnv, SetFlag, UnsetEnv
from specttui.launch.settings import spec_settings

STEPS, TOPK, DRAFT = "--speculative-num-steps", "--speculative-eagle-topk", "--speculative-num-draft-tokens"


def counts(changed):
    settings = spec_settings(changed)
    return settings.num_steps, settings.eagle_topk, settings.num_draft_tokens


def test_steps_bring_draft_tokens_along_with_topk_1():
    before = launch()
    after = change.apply(before, [SetFlag(STEPS, "2")])
    assert counts(after) == (2, 1, 3)
    assert coupling_notes(before, after) == ("draft tokens 3: with top-k 1 they are steps + 1",)
    assert counts(before) == (5, 1, 6)


def test_draft_tokens_alone_bring_steps_along_with_topk_1():
    assert counts(change.apply(launch(), [SetFlag(DRAFT, "4")])) == (3, 1, 4)


def test_a17_steps_win_over_draft_tokens_that_do_not_fit():
    edits = [SetFlag(STEPS, "3"), SetFlag(TOPK, "1"), SetFlag(DRAFT, "8")]
    assert counts(change.apply(launch(), edits)) == (3, 1, 4)


def test_steps_without_the_others_set_all_three():
    before = launch("sglang serve m --speculative-algorithm EAGLE")
    after = change.apply(before, [SetFlag(STEPS, "4")])
    assert counts(after) == (4, 1, 5)
    assert coupling_notes(before, after) == (
        "steps, top-k and draft tokens are set together: SGLang refuses one without the others",
        "draft tokens 5: with top-k 1 they are steps + 1",
    )


def test_topk_above_1_bounds_the_draft_tokens():
    before = launch()
    after = change.apply(before, [SetFlag(STEPS, "2"), SetFlag(TOPK, "4"), SetFlag(DRAFT, "64")])
    assert counts(after) == (2, 4, 21)
    assert coupling_notes(before, after) == ("draft tokens 21: the most a tree of 2 steps with top-k 4 has",)


def test_topk_above_1_keeps_draft_tokens_that_fit():
    assert counts(change.apply(launch(), [SetFlag(TOPK, "4")])) == (5, 4, 6)


def test_topk_without_draft_tokens_takes_the_default_tree():
    before = launch("sglang serve m --speculative-algorithm EAGLE")
    assert counts(change.apply(before, [SetFlag(TOPK, "4")])) == (3, 4, 8)
    assert counts(change.apply(before, [SetFlag(STEPS, "1"), SetFlag(TOPK, "4")])) == (1, 4, 5)


@pytest.mark.parametrize(("steps", "topk", "most"), [(5, 1, 6), (1, 4, 5), (2, 4, 21), (5, 8, 265)])
def test_max_draft_tokens(steps, topk, most):
    assert max_draft_tokens(steps, topk) == most


def test_removing_all_three_leaves_them_to_the_server():
    after = change.apply(launch(), [RemoveFlag(STEPS), RemoveFlag(TOPK), RemoveFlag(DRAFT)])
    assert counts(after) == (None, None, None)


def test_other_algorithms_are_not_coupled():
    before = launch("sglang serve m --speculative-algorithm NGRAM")
    assert counts(change.apply(before, [SetFlag(DRAFT, "12")])) == (None, None, 12)


def test_unrelated_edits_do_not_touch_a_launch_that_does_not_fit():
    before = launch("sglang serve m --speculative-algorithm EAGLE --speculative-num-steps 3")
    assert counts(change.apply(before, [SetFlag("--page-size", "1")])) == (3, None, None)


def test_baseline_removes_every_speculative_flag_and_only_these():
    before = launch(
        "python -m sglang.launch_server --model-path m --speculative-algo EAGLE --speculative-draft=/d "
        "--speculative-num-steps 3 --speculative-eagle-topk 1 --speculative-num-draft-tokens 4 "
        "--speculative-accept-threshold-acc 0.9 --speculative-adaptive --enable-beta-spec "
        "--enable-multi-layer-eagle --speculative-future-flag 1 2 --max-running-requests 48 --tp 8",
        SGLANG_ENABLE_SPEC_V2="1",
    )
    after = change.apply(before, [Baseline()])
    assert after.argv == words(
        "python -m sglang.launch_server --model-path m --max-running-requests 48 --tp 8"
    )
    assert after.env == before.env
    assert spec_settings(after).is_baseline


def test_speculation_comes_back_after_a_baseline():
    template = launch()
    baseline = change.apply(template, [Baseline(), SetEnv("NCCL_PROTO", "LL")])
    edits = [*change.speculation_edits(template), SetFlag(STEPS, "2")]
    again = change.apply(baseline, edits)
    assert counts(again) == (2, 1, 3)
    assert spec_settings(again).draft_model_path == "/models/draft"
    assert again.env == {"NCCL_PROTO": "LL"}
    assert spec_settings(change.with_speculation(baseline, template)) == spec_settings(template)


def test_a_baseline_is_no_template():
    with pytest.raises(LaunchError, match="no speculative launch"):
        change.speculation_edits(launch("sglang serve m"))


def test_variables_are_set_and_unset():
    after = change.apply(
        launch(NCCL_PROTO="LL", A="1"), [SetEnv("B", "x y"), UnsetEnv("NCCL_PROTO"), UnsetEnv("Z")]
    )
    assert after.env == {"A": "1", "B": "x y"}


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (SetFlag("page-size", "1"), "is no flag"),
        (SetFlag("--a b", "1"), "is no flag"),
        (RemoveFlag("tp"), "is no flag"),
        (SetEnv("A-B", "1"), "is no name of an environment variable"),
        (UnsetEnv(""), "is no name of an environment variable"),
        (SetEnv("A", "x\0y"), "zero byte"),
        (SetFlag("--x", "x\0y"), "zero byte"),
        (SetFlag(STEPS, "0"), "at least 1"),
        (SetFlag(STEPS, "two"), "at least 1"),
        (SetFlag(DRAFT, "1"), "at least 2"),
        (SetFlag(TOPK, "-1"), "at least 1"),
    ],
)
def test_edits_that_cannot_work_are_refused(edit, message):
    with pytest.raises(LaunchError, match=message):
        change.apply(launch(), [edit])


def test_zero_steps_name_the_baseline():
    with pytest.raises(LaunchError) as refused:
        change.apply(launch(), [SetFlag(STEPS, "0")])
    assert refused.value.remedy == "choose baseline to switch speculation off"


def test_baseline_writes_out_a_config_file_that_speculates():
    before = launch("python -m sglang.launch_server --config /c.yaml --port 7")
    config = {"model-path": "/m", "port": 5, "speculative-algorithm": "EAGLE", "speculative-num-steps": 3}
    after = change.apply(before, [Baseline()], config)
    assert after.argv == words("python -m sglang.launch_server --port 7 --model-path /m")
    kept = change.apply(before, [Baseline()], {"model-path": "/m"})
    assert kept.argv == before.argv


def test_removing_a_flag_of_the_config_file_writes_it_out():
    before = launch("sglang serve --config /c.yaml org/model")
    after = change.apply(before, [RemoveFlag("--page-size")], {"page-size": 16, "tp-size": 2})
    assert after.argv == words("sglang serve org/model --tp-size 2")


def test_the_template_may_speculate_in_its_config_file():
    template = launch("python -m sglang.launch_server --config /c.yaml --speculative-num-steps 2")
    config = {"speculative-algorithm": "EAGLE", "speculative-num-steps": 3, "port": 5}
    assert change.speculation_edits(template, config) == (
        SetFlag("--speculative-algorithm", "EAGLE"),
        SetFlag(STEPS, "2"),
    )


@given(steps=st.integers(1, 40), topk=st.integers(1, 16), draft=st.integers(2, 400))
def test_whatever_is_edited_the_counts_fit_together(steps, topk, draft):
    edits = [SetFlag(STEPS, str(steps)), SetFlag(TOPK, str(topk)), SetFlag(DRAFT, str(draft))]
    got_steps, got_topk, got_draft = counts(change.apply(launch(), edits))
    assert (got_steps, got_topk) == (steps, topk)
    assert got_draft == (steps + 1 if topk == 1 else min(draft, 1 + topk + (steps - 1) * topk**2))
