"""Frames: the command's part of an output, whatever surrounds it and however it is cut."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from specttui.host.frame import FrameReader, FrameToken

TOKEN = FrameToken(("aaaa1111", "bbbb2222"))
WORD = b"aaaa1111bbbb2222"
BEGIN = WORD + b":begin:42\n"
END = WORD + b":end:3\n"


def _cut(data: bytes, places: list[int]) -> list[bytes]:
    marks = sorted({0, len(data), *(place % (len(data) + 1) for place in places)})
    return [data[a:b] for a, b in pairwise(marks)]


nearly = st.lists(
    st.one_of(
        st.binary(max_size=20), st.sampled_from([WORD, WORD[:5], WORD + b":end", WORD + b":en", b"\n"])
    ),
    max_size=10,
).map(b"".join)


@given(nearly, nearly, st.binary(max_size=30), st.lists(st.integers(0, 500), max_size=20))
def test_only_what_stands_between_the_markers_comes_through(noise, payload, after, places):
    frame = FrameReader(TOKEN)
    chunks = _cut(noise + BEGIN + payload + END + after, places)
    assert b"".join(frame.feed(chunk) for chunk in chunks) == payload
    assert (frame.pid, frame.end) == (42, "3")


@given(nearly, st.lists(st.integers(0, 500), max_size=20))
def test_an_output_that_breaks_off_gives_all_it_had(payload, places):
    frame = FrameReader(TOKEN)
    chunks = _cut(BEGIN + payload, places)
    assert b"".join(frame.feed(chunk) for chunk in chunks) + frame.rest() == payload
    assert frame.end is None


def test_a_chunk_without_a_marker_is_not_held_back():
    frame = FrameReader(TOKEN)
    frame.feed(BEGIN)
    assert frame.feed(b"line 1\nline 2\n") == b"line 1\nline 2\n"


def test_only_a_possible_beginning_of_the_marker_is_held_back():
    frame = FrameReader(TOKEN)
    frame.feed(BEGIN)
    assert frame.feed(b"text " + WORD[:4]) == b"text "
    assert frame.feed(b"x") == WORD[:4] + b"x"


def test_what_was_printed_instead_of_a_frame_is_kept_short_for_a_message():
    frame = FrameReader(TOKEN)
    frame.feed(b"This account is currently not available.\n")
    assert frame.unframed() == "This account is currently not available."
    assert frame.rest() == b""
    for _ in range(100):
        frame.feed(b"noise " * 1000)
    assert len(frame.unframed()) == 2000


def test_tokens_differ_and_are_never_written_whole_in_a_command():
    first, second = FrameToken(), FrameToken()
    assert first.word != second.word
    assert len(first.word) == 32
    assert first.word == "".join(first.halves).encode()
