"""The server's words on settings it changed, chose or ignored, in every release."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from specttui.events import AdaptiveSwitch, ArgumentAdjusted
from specttui.log.prefix import Prefixed

_MAX_TEXT = 500
#: The value of num_draft_tokens where the words say only how it follows from the steps.
STEPS_PLUS_ONE = "speculative_num_steps + 1"

_Values = Callable[[re.Match[str]], dict[str, str]]


@dataclass(frozen=True, slots=True)
class _Adjustment:
    pattern: re.Pattern[str]
    values: _Values


def _fixed(**values: str) -> _Values:
    return lambda _: dict(values)


_ADJUSTMENTS = tuple(
    _Adjustment(re.compile(pattern), values)
    for pattern, values in (
        (
            r"speculative_num_draft_tokens is adjusted to speculative_num_steps \+ 1",
            _fixed(speculative_num_draft_tokens=STEPS_PLUS_ONE),
        ),
        (
            r"(?P<name>\w{1,60}) is adjusted to (?P<value>[\w.]{1,60})",
            lambda found: {found["name"]: found["value"].rstrip(".")},
        ),
        (
            r"overriding (?P<name>\w{1,60})=\S{1,60} to (?P<value>[\w.]{1,60})",
            lambda found: {found["name"]: found["value"].rstrip(".")},
        ),
        (
            r"Max running requests is reset to (\d{1,9})",
            lambda found: {"max_running_requests": found[1]},
        ),
        (
            r"max_running_requests was reduced from the requested \d{1,9} to (\d{1,9})",
            lambda found: {"max_running_requests": found[1]},
        ),
        (
            r"[Tt]he overlap scheduler and mixed chunked prefill are disabled",
            _fixed(disable_overlap_schedule="True", enable_mixed_chunk="False"),
        ),
        (r"Overlap scheduler is disabled", _fixed(disable_overlap_schedule="True")),
        (r"Mixed chunked prefill is disabled", _fixed(enable_mixed_chunk="False")),
        (r"Beta spec is enabled", _fixed(disable_overlap_schedule="False")),
        (r"Spec v2 is enabled", _fixed(disable_overlap_schedule="False")),
        (r"Spec v1 is used for", _fixed(disable_overlap_schedule="True")),
        (r"Non-overlap \(synchronous\) spec v2 is used", _fixed(disable_overlap_schedule="True")),
        (r"speculative_adaptive disabled", _fixed(speculative_adaptive="False")),
        (
            r"Attention backend not (?:set|specified)\. Use (\w{1,40}) backend by default",
            lambda found: {"attention_backend": found[1]},
        ),
        (r"DeepSeek MTP does not require setting speculative_draft_model_path", _fixed()),
        (r"Custom all-?reduce is disabled", _fixed(disable_custom_all_reduce="True")),
    )
)
#: A cheap test that most lines fail.
_ANY = re.compile(
    r"adjusted to|overriding \w|[Mm]ax.running.requests (?:is|was) re|overlap scheduler|Overlap scheduler|"
    r"Mixed chunked|Beta spec|Spec v[12]|Non-overlap|speculative_adaptive dis|Attention backend not|"
    r"DeepSeek MTP|Custom all-?reduce is"
)
_SWITCH = re.compile(
    r"Switch adaptive runtime state: steps (\d{1,6}) -> (\d{1,6})(?:, draft_tokens (\d{1,6}) -> (\d{1,6}))?"
)


def adjustment(line: Prefixed) -> ArgumentAdjusted | None:
    """Read a line in which the server says that it runs with other settings than it was asked for.

    Args:
        line: A line taken apart; such lines may come before the first stamp.

    Returns:
        The words and the values read from them, keyed by the server's argument names; None otherwise.
    """
    body = line.body[:_MAX_TEXT]
    if _ANY.search(body) is None:
        return None
    for known in _ADJUSTMENTS:
        found = known.pattern.search(body)
        if found is not None:
            return ArgumentAdjusted(rank=line.rank, stamp=line.stamp, text=body, values=known.values(found))
    return None


def adaptive_switch(line: Prefixed) -> AdaptiveSwitch | None:
    """Read adaptive speculation's line on another step count."""
    found = _SWITCH.match(line.body)
    if found is None:
        return None
    return AdaptiveSwitch(
        rank=line.rank,
        stamp=line.stamp,
        steps_before=int(found[1]),
        steps_after=int(found[2]),
        draft_tokens_before=int(found[3]) if found[3] else None,
        draft_tokens_after=int(found[4]) if found[4] else None,
    )
