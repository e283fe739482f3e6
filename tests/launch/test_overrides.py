import pytest
from support.launches import launch

from specttui.launch.change import apply
from specttui.launch.edits import Baseline, SetEnv, SetFlag, UnsetEnv
from specttui.launch.overrides import draft_memory_hint, errors, meanings, warnings


def warned(before, *edits, **options):
    return warnings(before, apply(before, edits), **options)


LL = SetEnv("NCCL_PROTO", "LL")


def test_with_tp_1_nccl_settings_are_void():
    assert warned(launch("sglang serve m"), LL) == (
        "With tensor parallelism 1 nothing goes through NCCL: its settings are void",
    )


def test_pipeline_parallelism_uses_nccl():
    assert warned(launch("sglang serve m --pp 2"), LL) == ()


@pytest.mark.parametrize(
    ("sizes", "count"), [("--tp 8", 1), ("--tp 3", 0), ("--tp 8 --disable-custom-all-reduce", 0)]
)
def test_custom_all_reduce_takes_decode_from_nccl(sizes, count):
    found = warned(launch(f"sglang serve m {sizes}"), LL)
    assert len(found) == count
    assert all(text.startswith("Custom all-reduce is on") for text in found)


def test_deterministic_mode_forces_its_own():
    before = launch("sglang serve m --tp 3 --enable-deterministic-inference")
    edits = [SetEnv("NCCL_ALGO", "Ring"), SetEnv("NCCL_MAX_NCHANNELS", "4")]
    forced = "--enable-deterministic-inference forces {}: the change is void"
    assert warned(before, *edits, sglang_version="0.5.12") == (forced.format("NCCL_ALGO"),)
    assert warned(before, *edits, sglang_version="0.5.18") == (
        forced.format("NCCL_ALGO"),
        forced.format("NCCL_MAX_NCHANNELS"),
    )


def test_flags_that_override_variables():
    before = launch("sglang serve m --tp 3 --enable-symm-mem")
    assert warned(before, SetEnv("NCCL_CUMEM_ENABLE", "0"), sglang_version="0.5.12") == (
        "--enable-symm-mem and --enable-nccl-nvls override NCCL_CUMEM_ENABLE",
    )


def test_what_sglang_sets_itself():
    assert warned(launch("sglang serve m"), SetEnv("CUDA_DEVICE_MAX_CONNECTIONS", "1")) == (
        "SGLang sets CUDA_DEVICE_MAX_CONNECTIONS itself: the change is void",
    )


SPEC = "sglang serve m --speculative-algorithm EAGLE"
V2 = SetEnv("SGLANG_ENABLE_SPEC_V2", "0")
SIMULATED = SetEnv("SGLANG_SIMULATE_ACC_LEN", "2")
TIMING_ONLY = "Acceptance is simulated: timing only, the text is meaningless"


@pytest.mark.parametrize(
    ("command", "edit", "version", "expected"),
    [
        (
            SPEC,
            V2,
            "0.5.4",
            (
                "This release knows no SGLANG_ENABLE_SPEC_V2: the change is void; use "
                "--enable-beta-spec (0.5.3 and 0.5.4)"
            ),
        ),
        (SPEC, V2, "0.5.5", None),
        (SPEC, V2, "0.5.12", None),
        (
            SPEC,
            V2,
            "0.5.13",
            "SGLang 0.5.13 has the overlapped worker alone: SGLANG_ENABLE_SPEC_V2=0 only runs it in step",
        ),
        (
            SPEC,
            V2,
            "0.5.14",
            (
                "This release reads SGLANG_ENABLE_SPEC_V2 no more: the change is void; use "
                "--disable-overlap-schedule"
            ),
        ),
        (SPEC, V2, "", None),
        (SPEC, SetEnv("SGLANG_ENABLE_SPEC_V2", "1"), "0.5.13", None),
        ("sglang serve m", V2, "0.5.12", "Without speculation SGLANG_ENABLE_SPEC_V2 has no effect"),
        (
            SPEC,
            SIMULATED,
            "0.5.2",
            "This release knows no SGLANG_SIMULATE_ACC_LEN: the change is void; use SIMULATE_ACC_LEN",
        ),
        (SPEC, SIMULATED, "0.5.3", None),
        (
            SPEC,
            SetEnv("SIMULATE_ACC_LEN", "2"),
            "0.5.3",
            "This release reads SIMULATE_ACC_LEN no more: the change is void; use SGLANG_SIMULATE_ACC_LEN",
        ),
        (SPEC, SetEnv("SIMULATE_ACC_LEN", "2"), "0.5.2", None),
    ],
)
def test_variables_that_a_release_does_not_read(command, edit, version, expected):
    found = warned(launch(command), edit, sglang_version=version)
    assert [text for text in found if text != TIMING_ONLY] == ([expected] if expected else [])


