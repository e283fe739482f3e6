import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.launches import EAGLE3_ARGV, words

from specttui.errors import LaunchError
from specttui.launch.argv import parse


@pytest.mark.parametrize(
    "command",
    [
        EAGLE3_ARGV,
        "python -u -m sglang.launch_server --model-path m --port=1",
        "/venv/bin/python3 -msglang.launch_server --model-path m",
        "numactl --cpunodebind=0 --membind=0 python -m sglang.launch_server --model-path m",
        "/venv/bin/python3 /venv/bin/sglang serve --model-path m",
        "sglang serve org/model --tp 8",
        "python -m sglang.cli.main serve org/model",
        "python -m sglang_router.launch_server --model-path m --dp 2",
        "python -m dynamo.sglang --model-path m",
        "env NCCL_PROTO=LL python3 /src/python/sglang/launch_server.py --model-path m",
        "sglang serve --cuda-graph-bs 1 2 4 --trust-remote-code org/model -- tail",
    ],
)
def test_every_launch_form_is_read_and_rendered_unchanged(command):
    assert parse(command.split()).argv == tuple(command.split())


def test_prefix_ends_where_sglangs_own_flags_begin():
    command = parse(words("numactl --membind=0 python -m sglang.launch_server --port 5"))
    assert command.prefix == ("numactl", "--membind=0", "python", "-m", "sglang.launch_server")
    assert [option.tokens for option in command.options] == [("--port", "5")]


@pytest.mark.parametrize(
    "argv",
    [
        ["bash", "-c", "python -m sglang.launch_server --port 5"],
        ["/bin/sh", "run.sh", "--steps", "3"],
        ["numactl", "-N0", "bash", "-c", "sglang serve m"],
    ],
)
def test_a_shell_line_is_refused(argv):
    with pytest.raises(LaunchError, match="shell line or script"):
        parse(argv)


@pytest.mark.parametrize("argv", [[], ["vllm", "serve", "m"], ["python", "-m", "sglang", "generate"]])
def test_another_program_is_refused(argv):
    with pytest.raises(LaunchError, match="no SGLang server"):
        parse(argv)


@pytest.mark.parametrize("flag", ["--tp", "--tp-size", "--tensor-parallel-size"])
def test_aliases_and_abbreviations_name_one_flag(flag):
    command = parse(["sglang", "serve", flag, "4"])
    assert command.value("--tensor-parallel-size") == "4"
    assert command.value("--tp") == "4"


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("--speculative-algo", "--speculative-algorithm"),
        ("--speculative-draft", "--speculative-draft-model-path"),
        ("--speculative-draft-model", "--speculative-draft-model-path"),
        ("--speculative-num-d", "--speculative-num-draft-tokens"),
        ("--speculative-eagle", "--speculative-eagle-topk"),
        ("--ep", "--expert-parallel-size"),
        ("--pp", "--pipeline-parallel-size"),
        ("--model", "--model-path"),
        ("--nccl-init-addr", "--dist-init-addr"),
    ],
)
def test_known_spellings(written, name):
    assert parse(["sglang", "serve", written, "v"]).value(name) == "v"


def test_an_ambiguous_abbreviation_stays_itself():
    command = parse(["sglang", "serve", "--speculative-n", "3"])
    assert not command.has("--speculative-num-steps")
    assert command.value("--speculative-n") == "3"


def test_last_occurrence_wins():
    command = parse(words("sglang serve --port 1 --port=2 --tp 2 --tensor-parallel-size 4"))
    assert (command.value("--port"), command.value("--tp-size")) == ("2", "4")


def test_setting_keeps_place_and_spelling_and_drops_dead_repetitions():
    command = parse(words("sglang serve --port 1 --tp 2 --port=2 --trust-remote-code"))
    assert command.with_flag("--port", "9").argv == words("sglang serve --tp 2 --port=9 --trust-remote-code")
    assert command.with_flag("--tensor-parallel-size", "8").argv[4:6] == ("--tp", "8")


def test_a_new_flag_goes_to_the_end_but_before_a_double_dash():
    assert parse(words("sglang serve m -- x")).with_flag("--port", "9").argv == words(
        "sglang serve m --port 9 -- x"
    )


def test_removal_takes_all_spellings_and_their_values():
    command = parse(words("sglang serve m --tp 2 --cuda-graph-bs 1 2 4 --tensor-parallel-size=8 --port 1"))
    assert command.removed("--tp-size").removed("--cuda-graph-bs").argv == words("sglang serve m --port 1")


def test_values_that_look_like_numbers_or_flags():
    command = parse(["python", "-m", "sglang.launch_server", "--x", "-1", "--y=-z", "--json", '{"a": -1}'])
    assert [option.value for option in command.options] == ["-1", "-z", '{"a": -1}']
    assert command.with_flag("--x", "--odd").argv[3] == "--x=--odd"


def test_list_flags_take_several_values():
    command = parse(words("sglang serve --cuda-graph-bs 1 2 4 --port 1"))
    assert command.value("--cuda-graph-bs") == "1 2 4"
    assert command.with_flag("--cuda-graph-bs", "8 16").argv[2:5] == ("--cuda-graph-bs", "8", "16")


def test_positional_model_path_is_told_from_values():
    command = parse(words("sglang serve --trust-remote-code org/model --tp 8"))
    assert [option.tokens for option in command.options if not option.name] == [("org/model",)]


def test_a_value_is_required_or_forbidden():
    command = parse(words("sglang serve m"))
    with pytest.raises(LaunchError, match="--port needs a value"):
        command.with_flag("--port", None)
    with pytest.raises(LaunchError, match="--trust-remote-code takes no value"):
        command.with_flag("--trust-remote-code", "yes")


texts = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=12)


@given(
    st.lists(st.one_of(texts, texts.map("--{}".format), st.sampled_from(["--tp", "--", "-1", "--port=3"])))
)
def test_any_arguments_survive_reading(arguments):
    argv = ("python", "-m", "sglang.launch_server", *arguments)
    assert parse(argv).argv == argv


@given(texts)
def test_any_value_arrives_as_it_was_meant(value):
    argv = parse(words("sglang serve m --mystery old --port 1")).with_flag("--mystery", value).argv
    again = parse(argv)
    assert again.value("--port") == "1"
    found = again.find("--mystery")
    assert found is not None
    assert found.values == (value,)
