"""The parser as a whole: what goes to the view, what is counted, what is explained."""

from __future__ import annotations

from support.logs import of, one, parse, shown

from specttui.events import DecodeStats, HttpSeen, LogLines, LogNotice
from specttui.log.parser import FLOOD_LINES, LogParser

PLAIN = "Decode batch, #running-req: 1, #token: 9, gen throughput (token/s): 9.5, #queue-req: 0"


def test_figures_come_at_once_and_lines_with_the_flush() -> None:
    parser = LogParser()
    (decode,) = parser.feed(f"[2026-01-01 00:00:00] {PLAIN}\nwords\n".encode())
    assert isinstance(decode, DecodeStats)
    assert parser.flush() == [LogLines(lines=(f"[2026-01-01 00:00:00] {PLAIN}", "words"))]
    assert parser.flush() == []
    assert parser.finish() == []


def test_a_custom_layout_that_hides_figures_is_explained_once() -> None:
    line = f'{{"level": "info", "message": "{PLAIN}"}}\n'
    assert of(DecodeStats, line * 3) == []
    assert one(LogNotice, line * 3).what == "custom_log_format"
    assert shown(line.encode()) == [line.strip()]


def test_a_known_custom_layout_is_read() -> None:
    decode = one(DecodeStats, f"2026-04-03 14:57:25.716 INFO 496007 [ TP4 scheduler.py:3475] {PLAIN}\n")
    assert (decode.rank, decode.stamp, decode.throughput_tok_s) == ("TP4", "2026-04-03 14:57:25.716", 9.5)


def test_users_texts_are_never_figures() -> None:
    log = f"[2026-01-01 00:00:00] Receive: obj=GenerateReqInput(text='{PLAIN}')\n"
    assert [event.kind for event in parse(log.encode())] == ["lines"]


def test_all_kinds_of_access_lines() -> None:
    log = (
        '[2026-01-01 00:00:00] INFO:     127.0.0.1:1 - "GET /x HTTP/1.1" 200 OK\n'
        'INFO:     127.0.0.1:1 - "GET /x HTTP/1.1" 200 OK\n'
        'sglang-1  | [2026-01-01 00:00:00] INFO:     [::1]:40052 - "GET /a[0] HTTP/1.1" 200 OK\n'
        '\x1b[32mINFO\x1b[0m:     127.0.0.1:1 - "\x1b[1mGET /x HTTP/1.1\x1b[0m" \x1b[32m302 Found\x1b[0m\n'
        '[2026-01-01 00:00:00] INFO:     127.0.0.1:1 - "POST /x HTTP/1.1" 422 Unprocessable Entity\n'
        '[2026-01-01 00:00:00] INFO:     127.0.0.1:1 - "POST /x HTTP/2" 500 Internal Server Error\n'
    )
    http = one(HttpSeen, log)
    assert (http.ok, http.client_errors, http.server_errors) == (4, 1, 1)
    assert shown(log.encode()) == []


def test_bars_repaint_the_same_count_without_new_events() -> None:
    log = (
        "[2026-01-01 00:00:00] Capture cuda graph begin.\n"
        "Capturing (bs=16):   8%|▊ | 1/12 [00:00<00:02, 4.9it/s]\r"
        "Capturing (bs=14):   8%|▊ | 1/12 [00:00<00:02, 4.9it/s]\r"
        "Capturing (bs=12):  17%|█ | 2/12 [00:00<00:02, 4.9it/s]\n"
    )
    assert [event.done for event in parse(log.encode()) if event.kind == "startup" and event.done] == [1, 2]


def test_figures_that_are_none_stay_text() -> None:
    line = one(
        DecodeStats,
        "Decode batch, #running-req: 1, #token: x, accept len: nan, gen throughput (token/s): inf\n",
    )
    assert (line.tokens, line.accept_len, line.throughput_tok_s) == (None, None, None)
    assert line.extra == {"#token": "x", "accept len": "nan", "gen throughput (token/s)": "inf"}
    assert of(DecodeStats, "Decode batch, nothing known: 1\n") == []
    huge = one(DecodeStats, f"Decode batch, #running-req: 1, #token: {'9' * 5000}\n")
    assert huge.tokens is None


def test_of_a_flood_only_its_end_is_shown() -> None:
    parser = LogParser()
    parser.feed(b"".join(b"line %d\n" % number for number in range(FLOOD_LINES)))
    (shown,) = parser.flush()
    assert isinstance(shown, LogLines)
    assert (len(shown.lines), shown.dropped) == (500, 500)
    parser.feed(b"".join(b"line %d\n" % number for number in range(FLOOD_LINES + 1)))
    (flood,) = parser.flush()
    assert isinstance(flood, LogLines)
    assert flood.lines == tuple(f"line {number}" for number in range(951, 1001))
    assert flood.dropped == 951
