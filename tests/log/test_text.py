"""Remote text is made harmless before anybody sees it."""

from __future__ import annotations

import pytest
from support.logs import shown

from specttui.log.text import MAX_TEXT, clean, for_view, redact, to_text


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
    ],
)
def test_secrets_are_blanked_out(line: str, hidden: str) -> None:
    assert redact(line) == hidden


def test_secrets_do_not_reach_the_log_view() -> None:
    (line,) = shown(b"[2026-01-01 00:00:00] server_args=ServerArgs(model_path='/m', api_key='sk-123')\n")
    assert line == "[2026-01-01 00:00:00] server_args=ServerArgs(model_path='/m', api_key='***')"
