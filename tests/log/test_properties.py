"""Any bytes in any chunking: never an exception, and the same figures however they were cut."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.logs import figures, parse, sample

from specttui.events import Event
from specttui.log.lines import MAX_LINE_BYTES, LineSplitter
from specttui.log.parser import LogParser
from specttui.log.summary import render, summarise
from specttui.log.text import clean

STAMP = b"[2026-04-27 16:06:28 TP0] "
#: Pieces that mean something to the parser; joined at random they make every kind of torn and glued line.
PIECES = [
    b"\n", b"\r", b"\r\n", b"\0", b"\x1b[31m", b"\x1b]0;title\x07", b"\x1b", b"\xff\xfe", b" ",
    b"x" * 70_000, STAMP, b"[2026-04-27 16:06:28.123 DP1 PP0 TP2] ", b"sglang-1  | ", b"[rank5]: ",
    b"Decode batch, #running-req: 1, #token: 4078, accept len: 2.10, gen throughput (token/s): 12.5",
    b"Decode batch [7], #running-req: nan, #token: 1e999, gen throughput (token/s): inf, ",
    b"Prefill batch, #new-seq: 1, #new-token: 128, input throughput (token/s): 924.49",
    b"Capturing batches (bs=1):  50%|##  | 6/12 [00:01<00:02, 4.0it/s]", b"100% Completed | 8/8",
    b"Scheduler hit an exception: Traceback (most recent call last):",
    b"Traceback (most recent call last):", b'  File "/x/sglang/y.py", line 3, in _specttui_cycle',
    b"    code()", b"torch.OutOfMemoryError: CUDA out of memory.",
    b"During handling of the above exception, another", b"usage: sglang serve [-h] [--tp TP]",
    b"sglang serve: error: unrecognized arguments: --tpp 3",
    b"Watchdog timeout (self.watchdog_timeout=300)", b"Received sigquit from a child process.", b"Killed",
    b"server_args=ServerArgs(model_path='/m', api_key='secret', tp_size=2, x=[1, (2, {'a': 3})])",
    b"server_args={'model_path': '/m', 'tp_size': 2", b"Load weight begin. avail mem=1 GB",
    b"Load weight end. elapsed=1 s", b"The server is fired up and ready to roll!",
    b"Switch adaptive runtime state: steps 3 -> 1, draft_tokens 4 -> 2",
    b'INFO:     127.0.0.1:1 - "GET /x HTTP/1.1" 200 OK',
    b'[specttui] {"kind":"probe_cycles","clock":"wall","batch":[1]}',
    b'[specttui] {"kind":"probe_error","message":"m"',
    b"KV cache pool is full. Retract requests. #retracted_reqs: 1, ",
]  # fmt: skip

logs = st.lists(st.one_of(st.sampled_from(PIECES), st.binary(max_size=40)), max_size=40).map(b"".join)
cuts = st.lists(st.integers(min_value=0, max_value=200_000), max_size=12)
slow = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def in_pieces(data: bytes, places: list[int]) -> list[Event]:
    parser = LogParser()
    bounds = sorted({0, len(data), *(place % (len(data) + 1) for place in places)})
    events: list[Event] = []
    for start, end in pairwise(bounds):
        events += parser.feed(data[start:end])
    return events + parser.finish()


@slow
@given(logs, cuts)
def test_figures_do_not_depend_on_the_chunking(data: bytes, places: list[int]) -> None:
    assert figures(in_pieces(data, places)) == figures(parse(data))


@slow
@given(logs.filter(lambda data: len(data) < 3000))
def test_figures_are_the_same_byte_by_byte(data: bytes) -> None:
    assert figures(parse(data, chunk=1)) == figures(parse(data))


@slow
@given(st.binary(max_size=2000), cuts)
def test_any_bytes_are_survived(data: bytes, places: list[int]) -> None:
    assert figures(in_pieces(data, places)) == figures(parse(data))


@slow
@given(logs)
def test_any_log_can_be_summarised(data: bytes) -> None:
    assert render(summarise([data])).endswith("\n")


@slow
@given(logs, cuts)
def test_lines_do_not_depend_on_the_chunking_and_are_bounded(data: bytes, places: list[int]) -> None:
    whole = LineSplitter()
    expected = [*whole.feed(data), whole.finish()]
    splitter = LineSplitter()
    bounds = sorted({0, len(data), *(place % (len(data) + 1) for place in places)})
    found: list[bytes] = []
    for start, end in pairwise(bounds):
        found += splitter.feed(data[start:end])
        assert splitter.pending_bytes <= MAX_LINE_BYTES
    assert [*found, splitter.finish()] == expected
    assert max(map(len, expected)) <= MAX_LINE_BYTES


@given(st.text(max_size=200))
def test_clean_text_cannot_move_a_cursor(text: str) -> None:
    cleaned = clean(text)
    assert not any(ord(char) < 32 or 127 <= ord(char) < 160 for char in cleaned)
    assert clean(cleaned) == cleaned


def test_a_real_log_gives_the_same_figures_in_odd_chunks() -> None:
    data = sample("D_v2_LL")
    expected = figures(parse(data))
    assert len(expected) > 100
    for chunk in (1, 7, 1000, 65536):
        assert figures(parse(data, chunk)) == expected
