"""CASES.md part E as far as the parser sees it: what tailing does to bytes."""

from __future__ import annotations

from support.logs import figures, of, one, parse, shown

from specttui.events import DecodeStats, LogLines, LogNotice, StartupStep
from specttui.log.lines import MAX_LINE_BYTES, LineSplitter
from specttui.log.parser import LogParser

DECODE = (
    b"[2026-04-27 16:06:28 TP0] Decode batch, #running-req: 1, #token: 4078, token usage: 0.00, "
    b"accept len: 2.10, cuda graph: True, gen throughput (token/s): 1234.50, #queue-req: 0\n"
)


def test_e02_nul_holes_are_dropped_in_bounded_memory() -> None:
    parser = LogParser()
    for _ in range(64):
        assert parser.feed(b"\0" * 65536) == []
    assert [event.kind for event in parser.feed(DECODE)] == ["decode"]
    assert of(DecodeStats, DECODE[:60] + b"\0" * 4096 + DECODE[60:])[0].throughput_tok_s == 1234.5


def test_e04_suppressed_lines_are_told() -> None:
    log = (
        b"Apr 27 16:06:28 gpu-host systemd-journald[312]: "
        b"Suppressed 23 messages from /system.slice/sglang.service\n"
    )
    notice = one(LogNotice, log)
    assert (notice.what, notice.detail) == ("suppressed", "23 lines of /system.slice/sglang.service")


def test_e05_a_bad_byte_costs_only_itself() -> None:
    log = DECODE + b"\xe9t\xe9 \xff\n" + DECODE
    assert len(of(DecodeStats, log)) == 2
    assert shown(log)[1] == "\ufffdt\ufffd \ufffd"


def test_e06_a_giant_line_is_cut_and_the_next_one_parsed() -> None:
    giant = b"[2026-04-27 16:06:28 TP0] Decode batch, #running-req: 1, " + b"7, " * 700_000 + DECODE
    log = giant + DECODE
    assert len(of(DecodeStats, log)) == 1
    (first, second) = shown(log)
    assert first.endswith(f"[{MAX_LINE_BYTES - 1000} more characters]")
    assert second == DECODE.decode().strip()


def test_e06_memory_is_bounded_on_an_endless_line() -> None:
    splitter = LineSplitter()
    for _ in range(300):
        assert splitter.feed(b"x" * 10_000) == []
        assert splitter.pending_bytes <= MAX_LINE_BYTES
    assert splitter.feed(b"\nnext\n") == [b"x" * MAX_LINE_BYTES, b"next"]


def test_e07_a_character_split_over_two_packets() -> None:
    parser = LogParser()
    text = "  8%|▊  | 3/36\n".encode()
    cut = text.index("▊".encode()) + 1
    parser.feed(text[:cut])
    parser.feed(text[cut:])
    lines = next(event for event in parser.finish() if isinstance(event, LogLines))
    assert lines.lines == ("  8%|▊  | 3/36",)


def test_e08_carriage_returns_split_and_only_a_bars_last_state_is_shown() -> None:
    log = (
        b"Capturing batches:  10%|#  | 1/10 [00:01<00:09,  1.0s/it]\r"
        b"Capturing batches:  20%|## | 2/10 [00:02<00:08,  1.0s/it]\r"
        b"[2026-04-27 16:06:28 TP1] Load weight end. type=X, avail mem=1.0 GB, mem usage=1.0 GB.\n"
        b"Capturing batches: 100%|###| 10/10 [00:10<00:00,  1.0s/it]\n"
    )
    steps = of(StartupStep, log)
    assert [(step.rank, step.done) for step in steps] == [("", 1), ("", 2), ("TP1", None), ("", 10)]
    assert shown(log) == [
        "[2026-04-27 16:06:28 TP1] Load weight end. type=X, avail mem=1.0 GB, mem usage=1.0 GB.",
        "Capturing batches: 100%|###| 10/10 [00:10<00:00,  1.0s/it]",
    ]


def test_e08_windows_line_ends_are_line_ends() -> None:
    log = DECODE.replace(b"\n", b"\r\n") * 2
    assert len(of(DecodeStats, log)) == 2
    assert shown(log) == [DECODE.decode().strip()] * 2


def test_e09_a_burst_drops_lines_from_the_view_but_no_figures() -> None:
    parser = LogParser(max_lines=500)
    events = parser.feed(DECODE * 900)
    assert len(events) == 900
    (lines,) = parser.flush()
    assert isinstance(lines, LogLines)
    assert (len(lines.lines), lines.dropped) == (500, 400)
    assert parser.flush() == []


def test_e10_an_unterminated_last_line_is_no_value() -> None:
    cut = DECODE[: DECODE.index(b"1234.50") + 2]
    assert figures(parse(cut)) == []
    assert shown(cut) == [cut.decode()]
    assert figures(parse(DECODE[:-1])) == []
