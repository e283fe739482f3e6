"""Bytes of a remote log as text that is safe to show: nothing in it can move a cursor or change a colour."""

from __future__ import annotations

import re

from specttui.launch.redact import is_secret_flag, is_secret_variable
from specttui.launch.secret_shapes import HIDDEN, hide_shapes

#: How much of a line is kept for the log view, in characters.
MAX_TEXT = 1000

_ESCAPES = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]?"  # CSI: colours, cursor movements
    r"|(?:\x1b\]|\x9d)[^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)?"  # OSC: titles, links, clipboard
    r"|(?:\x1b[PX^_]|[\x90\x98\x9e\x9f])[^\x1b\x9c]*(?:\x1b\\|\x9c)?"  # DCS, SOS, PM, APC
    r"|\x1b[ -/]*[0-~]?"  # two-byte escapes and a lone ESC
)
#: C0 and C1 controls, line separators, bidirectional overrides, lone surrogates and the byte order mark.
_CONTROLS = re.compile(
    "[\x00-\x08\x0a-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff]"
)
_SECRET = re.compile(
    r"(?P<key>['\"]?\b(?:(?:admin_)?api_key|hf_token|ssl_keyfile_password|\w+_secret|\w+_password)['\"]?\s*[=:]\s*)"
    r"(?:'[^']*'|\"[^\"]*\"|(?!None\b)[^\s,)}]+)"
)
#: A variable or flag with its value; not the name that a usage text has in the value's place.
_VARIABLE = re.compile(r"\b(?P<name>[A-Z][A-Z0-9_]+)=(?:'[^']*'|\"[^\"]*\"|[^\s,;)}'\"]+)")
_FLAG = re.compile(
    r"(?P<before>(?P<name>--[\w-]+)(?:=|\s+))(?![A-Z_]+\])(?!-)(?:'[^']*'|\"[^\"]*\"|[^\s,;)}'\"]+)"
)
#: One of these stands in or before every secret that can be told by its looks. Most lines hold none of them,
#: and a look for a few fixed words is all that they cost.
_MARKS = ("://", "-key", "-token", "secret", "SECRET", "assw", "ASSW", "earer ", "sk-", "AKIA")
_MARKS_WITH = {
    "_": ("_key", "_KEY", "_token", "_TOKEN", "hf_", "ghp_", "gho_", "ghu_", "ghs_", "ghr_"),
    "'": ("key'", "token'"),
    '"': ('key"', 'token"'),
}


def clean(text: str) -> str:
    """Remove escape sequences and control characters; a tab becomes four spaces.

    Args:
        text: Any text, for instance a decoded log line without its line end.

    Returns:
        The text with nothing in it that a terminal would act upon.
    """
    if text.isprintable():
        return text
    return _CONTROLS.sub("", _ESCAPES.sub("", text)).replace("\t", "    ")


def to_text(line: bytes) -> str:
    """Decode one line of a log for anybody to see.

    Bad UTF-8 is replaced; everything a terminal would act upon, and every secret that can be told, is gone.
    """
    return without_secrets(clean(line.decode("utf-8", "replace")))


def safe_lines(text: str) -> list[str]:
    """The lines of a remote text for anybody to see: nothing acts on a terminal, no secret can be told."""
    return [without_secrets(clean(line)) for line in text.splitlines()]


def for_view(text: str) -> str:
    """Cut a line to what the log view keeps."""
    more = len(text) - MAX_TEXT
    return f"{text[:MAX_TEXT]} [{more} more characters]" if more > 0 else text


def without_secrets(text: str) -> str:
    """Blank out what is a secret by its name or shape: API keys, tokens, passwords in URLs."""
    if not _may_hold_a_secret(text):
        return text
    text = _SECRET.sub(rf"\g<key>'{HIDDEN}'", text)
    text = _VARIABLE.sub(_hide_variable, text)
    return hide_shapes(_FLAG.sub(_hide_flag, text))


def _may_hold_a_secret(text: str) -> bool:
    for mark in _MARKS:  # a loop: `any` over a generator takes longer than the looks themselves
        if mark in text:
            return True
    return any(
        mark in text for character, marks in _MARKS_WITH.items() if character in text for mark in marks
    )


def _hide_variable(found: re.Match[str]) -> str:
    return f"{found['name']}={HIDDEN}" if is_secret_variable(found["name"]) else found[0]


def _hide_flag(found: re.Match[str]) -> str:
    return f"{found['before']}{HIDDEN}" if is_secret_flag(found["name"]) else found[0]
