import pytest
from support.launches import launch

from specttui.errors import LaunchError
from specttui.launch.change import apply
from specttui.launch.edits import RemoveFlag, SetEnv, SetFlag, UnsetEnv
from specttui.launch.nccl import validate_environment
from specttui.launch.presets import PRESETS, is_active, preset


def test_the_bundled_groups():
    assert list(dict.fromkeys(each.group for each in PRESETS)) == [
        "NCCL protocol", "NCCL algorithm", "NCCL channels", "NCCL buffer size", "NCCL threads", "NCCL P2P",
        "custom all-reduce", "spec worker", "attention backend", "simulated acceptance",
    ]  # fmt: skip
    assert len({each.name for each in PRESETS}) == len({each.short for each in PRESETS}) == len(PRESETS)
    assert all(each.description.endswith(".") or each.description.endswith(")") for each in PRESETS)


def test_presets_by_name():
    assert preset("nccl ll").edits == (SetEnv("NCCL_PROTO", "LL"),)
    assert preset("NCCL protocol default").edits == (UnsetEnv("NCCL_PROTO"),)
    assert preset("NCCL P2P off").edits == (SetEnv("NCCL_P2P_DISABLE", "1"), UnsetEnv("NCCL_P2P_LEVEL"))
    assert preset("custom all-reduce off").edits == (SetFlag("--disable-custom-all-reduce"),)
    assert preset("spec v2").edits == (
        SetEnv("SGLANG_ENABLE_SPEC_V2", "1"),
        RemoveFlag("--disable-overlap-schedule"),
    )
    assert "Timing only" in preset("simulate accept length 3").description
    with pytest.raises(LaunchError, match="no preset 'nothing'"):
        preset("nothing")


@pytest.mark.parametrize("each", PRESETS, ids=lambda each: each.name)
def test_every_preset_applies_and_is_sound(each):
    after = apply(launch(), each.edits)
    assert [problem for problem in validate_environment(after.env) if problem.severity == "refuse"] == []
    sets = any(isinstance(edit, SetEnv | SetFlag) for edit in each.edits)
    assert is_active(each, after) is sets


@pytest.mark.parametrize("group", sorted({each.group for each in PRESETS}))
def test_a_group_excludes_its_members_and_its_last_clears_it(group):
    members = [each for each in PRESETS if each.group == group]
    for each in members[:-1]:
        changed = apply(launch(), each.edits)
        for other in members[:-1]:
            if other is not each:
                both = apply(changed, other.edits)
                assert not is_active(each, both), (each.name, other.name)
        assert apply(changed, members[-1].edits) == launch()
