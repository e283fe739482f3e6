"""Splitting bytes into lines."""

from __future__ import annotations

import pytest

from specttui.log.glue import unglue
from specttui.log.lines import MAX_LINE_BYTES, LineSplitter


def split(*chunks: bytes) -> list[bytes]:
    splitter = LineSplitter()
    return [line for chunk in chunks for line in splitter.feed(chunk)]


def test_lines_over_chunks() -> None:
    assert split(b"a", b"b\nc", b"d\n", b"\n", b"e") == [b"ab", b"cd", b""]


def test_a_return_ends_a_passing_state() -> None:
    assert split(b"10%\r20%\r30%\n") == [b"10%\r", b"20%\r", b"30%"]


def test_a_return_and_newline_are_one_end_even_across_chunks() -> None:
    assert split(b"a\r\nb\r", b"\nc\n") == [b"a", b"b", b"c"]
    assert split(b"a\r", b"b\n") == [b"a\r", b"b"]


def test_nuls_are_dropped() -> None:
    assert split(b"a\0\0b\0\n", b"\0\0\0", b"c\n") == [b"ab", b"c"]


def test_the_rest_comes_out_at_the_end() -> None:
    splitter = LineSplitter()
    splitter.feed(b"a\nhalf")
    assert splitter.pending_bytes == 4
    assert splitter.finish() == b"half"
    assert splitter.finish() == b""


@pytest.mark.parametrize("chunk", [1000, 65536, 1_000_000])
def test_long_lines_are_cut_alike_in_any_chunks(chunk: int) -> None:
    data = b"x" * 200_000 + b"\nshort\n" + b"y" * MAX_LINE_BYTES + b"\n"
    chunks = [data[start : start + chunk] for start in range(0, len(data), chunk)]
    assert split(*chunks) == [b"x" * MAX_LINE_BYTES, b"short", b"y" * MAX_LINE_BYTES]


STAMPED = "[2026-01-20 02:40:29 DP1 TP1] Load weight end."
PROBE = '[specttui] {"kind":"probe_error","message":"m"}'


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        (STAMPED, [STAMPED]),
        (
            "8%|▊  | 3/36 [00:04<00:43,  1.32s/it]" + STAMPED,
            ["8%|▊  | 3/36 [00:04<00:43,  1.32s/it]", STAMPED],
        ),
        (
            "8%|▊  | 3/36 [00:04<00:43,  1.32it/s] " + STAMPED,
            ["8%|▊  | 3/36 [00:04<00:43,  1.32it/s] ", STAMPED],
        ),
        (STAMPED + STAMPED, [STAMPED, STAMPED]),
        (PROBE + PROBE, [PROBE, PROBE]),
        (STAMPED + PROBE + STAMPED, [STAMPED, PROBE, STAMPED]),
        ("sglang-1  | " + STAMPED, ["sglang-1  | " + STAMPED]),
        ("sglang-1  | " + PROBE, ["sglang-1  | " + PROBE]),
        ("text='[2026-01-20 02:40:29] quoted'", ["text='[2026-01-20 02:40:29] quoted'"]),
        ("a list [2026] of years", ["a list [2026] of years"]),
    ],
)
def test_glued_lines_come_apart(text: str, pieces: list[str]) -> None:
    assert unglue(text) == pieces
