import pytest
from support.launches import launch

from specttui.launch.change import apply, speculation_edits
from specttui.launch.diff import describe, summary
from specttui.launch.edits import Baseline, RemoveFlag, SetEnv, SetFlag, UnsetEnv
from specttui.launch.settings import spec_settings

STEPS = "--speculative-num-steps"


def described(before, *edits, **options):
    return describe(before, apply(before, edits), **options)


def test_lines_show_environment_then_one_flag_per_line():
    before = launch("numactl -N0 sglang serve m --port 5 --tp 8", NCCL_DEBUG="INFO", HOME="/root")
    diff = described(
        before, SetEnv("NCCL_PROTO", "LL"), SetFlag("--port", "6"), SetFlag("--trust-remote-code")
    )
    assert [(line.op, line.text) for line in diff.lines] == [
        ("keep", "NCCL_DEBUG=INFO"),
        ("add", "NCCL_PROTO=LL"),
        ("keep", "numactl -N0 sglang serve"),
        ("keep", "  m"),
        ("remove", "  --port 5"),
        ("add", "  --port 6"),
        ("keep", "  --tp 8"),
        ("add", "  --trust-remote-code"),
    ]
    assert diff.changes == ("--port 5 -> 6", "--trust-remote-code added", "NCCL_PROTO LL")
    assert (diff.before, diff.after.env["NCCL_PROTO"]) == (before, "LL")


def test_changes_in_the_words_of_the_field():
    diff = described(launch(NCCL_PROTO="LL"), SetFlag(STEPS, "2"), SetEnv("NCCL_PROTO", "Simple"))
    assert diff.changes == ("steps 5 -> 2", "draft tokens 6 -> 3", "NCCL_PROTO LL -> Simple")
    assert diff.notes == ("draft tokens 3: with top-k 1 they are steps + 1",)
    assert diff.label == "steps 2, Simple"


def test_baseline_is_one_sentence():
    diff = described(launch(NCCL_PROTO="LL"), Baseline(), UnsetEnv("NCCL_PROTO"))
    assert diff.changes == ("baseline: speculative flags removed", "NCCL_PROTO unset")
    assert [line.text for line in diff.lines if line.op == "remove"] == [
        "NCCL_PROTO=LL",
        "  --speculative-algorithm EAGLE3",
        "  --speculative-draft-model-path /models/draft",
        "  --speculative-num-steps 5",
        "  --speculative-eagle-topk 1",
        "  --speculative-num-draft-tokens 6",
    ]


def test_speculation_coming_back_is_one_sentence():
    template = launch()
    baseline = apply(template, [Baseline()])
    diff = described(baseline, *speculation_edits(template))
    assert diff.changes == ("speculation: EAGLE3, steps 5, top-k 1, draft tokens 6",)
    assert summary(spec_settings(baseline)) == "none"


def test_another_algorithm_and_removed_flags():
    diff = described(launch(), SetFlag("--speculative-algorithm", "EAGLE"), RemoveFlag("--port"))
    assert diff.changes == ("algorithm EAGLE3 -> EAGLE", "--port removed")


def test_no_change():
    diff = described(launch())
    assert (diff.changes, diff.notes, diff.warnings) == ((), (), ())
    assert {line.op for line in diff.lines} == {"keep"}


def test_secrets_are_neither_in_lines_nor_in_changes():
    before = launch("sglang serve m --api-key hunter2hunter2", HF_TOKEN="hf_x1x1x1x1")
    diff = described(
        before,
        SetFlag("--api-key", "swordfish99"),
        SetEnv("HF_TOKEN", "hf_y2y2y2y2"),
        SetEnv("HF_ENDPOINT", "https://me:pass@mirror"),
    )
    shown = " ".join([*(line.text for line in diff.lines), *diff.changes])
    assert not any(secret in shown for secret in ("hunter2", "swordfish", "hf_x1", "hf_y2", "me:pass"))
    assert diff.changes == ("--api-key *** -> ***", "HF_ENDPOINT https://***@mirror", "HF_TOKEN ***")
    assert diff.after.argv[-1] == "swordfish99"


def test_variables_the_user_changed_are_shown_whatever_their_name():
    diff = described(launch("sglang serve m", HOME="/root"), SetEnv("MY_SETTING", "a b\x1b[2J"))
    assert [line.text for line in diff.lines if line.op == "add"] == [r"MY_SETTING=$'a b\x1b[2J'"]


def test_labels_may_refer_to_the_sessions_first_launch():
    first = launch()
    now = apply(first, [SetFlag("--page-size", "16")])
    assert described(now, SetFlag(STEPS, "2"), base=first).label == "steps 2, page 16"
    assert described(now, SetFlag(STEPS, "2")).label == "steps 2"


def test_a_baseline_that_writes_out_the_config_file():
    before = launch("sglang serve m --config /c.yaml")
    config = {"speculative-algorithm": "EAGLE", "port": 5}
    diff = describe(before, apply(before, [Baseline()], config), config=config)
    assert diff.changes == ("baseline: speculative flags removed", "--config removed")
    assert [(line.op, line.text) for line in diff.lines][2:] == [
        ("remove", "  --config /c.yaml"),
        ("add", "  --port 5"),
    ]
    assert diff.label == "baseline"


OVERWRITES = "overwrites NCCL_NVLS_ENABLE: use --enable-symm-mem or --enable-nccl-nvls"


@pytest.mark.parametrize(
    ("version", "expected"),
    [
        ("0.5.4.post2", (f"SGLang up to 0.5.4 {OVERWRITES}",)),
        ("0.5.12", ()),
        ("", (f"If this is SGLang 0.5.4 or older, it {OVERWRITES}",)),
    ],
)
def test_variables_that_old_releases_overwrite(version, expected):
    before = launch("sglang serve m --tp 8 --disable-custom-all-reduce")
    assert described(before, SetEnv("NCCL_NVLS_ENABLE", "1"), sglang_version=version).warnings == expected
