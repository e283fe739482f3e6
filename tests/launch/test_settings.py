import pytest
from support.launches import launch

from specttui.errors import LaunchError
from specttui.events import SpecSettings
from specttui.launch import settings
from specttui.launch.settings import Parallelism


def test_everything_a_launch_says():
    asked = launch()
    assert settings.spec_settings(asked) == SpecSettings(
        algorithm="EAGLE3", num_steps=5, eagle_topk=1, num_draft_tokens=6, draft_model_path="/models/draft"
    )
    assert settings.server_port(asked) == 30001
    assert settings.server_host(asked) == "127.0.0.1"
    assert settings.parallelism(asked) == Parallelism(tensor=8, data=1, pipeline=1, expert=1)
    assert settings.model_path(asked) == "/models/K"
    assert settings.config_file(asked) is None


def test_what_is_not_given_is_none_or_the_default():
    asked = launch("sglang serve org/model")
    assert settings.spec_settings(asked) == SpecSettings()
    assert settings.spec_settings(asked).is_baseline
    assert settings.server_port(asked) == 30000
    assert settings.parallelism(asked) == Parallelism(1, 1, 1, 1)
    assert settings.model_path(asked) == "org/model"


def test_a_stray_word_is_no_model_path_outside_sglang_serve():
    assert settings.model_path(launch("python -m sglang.launch_server --trust-remote-code x")) == ""


@pytest.mark.parametrize(
    ("command", "env", "overlap"),
    [
        ("sglang serve m", {}, None),
        ("sglang serve m", {"SGLANG_ENABLE_SPEC_V2": "1"}, True),
        ("sglang serve m", {"SGLANG_ENABLE_SPEC_V2": "False"}, False),
        ("sglang serve m --enable-beta-spec", {}, True),
        ("sglang serve m --disable-overlap-schedule", {"SGLANG_ENABLE_SPEC_V2": "1"}, False),
    ],
)
def test_overlap(command, env, overlap):
    assert settings.spec_settings(launch(command, **env)).overlap is overlap


def test_config_file_gives_values_and_the_command_line_wins():
    asked = launch("python -m sglang.launch_server --config /c.yaml --port 7 --speculative-num-steps 2")
    config = {
        "model-path": "/m",
        "port": 5,
        "tensor_parallel_size": 4,
        "speculative-algorithm": "eagle",
        "speculative-num-steps": 5,
        "cuda-graph-bs": [1, 2],
        "trust-remote-code": True,
        "enable-metrics": False,
        "revision": None,
    }
    assert settings.config_file(asked) == "/c.yaml"
    assert settings.server_port(asked, config) == 7
    assert settings.server_port(asked) == 7
    assert settings.parallelism(asked, config).tensor == 4
    assert settings.model_path(asked, config) == "/m"
    spec = settings.spec_settings(asked, config)
    assert (spec.algorithm, spec.num_steps) == ("EAGLE", 2)
    assert [option.tokens for option in settings.config_options(config)][5:] == [
        ("--cuda-graph-bs", "1", "2"),
        ("--trust-remote-code",),
    ]


def test_config_values_count_only_with_the_flag():
    assert settings.server_port(launch("sglang serve m"), {"port": 5}) == 30000


def test_a_count_that_is_no_number():
    with pytest.raises(LaunchError, match="--port is not a whole number"):
        settings.server_port(launch("sglang serve m --port http"))


def test_a17_draft_tokens_are_forced_with_topk_1():
    asked = SpecSettings(algorithm="EAGLE", num_steps=3, eagle_topk=1, num_draft_tokens=8)
    effective = settings.expected_effective(asked)
    assert effective.num_draft_tokens == 4
    assert settings.changed_settings(asked, effective) == ("draft tokens 8 -> 4",)


def test_b12_steps_4_topk_1_draft_3_is_draft_5():
    asked = SpecSettings(algorithm="NEXTN", num_steps=4, eagle_topk=1, num_draft_tokens=3)
    assert settings.expected_effective(asked).num_draft_tokens == 5


def test_a28_dflash_takes_one_step_whatever_is_asked():
    asked = SpecSettings(algorithm="DFLASH", num_steps=5, eagle_topk=4, num_draft_tokens=16)
    effective = settings.expected_effective(asked)
    assert (effective.num_steps, effective.eagle_topk, effective.num_draft_tokens) == (1, 1, 16)
    assert settings.changed_settings(asked, effective) == ("steps 5 -> 1", "top-k 4 -> 1")


def test_a28_nextn_is_eagle():
    assert settings.grouping_algorithm("NEXTN") == settings.grouping_algorithm("EAGLE") == "EAGLE"
    assert settings.grouping_algorithm("EAGLE3") == "EAGLE3"
    asked = SpecSettings(algorithm="NEXTN")
    assert settings.changed_settings(asked, settings.expected_effective(asked)) == (
        "algorithm NEXTN -> EAGLE",
    )


def test_a_default_filled_in_is_no_change():
    asked = SpecSettings(algorithm="EAGLE")
    effective = SpecSettings(algorithm="EAGLE", num_steps=3, eagle_topk=1, num_draft_tokens=4)
    assert settings.changed_settings(asked, effective) == ()
