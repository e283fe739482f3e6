from support.launches import launch

from specttui.launch.change import apply
from specttui.launch.communication import communication
from specttui.launch.edits import SetEnv, SetFlag

SERVER = launch("sglang serve m --tp 8", NCCL_PROTO="LL", HF_TOKEN="secret")


def test_steps_do_not_change_how_the_gpus_talk():
    assert communication(SERVER) == communication(apply(SERVER, [SetFlag("--page-size", "16")]))


def test_nccl_variables_switches_and_sizes_do():
    found = {
        communication(apply(SERVER, [edit]))
        for edit in (
            SetEnv("NCCL_PROTO", "Simple"),
            SetEnv("NCCL_P2P_DISABLE", "1"),
            SetFlag("--disable-custom-all-reduce"),
            SetFlag("--tp", "4"),
        )
    }
    assert len(found | {communication(SERVER)}) == 5


def test_its_words_hold_no_secret():
    changed = apply(SERVER, [SetFlag("--disable-custom-all-reduce")])
    assert str(communication(changed)) == "NCCL_PROTO=LL --disable-custom-all-reduce"
    assert str(communication(launch("sglang serve m"))) == "no NCCL settings"
