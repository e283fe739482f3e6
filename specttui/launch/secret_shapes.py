"""Secrets that can be told in any text by their own shape or by what stands before them."""

from __future__ import annotations

import re

#: What stands in a secret's place.
HIDDEN = "***"

_URL_PASSWORD = re.compile(r"(?<=://)[^/\s:@]*:[^/\s]*@|(?<=://)[^/\s:@]+@")
_URL_PARAMETER = re.compile(
    r"([?&](?:[\w-]*(?:token|key|secret|password|signature)))=[^&\s#\"']+", re.IGNORECASE
)
_JSON_MEMBER = re.compile(
    r"""(["'][\w-]*(?:api_?key|token|secret|password|passwd|credential)["']\s*:\s*)(["'])(?:(?!\2).)*\2""",
    re.IGNORECASE,
)
_BEARER = re.compile(r"(Bearer\s+)[^\s\"']+", re.IGNORECASE)
_TOKENS = re.compile(
    r"\b(?:hf_[A-Za-z0-9]{16,}|sk-[A-Za-z0-9_-]{16,}|gh[pousr]_[A-Za-z0-9]{20,}|AKIA[A-Z0-9]{16})"
)


def hide_shapes(text: str) -> str:
    """A text without passwords in URLs, secret parameters and members, bearer and well-known tokens."""
    text = _URL_PASSWORD.sub(f"{HIDDEN}@", text)
    text = _URL_PARAMETER.sub(rf"\1={HIDDEN}", text)
    text = _JSON_MEMBER.sub(rf"\1\2{HIDDEN}\2", text)
    text = _BEARER.sub(rf"\1{HIDDEN}", text)
    return _TOKENS.sub(HIDDEN, text)
