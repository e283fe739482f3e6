"""The simulated server's arguments: resolution and refusals in SGLang's words."""

import pytest

from specttui.demo.simulated.sglang.simulation.loading import Loader
from specttui.demo.simulated.sglang.simulation.settings import Settings
from specttui.demo.simulated.sglang.srt.server_args import prepare_server_args


def messages(caplog):
    return [record.getMessage() for record in caplog.records]


def test_the_overlapped_worker_is_the_default(models, caplog):
    args = models.args(2)
    assert args.disable_overlap_schedule is False
    assert "Spec v2 is enabled by default for eagle/eagle3/standalone speculative decoding." in messages(
        caplog
    )


def test_draft_tokens_follow_steps(models, caplog):
    assert models.args(2, "--speculative-num-draft-tokens", "9").speculative_num_draft_tokens == 3
    assert any("is adjusted to speculative_num_steps + 1" in message for message in messages(caplog))


def test_no_numbers_choose_three_one_four(models):
    args = prepare_server_args(
        [
            "--model",
            str(models.target),
            "--speculative-algo",
            "EAGLE3",
            "--speculative-draft-model",
            str(models.draft),
        ]
    )
    numbers = (args.speculative_num_steps, args.speculative_eagle_topk, args.speculative_num_draft_tokens)
    assert numbers == (3, 1, 4)


def test_the_dump_is_shaped_as_the_real_one(models):
    text = repr(models.args(5))
    assert text.startswith(f"ServerArgs(model_path='{models.target}', tokenizer_path='{models.target}', ")
    assert "speculative_algorithm='EAGLE3', " in text
    assert "tp_size=8, " in text


def test_steps_without_topk_fail_as_in_sglang(models):
    argv = ["--model-path", str(models.target), "--speculative-algorithm", "EAGLE3"]
    argv += ["--speculative-draft-model-path", str(models.draft), "--speculative-num-steps", "3"]
    with pytest.raises(TypeError, match="'>' not supported between instances of 'NoneType' and 'int'"):
        prepare_server_args(argv)


def test_a_missing_draft_fails_as_the_hub_client_does(models):
    with pytest.raises(
        OSError, match="Repo id must be in the form 'repo_name' or 'namespace/repo_name': '/no/where'"
    ):
        models.args(3, "--speculative-draft-model-path", "/no/where")


def test_an_unknown_flag_prints_the_usage_and_exits_with_two(models, capsys):
    with pytest.raises(SystemExit) as raised:
        models.args(0, "--speculative-num-stepz", "3")
    assert raised.value.code == 2
    last = capsys.readouterr().err.splitlines()[-1]
    assert last == "sglang serve: error: unrecognized arguments: --speculative-num-stepz 3"


def test_a_bad_value_exits_with_two(models, capsys):
    with pytest.raises(SystemExit) as raised:
        models.args(0, "--speculative-num-steps", "abc")
    assert raised.value.code == 2
    assert "argument --speculative-num-steps: invalid int value: 'abc'" in capsys.readouterr().err


def test_a_context_beyond_the_models_is_refused(models):
    with pytest.raises(ValueError, match=r"User-specified context_length \(999999\)"):
        models.args(0, "--context-length", "999999")


def test_a_tree_larger_than_its_candidates_is_refused(models):
    with pytest.raises(RuntimeError, match="selected index k out of range"):
        models.args(1, "--speculative-eagle-topk", "2", "--speculative-num-draft-tokens", "9")


@pytest.mark.parametrize(
    ("fraction", "error", "words"),
    [
        ("0.99", "OutOfMemoryError", "CUDA out of memory. Tried to allocate"),
        ("0.05", "RuntimeError", "Not enough memory. Please try to increase --mem-fraction-static."),
    ],
)
def test_memory_fractions_out_of_range_fail_while_loading(models, fraction, error, words):
    loader = Loader(models.args(3, "--mem-fraction-static", fraction), Settings(speed=1e9))

    def load():
        loader.load_target()
        loader.load_draft()

    with pytest.raises(RuntimeError, match=words) as raised:
        load()
    assert type(raised.value).__name__ == error


def test_an_unknown_nccl_protocol_fails_while_loading(models, monkeypatch):
    monkeypatch.setenv("NCCL_PROTO", "FOO")
    with pytest.raises(RuntimeError, match="invalid usage") as raised:
        Loader(models.args(3), Settings(speed=1e9)).load_target()
    kind = type(raised.value)
    assert f"{kind.__module__}.{kind.__name__}" == "torch.distributed.DistBackendError"
