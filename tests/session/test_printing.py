"""Nothing that a host says can act on the user's terminal."""

from __future__ import annotations

import io
import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from specttui.host.prompts import HostKeyQuestion, SecretQuestion
from specttui.session.console import ConsolePrompter
from specttui.session.printing import plain, say

HOSTILE = (
    "\x1b]0;owned\x07", "\x1b]52;c;aGk=\x07", "\x1b[2J", "\x1b[10;10H", "\x1bc", "\x9b31m", "\x90q\x9c", "\r",
    "\b", "\x07", "\x7f", "\u202e", "\ufeff", "\ud800",
)  # fmt: skip


def _acts(character: str) -> bool:
    """Whether a terminal may act upon it: controls (Cc), formats such as overrides (Cf), surrogates (Cs)."""
    return unicodedata.category(character) in {"Cc", "Cs"} or character in "\u202e\ufeff\u2028\u2029"


@given(st.lists(st.text() | st.sampled_from(HOSTILE), max_size=8).map("".join))
def test_nothing_is_left_that_a_terminal_acts_upon(text: str) -> None:
    assert [character for character in plain(text).replace("\n", "") if _acts(character)] == []


def test_sequences_are_gone_with_all_they_say() -> None:
    assert plain("a\x1b]0;owned\x07b\x1b]52;c;aGk=\x07c\x1b[2Jd\x9b31me") == "abcde"


def test_words_stay_as_they_are() -> None:
    assert plain("GPU 0\n  é 漢 ▇\n") == "GPU 0\n  é 漢 ▇\n"


def test_a_terminal_that_cannot_show_a_character_gets_a_question_mark() -> None:
    stream = io.TextIOWrapper(io.BytesIO(), encoding="ascii", newline="")
    say("é\x1b[31m", stream=stream)
    assert stream.buffer.getvalue() == b"?\n"  # type: ignore[attr-defined]


async def test_questions_of_a_host_are_plain_too(monkeypatch, capsys) -> None:
    asked: list[str] = []
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    monkeypatch.setattr("builtins.input", lambda prompt: asked.append(prompt) or "yes")
    monkeypatch.setattr("getpass.getpass", lambda prompt: asked.append(prompt) or "secret")
    prompter = ConsolePrompter()
    question = SecretQuestion("Log in \x1b]0;owned\x07as", "Pass\x1b[2Jword:")
    assert await prompter.ask_secret(question) == "secret"
    assert await prompter.confirm_host_key(
        HostKeyQuestion("h\x1b[2J", 22, "ssh-\x07rsa", "SHA256:\x9b1m", "/k")
    )
    assert asked[0] == "Log in as: Password: "
    assert "\x1b" not in capsys.readouterr().err
