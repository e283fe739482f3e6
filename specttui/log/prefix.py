"""What stands before a log line's message: SGLang's own stamp and rank, and what collectors put before it."""

from __future__ import annotations

import re
from typing import NamedTuple


class Prefixed(NamedTuple):
    """A line taken apart.

    `stamp` is the time as SGLang printed it ("" if none), `rank` the rank label as printed ("TP0",
    "DP1 TP2", or "rank5" from a `[rank5]:` prefix), `body` the message. `stamped` is False for lines that
    did not come through SGLang's logging: prints, tracebacks, progress bars, NCCL.
    """

    stamp: str
    rank: str
    body: str
    stamped: bool


# 2024's "[04:40:55 TP0]", "[2026-02-11 08:00:01.482 DP1 TP2]" and everything between, any order of ranks.
_SGLANG = re.compile(
    r"\[((?:\d{4}-\d\d-\d\d )?\d\d:\d\d:\d\d(?:[.,]\d{1,6})?)((?: [A-Z][A-Z_]{0,15}\d{1,5}){0,8})\] ?"
)
# A logging config's layout, seen in the wild: `2026-04-03 14:57:25.716 INFO 496007 [ TP4 x.py:3475] `.
_CUSTOM = re.compile(
    r"(\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(?:[.,]\d{1,6})?) {1,9}"
    r"(?:DEBUG|INFO|WARNING|ERROR|CRITICAL) {1,9}(?:\d{1,10} {1,9})?"
    r"\[ ?((?:[A-Z][A-Z_]{0,15}\d{1,5} ){0,8}) ?[\w.]{1,100}\.py:\d+\] ?"
)
_RANK = re.compile(r"\[rank(\d{1,6})\]:? ?")
_ISO_STAMP = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?"
_JOURNAL_STAMP = rf"(?:[A-Z][a-z]{{2}} [ \d]\d \d\d:\d\d:\d\d|{_ISO_STAMP}[+-]\d\d:?\d\d)"
_WRAPPERS = tuple(
    re.compile(pattern)
    for pattern in (
        rf"{_JOURNAL_STAMP} [\w.-]{{1,100}} [\w.@/-]{{1,100}}(?:\[\d{{1,10}}\])?: ",  # journald
        rf"{_ISO_STAMP}(?:Z|[+-]\d\d:?\d\d) (?:std(?:out|err) [FP] )?",  # kubectl -t, docker -t, CRI files
        r"\[(?:pod/)?[\w.-]{1,200}(?:/[\w.-]{1,200}){1,2}\] ",  # kubectl --prefix
        r"\((?:[\w.:@ -]{1,100} )?pid=\d{1,10}(?:, ip=[\d.]{1,40})?\) ?",  # Ray
        r"\[\d{1,5},\d{1,5}\]<std(?:out|err)>: ?",  # mpirun
        r"\d{1,5}: (?=\[)",  # srun -l
        r"[^\s|\[][^\s|]{0,200} {1,100}\| ?",  # docker compose
    )
)


def split_prefix(text: str) -> Prefixed:
    """Take a cleaned line apart into stamp, rank and message.

    Args:
        text: One line without control characters.

    Returns:
        The parts; a line without a known prefix is all `body`.
    """
    found = _SGLANG.match(text)
    if found:
        return Prefixed(found[1], found[2].lstrip(), text[found.end() :], stamped=True)
    inner = _strip_wrappers(text)
    found = _SGLANG.match(inner)
    if found:
        return Prefixed(found[1], found[2].lstrip(), inner[found.end() :], stamped=True)
    custom = _CUSTOM.match(inner)
    if custom:
        return Prefixed(custom[1], custom[2].strip(), inner[custom.end() :], stamped=True)
    ranked = _RANK.match(inner)
    if ranked:
        return Prefixed("", f"rank{ranked[1]}", inner[ranked.end() :], stamped=False)
    return Prefixed("", "", inner, stamped=False)


def _strip_wrappers(text: str) -> str:
    # Collectors nest (journald around docker compose), but not deeply.
    for _ in range(3):
        for wrapper in _WRAPPERS:
            found = wrapper.match(text)
            if found:
                text = text[found.end() :]
                break
        else:
            return text
    return text
