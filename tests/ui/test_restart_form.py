from dataclasses import replace

import pytest
from support.scripted_snapshots import BASELINE, STEPS_2, serving

from specttui.errors import UsageError
from specttui.launch.edits import Baseline, Preset, RemoveFlag, SetEnv, SetFlag, UnsetEnv
from specttui.ui.restart_form import RestartForm, edits, form_for, parse_lines

LL = Preset("NCCL LL", "LL", "NCCL protocol", "low latency", (SetEnv("NCCL_PROTO", "LL"),))
NOW = RestartForm("2", "1", "3")


def test_nothing_changed_is_no_edit():
    assert edits(NOW, STEPS_2) == ()


def test_only_what_differs_is_edited():
    assert edits(replace(NOW, steps="5"), STEPS_2) == (SetFlag("--speculative-num-steps", "5"),)
    assert edits(replace(NOW, topk="4", draft_tokens="8"), STEPS_2) == (
        SetFlag("--speculative-eagle-topk", "4"),
        SetFlag("--speculative-num-draft-tokens", "8"),
    )


def test_with_top_k_1_draft_tokens_follow_and_are_never_sent():
    form = replace(NOW, steps="5", draft_tokens="99")
    assert form.coupled_draft_tokens == "6"
    assert edits(form, STEPS_2) == (SetFlag("--speculative-num-steps", "5"),)
    assert replace(NOW, topk="2").coupled_draft_tokens is None
    assert replace(NOW, steps="").coupled_draft_tokens == ""


def test_baseline():
    assert edits(replace(NOW, baseline=True), STEPS_2) == (Baseline(),)
    assert edits(replace(NOW, baseline=True), BASELINE) == ()


def test_from_a_baseline_back_everything_filled_in_is_sent():
    assert edits(NOW, BASELINE) == (
        SetFlag("--speculative-num-steps", "2"),
        SetFlag("--speculative-eagle-topk", "1"),
    )


def test_presets_then_free_lines():
    form = replace(NOW, presets=(LL,), free_text="--mem-fraction-static 0.8\n\nNCCL_DEBUG=INFO")
    assert edits(form, STEPS_2) == (
        SetEnv("NCCL_PROTO", "LL"),
        SetFlag("--mem-fraction-static", "0.8"),
        SetEnv("NCCL_DEBUG", "INFO"),
    )


@pytest.mark.parametrize(
    ("text", "edit"),
    [
        ("--flag value", SetFlag("--flag", "value")),
        ("--flag=value", SetFlag("--flag", "value")),
        ("--flag", SetFlag("--flag", None)),
        ("--flag   two words", SetFlag("--flag", "two words")),
        ("""--json '{"a": 1}'""", SetFlag("--json", '{"a": 1}')),
        ('--json={"a": [1, 2]}', SetFlag("--json", '{"a": [1, 2]}')),
        ("NAME=value", SetEnv("NAME", "value")),
        ("NAME=", SetEnv("NAME", "")),
        ("NAME=a=b", SetEnv("NAME", "a=b")),
        ('NAME="two words"', SetEnv("NAME", "two words")),
        ("remove --flag", RemoveFlag("--flag")),
        ("unset NAME", UnsetEnv("NAME")),
        ("  NAME=q  ", SetEnv("NAME", "q")),
    ],
)
def test_free_lines(text, edit):
    assert parse_lines(text) == (edit,)


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("flag value", "Line 1: 'flag value' is no setting"),
        ("--ok 1\n-x", "Line 2: '-x' is no setting"),
        ("remove flag", "Line 1: 'remove flag' is no setting"),
        ("unset 1X", "Line 1: 'unset 1X' is no setting"),
        ("NAME='open", "Line 1: a quote is not closed"),
        ("1NAME=x", "Line 1: '1NAME=x' is no setting"),
    ],
)
def test_lines_that_cannot_be_read_are_named(text, title):
    with pytest.raises(UsageError) as raised:
        parse_lines(text)
    assert raised.value.title == title


@pytest.mark.parametrize("steps", ["0", "x", "-1", "1.5"])
def test_numbers_that_cannot_be_used_are_named(steps):
    with pytest.raises(UsageError, match=r"^Steps: "):
        edits(replace(NOW, steps=steps), STEPS_2)


def test_form_as_the_server_runs():
    assert form_for(serving()) == NOW


def test_form_of_a_baseline_remembers_the_last_speculative_run():
    assert form_for(replace(serving(), settings=BASELINE)) == replace(NOW, baseline=True)
    assert form_for(replace(serving(), settings=BASELINE, runs=())) == RestartForm(baseline=True)
