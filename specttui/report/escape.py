"""Remote text in markdown: it may hold anything, and must show as what it is and do nothing.

Markdown here is GitHub's (https://github.github.com/gfm/); any ASCII punctuation may be escaped by a
backslash (section 2.4), and inside a table a pipe must be, even within code (section 4.10).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

_ANSI = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[ -/]*[0-~])")
_ALWAYS = re.compile(r"[\\`*\[\]|~$]")
_EDGE_UNDERSCORE = re.compile(r"(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])")
_LINE_START = re.compile(r"^(?:[-+=#>]|\d+(?=[.)](?:\s|$)))")
#: Invisible characters that reorder what follows them, or hide text: they could make a line lie.
_FORMAT = "Cf"
_MARK = "\ufffd"


def clean(text: str) -> str:
    """One line of visible text: terminal sequences go, line breaks become spaces, other controls a mark."""
    text = _ANSI.sub("", text)
    return "".join(_visible(character) for character in text).strip()


def escape(text: str) -> str:
    """Text for a paragraph, list item or table cell."""
    text = clean(text).replace("&", "&amp;").replace("<", "&lt;")
    text = _ALWAYS.sub(lambda found: "\\" + found[0], text)
    text = _EDGE_UNDERSCORE.sub(r"\\_", text)
    return _LINE_START.sub(_escape_start, text)


def sentence(text: str) -> str:
    """Escaped text that ends like a sentence, so that another can follow."""
    text = escape(text)
    return text if not text or text[-1] in ".!?" else f"{text}."


def code(text: str) -> str:
    """Text as a code span for a paragraph or list item; "" stays ""."""
    text = clean(text)
    if not text:
        return ""
    ticks = "`" * (_longest_run(text) + 1)
    pad = " " if text[0] == "`" or text[-1] == "`" else ""
    return f"{ticks}{pad}{text}{pad}{ticks}"


def code_cell(text: str) -> str:
    """Text as a code span for a table cell.

    Text with a pipe is escaped instead: parsers disagree about backslashes before a pipe within code.
    """
    return escape(text) if "|" in text else code(text)


def fence(lines: Iterable[str], language: str = "text") -> str:
    """Lines as a fenced code block; the fence is longer than any run of backticks inside."""
    cleaned = [_clean_keeping_indent(line) for line in lines]
    ticks = "`" * max(3, max((_longest_run(line) for line in cleaned), default=0) + 1)
    return "\n".join([f"{ticks}{language}", *cleaned, ticks])


def _visible(character: str) -> str:
    if character in "\t\n\r\v\f\x85\u2028\u2029":
        return " "
    return _MARK if unicodedata.category(character) in {"Cc", "Cs", _FORMAT} else character


def _escape_start(found: re.Match[str]) -> str:
    return f"{found[0]}\\" if found[0].isdigit() else f"\\{found[0]}"


def _clean_keeping_indent(line: str) -> str:
    indent = len(line) - len(line.lstrip(" "))
    return " " * indent + clean(line)


def _longest_run(text: str) -> int:
    return max((len(run) for run in re.findall("`+", text)), default=0)