def test_unsetting_what_a_release_does_not_read_is_no_news():
    before = launch(SPEC, SGLANG_ENABLE_SPEC_V2="1")
    assert warned(before, UnsetEnv("SGLANG_ENABLE_SPEC_V2"), sglang_version="0.5.14") == ()


@pytest.mark.parametrize(
    ("version", "expected"),
    [
        ("0.5.4", "SGLang up to 0.5.4 overwrites NCCL_CUMEM_ENABLE"),
        ("0.5.4.post2", "SGLang up to 0.5.4 overwrites NCCL_CUMEM_ENABLE"),
        ("0.5.5", None),
        ("", "If this is SGLang 0.5.4 or older, it overwrites NCCL_CUMEM_ENABLE"),
    ],
)
def test_what_old_releases_overwrite(version, expected):
    found = warned(launch("sglang serve m --tp 3"), SetEnv("NCCL_CUMEM_ENABLE", "1"), sglang_version=version)
    instead = ": use --enable-symm-mem or --enable-nccl-nvls"
    assert found == ((expected + instead,) if expected else ())


def refused(before, *edits):
    return errors(before, apply(before, edits))


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        (
            "NCCL_P2P_LEVEL",
            "sys",
            (
                "NCCL_P2P_LEVEL=sys is ignored without a word: no such level "
                "(write SYS: names are case-sensitive)"
            ),
        ),
        (
            "NCCL_P2P_DISABLE",
            "true",
            "NCCL_P2P_DISABLE=true is read by NCCL as 0: not disabled (write a plain decimal number)",
        ),
        (
            "NCCL_PROTO",
            "FOO",
            (
                "NCCL_PROTO: 'FOO' is unknown: NCCL 2.24 and newer end the start, older ones drop it and "
                "find no protocol (use LL, LL128, Simple)"
            ),
        ),
        (
            "NCCL_MIN_NCHANNELS",
            "8x",
            "NCCL_MIN_NCHANNELS=8x is read by NCCL as 8 (write a plain decimal number)",
        ),
    ],
)
def test_c03_c04_c05_values_that_waste_a_restart_are_refused(name, value, expected):
    before = launch("sglang serve m --tp 3")
    assert refused(before, SetEnv(name, value)) == (expected,)
    assert warned(before, SetEnv(name, value)) == ()


def test_what_the_server_runs_with_already_is_its_own_affair():
    before = launch("sglang serve m --tp 3", NCCL_PROTO="FOO", NCCL_P2P_LEVEL="sys")
    assert refused(before, SetFlag("--page-size", "1")) == ()
    assert warned(before, SetFlag("--page-size", "1")) == ()


def test_a_change_that_contradicts_what_is_set_already():
    before = launch("sglang serve m --tp 3", NCCL_MAX_NCHANNELS="4", NCCL_P2P_DISABLE="1")
    assert warned(before, SetEnv("NCCL_MIN_NCHANNELS", "8"), SetEnv("NCCL_P2P_LEVEL", "PHB")) == (
        "NCCL_MIN_NCHANNELS=8 is above NCCL_MAX_NCHANNELS=4: the maximum caps it",
        "NCCL_P2P_DISABLE=1 makes NCCL_P2P_LEVEL void",
    )


