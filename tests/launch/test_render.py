import shlex

from hypothesis import given
from hypothesis import strategies as st
from support.launches import launch

from specttui.events import Launch
from specttui.launch.render import command_lines, env_lines, quoted


def test_one_flag_per_line():
    assert command_lines(launch("numactl -N0 sglang serve m --tp 8 --cuda-graph-bs 1 2")) == [
        "numactl -N0 sglang serve",
        "  m",
        "  --tp 8",
        "  --cuda-graph-bs 1 2",
    ]


def test_a_command_that_cannot_be_read_is_one_line():
    assert command_lines(Launch(argv=("bash", "-c", "a b\nc"))) == [r"bash -c $'a b\x0ac'"]


def test_environment_lines_are_sorted_and_quoted():
    assert env_lines(launch(NCCL_B="2", NCCL_A="x y", HOME="/")) == ["NCCL_A='x y'", "NCCL_B=2"]


def test_what_we_hid_needs_no_quotes():
    assert (quoted("***"), quoted("--api-key=***"), quoted("a b***")) == ("***", "--api-key=***", "'a b***'")


@given(st.text())
def test_nothing_quoted_can_reach_the_terminal(text):
    assert quoted(text).isprintable()


@given(st.text(st.characters(codec="utf-8", categories=["L", "N", "P", "S"])))
def test_printable_text_is_one_shell_word(text):
    if "***" not in text:
        assert shlex.split(quoted(text)) == [text]
