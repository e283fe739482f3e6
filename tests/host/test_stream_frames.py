"""Frames survive any cut and any noise."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from specttui.host.stream_frames import Frame, FrameReader

MARK = "0123456789abcdef"


def frame(kind: str, data: bytes = b"", **fields: object) -> bytes:
    return f"{MARK} {json.dumps(dict(fields, kind=kind, length=len(data)))}\n".encode() + data


@given(st.lists(st.binary(max_size=200), max_size=5), st.integers(min_value=1, max_value=50))
def test_any_cut(pieces: list[bytes], size: int) -> None:
    stream = b"motd\n" + b"".join(frame("data", piece, n=number) for number, piece in enumerate(pieces))
    reader = FrameReader(MARK)
    found = [one for at in range(0, len(stream), size) for one in reader.feed(stream[at : at + size])]
    assert found == [
        Frame("data", {"n": number, "length": len(piece)}, piece) for number, piece in enumerate(pieces)
    ]
    assert reader.noise == b"motd\n"


def test_noise_without_a_newline_before_a_header() -> None:
    reader = FrameReader(MARK)
    assert [one.data for one in reader.feed(b"prompt$ " + frame("data", b"x"))] == [b"x"]


def test_endless_noise_stays_bounded() -> None:
    reader = FrameReader(MARK)
    for _ in range(100):
        assert list(reader.feed(b"z" * 10_000)) == []
    assert next(reader.feed(b"\n" + frame("alive"))).kind == "alive"
    assert len(reader.noise) <= 4096