def test_c02_the_meaning_of_a_number_stands_beside_it():
    before = launch("sglang serve m --tp 3", NCCL_BUFFSIZE="4194304")
    after = apply(before, [SetEnv("NCCL_P2P_LEVEL", "4"), SetEnv("NCCL_P2P_DISABLE", "1"), SetEnv("A", "1")])
    assert meanings(before, after) == (
        "NCCL_P2P_DISABLE disabled",
        "NCCL_P2P_LEVEL 4 = SYS: between NUMA nodes",
    )


def test_steps_without_an_algorithm():
    assert warned(launch("sglang serve m"), SetFlag("--speculative-num-steps", "3")) == (
        "Speculative flags without --speculative-algorithm have no effect",
    )


def test_an_unread_config_file_may_undo_a_baseline():
    before = launch("sglang serve m --config /c.yaml --speculative-algorithm EAGLE")
    assert warned(before, Baseline()) == ("/c.yaml may switch speculation on again: it was not read",)
    assert warned(before, Baseline(), config={"port": 1}) == ()


def test_a28_dflash_ignores_steps():
    before = launch("sglang serve m --speculative-algorithm DFLASH")
    assert warned(before, SetFlag("--speculative-num-steps", "5")) == (
        "DFLASH drafts one block: SGLang sets steps and top-k to 1 whatever is asked",
    )


@pytest.mark.parametrize(
    ("extra", "version", "expected"),
    [
        (
            "--attention-backend trtllm_mha",
            "",
            "Attention backend trtllm_mha refuses top-k above 1: the server will not start",
        ),
        (
            "--page-size 16 --attention-backend triton",
            "0.5.12",
            "Top-k above 1 with page size 16 needs flashinfer or fa3",
        ),
        ("--page-size 16 --attention-backend triton", "0.5.13", None),
        ("--page-size 16 --attention-backend fa3", "", None),
    ],
)
def test_trees_and_their_limits(extra, version, expected):
    before = launch(f"sglang serve m --speculative-algorithm EAGLE {extra}")
    found = warned(before, SetFlag("--speculative-eagle-topk", "4"), sglang_version=version)
    assert found == ((expected,) if expected else ())


def test_trees_run_in_the_synchronous_worker_only():
    before = launch("sglang serve m --speculative-algorithm EAGLE", SGLANG_ENABLE_SPEC_V2="1")
    edit = SetFlag("--speculative-eagle-topk", "4")
    assert warned(before, edit, sglang_version="0.5.12") == (
        "Top-k above 1 runs in the synchronous worker (v1) only, up to SGLang 0.5.12",
    )
    assert warned(before, edit, sglang_version="0.5.13") == ()


def test_adaptive_steps_change_by_themselves():
    before = launch("sglang serve m --speculative-algorithm EAGLE --speculative-adaptive")
    assert warned(before, SetFlag("--speculative-num-steps", "3")) == (
        "--speculative-adaptive changes the steps while the server runs",
    )


def test_what_spoils_a_measurement():
    before = launch(f"{SPEC} --disable-cuda-graph")
    assert warned(
        before,
        SetFlag("--tp", "2"),
        SetEnv("SGLANG_SIMULATE_ACC_LEN", "3"),
        SetEnv("CUDA_LAUNCH_BLOCKING", "1"),
    ) == (
        "Another parallelism: the figures are not comparable with earlier runs",
        "Acceptance is simulated: timing only, the text is meaningless",
        "CUDA_LAUNCH_BLOCKING=1 forbids any meaningful throughput",
        "Without CUDA graphs the CPU's launch time is what is measured",
    )
    assert warned(launch(SPEC), SetEnv("SGLANG_SIMULATE_ACC_LEN", "-1")) == ()


@pytest.mark.parametrize(
    ("version", "env", "hint"),
    [
        ("0.5.9", {}, "set SGLANG_ENABLE_SPEC_V2=1: without it this release may load the model twice"),
        ("0.5.9", {"SGLANG_ENABLE_SPEC_V2": "1"}, ""),
        ("0.5.12", {}, ""),
        ("0.4.10", {}, ""),
        ("", {}, ""),
    ],
)
def test_b15_the_switch_that_saves_a_second_model(version, env, hint):
    assert draft_memory_hint(launch("sglang serve m", **env), version) == hint
