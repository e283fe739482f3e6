"""What a session remembers of launches."""

from __future__ import annotations

import pytest

from specttui.errors import LaunchError
from specttui.events import Launch
from specttui.launch import spec_settings
from specttui.launch.edits import Baseline, SetEnv, SetFlag
from specttui.session.launches import Launches

SERVER = (
    "python -m sglang.launch_server --model-path m --tp 8 --api-key sekrit --speculative-algorithm EAGLE3 "
    "--speculative-draft-model-path d --speculative-num-steps 5 --speculative-eagle-topk 1 "
    "--speculative-num-draft-tokens 6"
)


def met() -> Launches:
    launches = Launches()
    launches.found(Launch(argv=tuple(SERVER.split())), None, "0.5.12")
    return launches


def test_speculation_comes_back_after_a_baseline() -> None:
    launches = met()
    launches.serves(launches.result_of([Baseline()]))
    assert launches.current is not None
    assert spec_settings(launches.current).is_baseline
    again = launches.result_of([SetFlag("--speculative-num-steps", "2")])
    settings = spec_settings(again)
    assert (settings.algorithm, settings.num_steps, settings.num_draft_tokens) == ("EAGLE3", 2, 3)
    assert settings.draft_model_path == "d"


def test_other_edits_leave_a_baseline_a_baseline() -> None:
    launches = met()
    launches.serves(launches.result_of([Baseline()]))
    after = launches.result_of([SetEnv("NCCL_PROTO", "LL")])
    assert spec_settings(after).is_baseline
    assert after.env["NCCL_PROTO"] == "LL"


def test_preview_says_what_changes_and_hides_secrets() -> None:
    diff = met().edited([SetFlag("--speculative-num-steps", "2"), SetEnv("NCCL_PROTO", "LL")])
    assert diff.label == "steps 2, LL"
    assert any("5 -> 2" in change for change in diff.changes)
    assert not any("sekrit" in line.text for line in diff.lines)
    assert "sekrit" in diff.after.argv


def test_roll_back_is_offered_once_a_start_failed() -> None:
    launches = met()
    good = launches.current
    assert not launches.can_roll_back
    launches.started(launches.result_of([SetFlag("--mem-fraction-static", "0.99")]))
    assert launches.can_roll_back
    assert launches.last_good == good
    assert good is not None
    launches.serves(good)
    assert not launches.can_roll_back


def test_without_a_server_there_is_nothing_to_edit() -> None:
    with pytest.raises(LaunchError, match="No server's launch is known"):
        Launches().edited([Baseline()])
