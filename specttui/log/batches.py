"""SGLang's "Decode batch" and "Prefill batch" lines, all releases: by key, never by position."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from specttui.events import DecodeStats, PrefillStats
from specttui.log.fields import to_float, to_int
from specttui.log.prefix import Prefixed

_Reader = tuple[str, Callable[[str], int | float | None]]

_DECODE_FIELDS: dict[str, _Reader] = {
    "#running-req": ("running", to_int),
    "#token": ("tokens", to_int),
    "token usage": ("token_usage", to_float),
    "accept len": ("accept_len", to_float),
    "accept rate": ("accept_rate", to_float),
    "gen throughput (token/s)": ("throughput_tok_s", to_float),
    "#queue-req": ("queue", to_int),
}
_PREFILL_FIELDS: dict[str, _Reader] = {
    "#new-seq": ("new_sequences", to_int),
    "#new-token": ("new_tokens", to_int),
    "#cached-token": ("cached_tokens", to_int),
    "token usage": ("token_usage", to_float),
    "#running-req": ("running", to_int),
    "#queue-req": ("queue", to_int),
    "input throughput (token/s)": ("input_throughput_tok_s", to_float),
}
# "Decode batch. #r", "Decode batch, #r", "Decode batch [4160], #r": the number counts forwards.
_HEAD = re.compile(r"(?:Decode|Prefill) batch(?: \[(\d{1,18})\])?[.,] ?")
#: The usages of hybrid models' pools; the fullest one is the usage that matters.
_POOL_USAGES = ("full token usage", "swa token usage")


def decode_stats(line: Prefixed) -> DecodeStats | None:
    """Read a "Decode batch" line.

    Args:
        line: A line whose body begins with "Decode batch".

    Returns:
        What it says, unknown keys in `extra`; None when it holds neither a number of requests nor a
        throughput, so that it is only text.
    """
    values = _values(line.body, _DECODE_FIELDS)
    if values is None or ("running" not in values and "throughput_tok_s" not in values):
        return None
    return DecodeStats(rank=line.rank, stamp=line.stamp, **values)


def prefill_stats(line: Prefixed) -> PrefillStats | None:
    """Read a "Prefill batch" line; as `decode_stats`, for a line that tells of new sequences or tokens."""
    values = _values(line.body, _PREFILL_FIELDS)
    if values is None or ("new_sequences" not in values and "new_tokens" not in values):
        return None
    for decode_only in ("graph", "iteration", "tokens"):
        values.pop(decode_only, None)
    return PrefillStats(rank=line.rank, stamp=line.stamp, **values)


def _values(body: str, fields: dict[str, _Reader]) -> dict[str, Any] | None:
    head = _HEAD.match(body)
    if head is None:
        return None
    values: dict[str, Any] = {}
    extra: dict[str, str] = {}
    for part in body[head.end() :].rstrip(" ,").split(", "):
        key, _, text = part.partition(": ")
        reader = fields.get(key)
        if reader is not None:
            value = reader[1](text)
            if value is None:
                extra[key] = text
            else:
                values[reader[0]] = value
        elif key.endswith(" graph"):
            # 0.5.4 to 0.5.6 say "cpu graph" on every device that is not CUDA: the word before is no fact.
            values["graph"] = text == "True"
        elif text:
            extra[key] = text
    if head[1]:
        values["iteration"] = int(head[1])
    if extra:
        _fill_from_pools(values, extra)
        values["extra"] = extra
    return values


def _fill_from_pools(values: dict[str, Any], extra: dict[str, str]) -> None:
    if "tokens" not in values and "#full token" in extra:
        values["tokens"] = to_int(extra["#full token"])
    if "token_usage" not in values:
        usages = [usage for key in _POOL_USAGES if (usage := to_float(extra.get(key, ""))) is not None]
        if usages:
            values["token_usage"] = max(usages)
