"""Remote text is made harmless before anybody sees it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.logs import shown

from specttui.log.parser import LogParser
from specttui.log.text import MAX_TEXT, clean, for_view, to_text, without_secrets


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        ("plain", "plain"),
        ("\x1b[1;31mred\x1b[0m", "red"),
        ("\x1b[2J\x1b[10;20Hmoved", "moved"),
        ("\x1b]0;a title\x07after", "after"),
        ("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1b]52;c;never ended", ""),
        ("\x1bPdevice\x1b\\after", "after"),
        ("\x9b31mred", "red"),
        ("back\b\b\bspace bell\x07", "backspace bell"),
        ("a\tb", "a    b"),
        ("over\u202eride \u2028line", "override line"),
        ("\ufeffmark", "mark"),
        ("[rank0] [/bold] stays", "[rank0] [/bold] stays"),
        ("\x1b", ""),
    ],
)
def test_clean(raw: str, text: str) -> None:
    assert clean(raw) == text


def test_bad_utf8_is_replaced() -> None:
    assert to_text(b"a\xffb\xc3") == "a\ufffdb\ufffd"


def test_long_lines_are_cut_and_say_so() -> None:
    assert for_view("x" * MAX_TEXT) == "x" * MAX_TEXT
    assert for_view("x" * (MAX_TEXT + 5)) == "x" * MAX_TEXT + " [5 more characters]"


@pytest.mark.parametrize(
    ("line", "hidden"),
    [
        (
            "server_args=ServerArgs(api_key='sk-1', tp_size=1)",
            "server_args=ServerArgs(api_key='***', tp_size=1)",
        ),
        ("server_args={'admin_api_key': 'sk-1', 'x': 1}", "server_args={'admin_api_key': '***', 'x': 1}"),
        ("api_key=None, x", "api_key=None, x"),
        ("api_key=abc x", "api_key='***' x"),
        ("pulling https://me:pa55@host:8080/m", "pulling https://***@host:8080/m"),
        ("GET /v1/models?api_key=abc&x=1", "GET /v1/models?api_key='***'"),
        ("GET /m?access_token=abc&x=1", "GET /m?access_token=***&x=1"),
        ("HF_TOKEN=abc and HF_HOME=/h", "HF_TOKEN=*** and HF_HOME=/h"),
        ("Authorization: Bearer abc.def", "Authorization: Bearer ***"),
        ("python -m x --api-key abc --port 1", "python -m x --api-key *** --port 1"),
        ("--admin-api-key='a b'", "--admin-api-key=***"),
        ("usage: x [--api-key API_KEY] [--port PORT]", "usage: x [--api-key API_KEY] [--port PORT]"),
        ('{"hf_token": "abc"}', "{\"hf_token\": '***'}"),
        ("with hf_abcdefghijklmnop given", "with *** given"),
        (
            "#token: 12, token usage: 0.01, --tokenizer-path /t",
            "#token: 12, token usage: 0.01, --tokenizer-path /t",
        ),
        ("max_total_num_tokens=1234, context_len=8", "max_total_num_tokens=1234, context_len=8"),
        ("http://127.0.0.1:30000", "http://127.0.0.1:30000"),
    ],
)
def test_secrets_are_blanked_out(line: str, hidden: str) -> None:
    assert without_secrets(line) == hidden


def test_secrets_do_not_reach_the_log_view() -> None:
    (line,) = shown(b"[2026-01-01 00:00:00] server_args=ServerArgs(model_path='/m', api_key='sk-123')\n")
    assert line == "[2026-01-01 00:00:00] server_args=ServerArgs(model_path='/m', api_key='***')"


SECRET = "s3cr3t" * 4
SHAPES = (
    f"https://me:{SECRET}@host/m", f"--api-key {SECRET}", f"HF_TOKEN={SECRET}", f"Bearer {SECRET}",
    f"api_key='{SECRET}'", f"hf_{SECRET}", f"sk-{SECRET}", f'"api_key": "{SECRET}"',
)  # fmt: skip
LINES = (
    "[2026-01-01 00:00:00 TP0] {}", "[2026-01-01 00:00:00] server_args=ServerArgs(model_path='/m', x='{}')",
    "ValueError: got {}",
    "[2026-01-01 00:00:00] Scheduler hit an exception: Traceback (most recent call last):",

    "    raise ValueError({})", "sglang serve: error: unrecognized arguments: {}", "RuntimeError: {}", "{}",
    "torch.OutOfMemoryError: {}",
)  # fmt: skip


@given(st.lists(st.tuples(st.sampled_from(LINES), st.sampled_from(SHAPES)), min_size=1, max_size=8))
def test_no_event_of_a_log_holds_a_secret(lines: list[tuple[str, str]]) -> None:
    parser = LogParser()
    data = "".join(line.format(shape) + "\n" for line, shape in lines).encode()
    events = [*parser.feed(data), *parser.flush(), *parser.finish()]
    assert len(events) >= 1
    assert SECRET not in repr(events)
