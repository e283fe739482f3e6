"""Bytes of a remote log as text that is safe to show: nothing in it can move a cursor or change a colour."""

from __future__ import annotations

import re

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
    """Decode one line of a log: bad UTF-8 is replaced, everything a terminal would act upon removed."""
    return clean(line.decode("utf-8", "replace"))


def for_view(text: str) -> str:
    """Cut a cleaned line to what the log view keeps, with API keys and passwords blanked out."""
    more = len(text) - MAX_TEXT
    if more > 0:
        text = text[:MAX_TEXT]
    if "server_args" in text or "api_key" in text:
        text = redact(text)
    return f"{text} [{more} more characters]" if more > 0 else text


def redact(text: str) -> str:
    """Blank out the values of secret server arguments in a line of text."""
    return _SECRET.sub(r"\g<key>'***'", text)
