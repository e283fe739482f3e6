"""What arrives at the remote argv is exactly what was meant, through the login shell's line."""

import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.processes import survivors

from specttui.errors import RemoteCommandError
from specttui.host.frame import FrameReader, FrameToken
from specttui.host.shell import MAX_LINE_BYTES, end_argv, quote, run_line, stream_line

no_nul = st.characters(exclude_characters="\0", exclude_categories=["Cs"])
SPEAKING = "' \" \\ \\' ! !! $(id) `id` ${HOME} %s %b \\0101 \\n * ? ~ # ; & | < > = -n -- é 漢 😀"
UNSEEN = ["\n", "\r", "\t", "\x1b]0;x\x07", "\x7f", "\x01"]
hostile = st.sampled_from([*SPEAKING.split(), *UNSEEN])
words = st.one_of(st.text(no_nul, max_size=40), st.lists(hostile, max_size=8).map("".join))


def _run(line: str, shell: str = "/bin/sh", stdin: bytes = b"") -> tuple[FrameReader, bytes, bytes]:
    """Run a line as the login shell would; gives the stdout frame and both framed outputs."""
    token_frame = FrameReader(TOKEN)
    error_frame = FrameReader(TOKEN)
    done = subprocess.run([shell, "-c", line], input=stdin, capture_output=True, check=False, timeout=60)
    return token_frame, token_frame.feed(done.stdout), error_frame.feed(done.stderr)


TOKEN = FrameToken()


@settings(max_examples=150, deadline=None)
@given(st.lists(words, min_size=1, max_size=5))
def test_arguments_arrive_as_they_were_meant(arguments: list[str]):
    frame, output, _ = _run(run_line(["printf", "%s\\0", *arguments], TOKEN))
    assert frame.end == "0"
    assert output == b"".join(word.encode() + b"\0" for word in arguments)


@settings(max_examples=60, deadline=None)
@given(words)
def test_variables_arrive_as_they_were_meant(value: str):
    frame, output, _ = _run(run_line(["printenv", "MEANT"], TOKEN, env={"MEANT": value}))
    assert frame.end == "0"
    assert output == value.encode() + b"\n"


@settings(max_examples=100, deadline=None)
@given(words)
def test_the_line_holds_nothing_that_two_shells_read_differently(word: str):
    line = run_line(["printf", "%s", word], TOKEN)
    payload = line.rpartition(" sh '")[2].removesuffix("'")
    assert line.isascii()
    assert line.isprintable()
    assert not set(payload) & set("'!")
    assert all(escape.startswith("0") and escape[1:4].isdigit() for escape in payload.split("\\")[1:])


def test_bytes_that_are_no_utf8_arrive_as_they_were():
    name = b"/tmp/\xff\xfe name".decode("utf-8", "surrogateescape")
    _, output, _ = _run(run_line(["printf", "%s", name], TOKEN))
    assert output == b"/tmp/\xff\xfe name"


def test_folder_input_outputs_and_status(tmp_path: Path):
    folder = tmp_path / "it's $(a) folder\n"
    folder.mkdir()
    line = run_line(["sh", "-c", "pwd; cat; echo oops >&2; exit 7"], TOKEN, cwd=str(folder))
    frame, output, errors = _run(line, stdin=b"in\x00put")
    assert (frame.end, output, errors) == ("7", f"{folder}\n".encode() + b"in\x00put", b"oops\n")


def test_a_folder_that_is_not_there_is_told_apart_from_a_failing_command(tmp_path: Path):
    frame, output, errors = _run(run_line(["true"], TOKEN, cwd=str(tmp_path / "gone")))
    assert (frame.end, output) == ("cwd", b"")
    assert b"gone" in errors


def test_a_program_is_run_never_a_builtin_of_the_shell():
    frame, _, errors = _run(run_line(["exit", "3"], TOKEN))
    assert frame.end == "127"
    assert b"exit" in errors


def test_a_program_with_an_equals_sign_in_its_name_is_run_with_variables(tmp_path: Path):
    program = tmp_path / "a=b"
    program.write_text('#!/bin/sh\nprintf %s "$X"\n')
    program.chmod(0o755)
    assert _run(run_line([str(program)], TOKEN, env={"X": "y"}))[1] == b"y"


@pytest.mark.parametrize("shell", ["/bin/sh", "bash", "dash"])
def test_a_stream_ends_when_its_input_is_closed_and_takes_children_with_it(shell: str, tmp_path: Path):
    pids = tmp_path / "pids"
    script = f"sleep 1000 & echo $! >{pids}; echo $$ >>{pids}; echo going on; sleep 1000"
    process = subprocess.Popen(
        [shell, "-c", stream_line(["sh", "-c", script], TOKEN)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    frame = FrameReader(TOKEN)
    assert process.stdin is not None
    assert process.stdout is not None
    assert b"".join(frame.feed(process.stdout.readline()) for _ in range(2)) == b"going on\n"
    process.stdin.close()
    process.stdout.read()
    process.wait(30)
    process.stdout.close()
    assert survivors(pids.read_text().split()) == []


def test_a_stream_ends_with_its_command_and_merges_its_outputs():
    line = stream_line(["sh", "-c", "echo a; echo b >&2; exit 5"], TOKEN)
    process = subprocess.Popen(["sh", "-c", line], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdin is not None
    assert process.stdout is not None
    frame = FrameReader(TOKEN)
    assert (frame.feed(process.stdout.read()), frame.end) == (b"a\nb\n", "5")
    process.stdin.close()
    process.stdout.close()
    process.wait(30)


def test_a_process_group_is_ended_also_when_it_ignores_being_asked():
    deaf = subprocess.Popen(
        ["sh", "-c", "trap '' TERM; echo on; while :; do sleep 0.2; done"],
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    assert deaf.stdout is not None
    assert deaf.stdout.readline() == b"on\n"
    subprocess.run(end_argv(deaf.pid), check=True, timeout=60)
    assert deaf.wait(10) == -9
    deaf.stdout.close()


@pytest.mark.parametrize(
    ("argv", "env", "cause"),
    [
        ([], None, "It has no program."),
        ([""], None, "It has no program."),
        (["echo", "a\0b"], None, r"An argument holds a NUL character: 'a\x00b'"),
        (["echo"], {"A=B": "c"}, "'A=B' cannot be the name of a variable."),
        (["echo"], {"": "c"}, "'' cannot be the name of a variable."),
    ],
)
def test_what_cannot_be_a_command_is_refused(argv: list[str], env: dict[str, str] | None, cause: str):
    with pytest.raises(RemoteCommandError) as refused:
        run_line(argv, TOKEN, env=env)
    assert refused.value.cause == cause


def test_a_line_that_no_host_would_take_is_refused():
    with pytest.raises(RemoteCommandError) as refused:
        run_line(["echo", "x" * MAX_LINE_BYTES], TOKEN)
    assert refused.value.title == "A remote command is too long"


def test_quote_is_one_word_for_sh():
    assert quote("it's") == r"'it'\''s'"
    assert quote("") == "''"
