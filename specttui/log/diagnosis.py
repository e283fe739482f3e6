"""From gathered lines to one failure: category, title, relevant lines, remedy."""

from __future__ import annotations

import re
from collections.abc import Iterable

from specttui.events import FailureSeen
from specttui.log.failure_rules import TRACEBACK_RULES, Rule, matching
from specttui.log.prefix import Prefixed
from specttui.log.remedies import PASSED_REMEDY, PROBE_REMEDY, REMEDIES
from specttui.log.traceback_block import TracebackBlock

#: How many lines an event carries, and how much of each.
MAX_LINES = 12
_MAX_LINE = 500
_MAX_TITLE = 300
#: What a title begins with where our own code raised.
_PROBE_TITLES = {"innermost": "specttui's probe raised: "}
#: A traceback that only says that somebody stopped the server is no failure.
_STOPPED = frozenset({"KeyboardInterrupt", "CancelledError", "SystemExit"})
#: What an out-of-memory error without telling frames is about, by the phase of start-up it fell into.
_OOM_BY_PHASE = {
    "weights": "oom_weights",
    "draft_weights": "oom_draft",
    "kv_cache": "oom_kv",
    "graphs": "oom_graphs",
    "draft_graphs": "oom_graphs",
    "extend_graphs": "oom_graphs",
}
_OOM_TITLES = {rule.category: rule.title for rule in TRACEBACK_RULES if rule.category.startswith("oom_")}
_OOM_FACTS = re.compile(
    r"Tried to allocate (?P<tried>[\d.]{1,12} \w{1,4})\.(?: GPU (?P<gpu>\d{1,4}) has a total capacity of "
    r"(?P<total>[\d.]{1,12} \w{1,4}) of which (?P<free>[\d.]{1,12} \w{1,4}) is free)?"
)


def from_traceback(
    block: TracebackBlock, *, ready: bool, nccl_warnings: Iterable[str]
) -> tuple[FailureSeen, bool] | None:
    """Diagnose a complete traceback.

    Args:
        block: The gathered traceback.
        ready: Whether the server had become ready: then an exception outside its processes' main loops
            does not end it.
        nccl_warnings: NCCL's own warnings before it, which say what Python's exception does not.

    Returns:
        The failure, and whether its kind follows from earlier ones where there are any; None if the
        traceback only shows an interruption.
    """
    if block.exception in _STOPPED or not block.exceptions:
        return None
    found = matching(TRACEBACK_RULES, block.text, block.frame_text)
    category, title, details, fatal = _classify(block, found, ready=ready)
    probe_frame = block.probe_frame
    if probe_frame:
        details["probe_frame"] = probe_frame
    lines = block.relevant_lines(MAX_LINES)
    if category in {"nccl", "oom_nccl"}:
        lines = (*nccl_warnings, *lines)[:MAX_LINES]
    failure = FailureSeen(
        rank=block.rank,
        stamp=block.stamp,
        category=category,
        title=f"{_PROBE_TITLES.get(probe_frame, '')}{title}"[:_MAX_TITLE],
        lines=tuple(line[:_MAX_LINE] for line in lines),
        remedy=_remedy(category, probe_frame),
        fatal=fatal,
        in_probe=bool(probe_frame),
        details=details,
    )
    return failure, found is not None and found[0].consequence


def _remedy(category: str, probe_frame: str) -> str:
    usual = REMEDIES.get(category, REMEDIES["exception"])
    if probe_frame == "innermost":
        return PROBE_REMEDY
    return f"{usual} {PASSED_REMEDY}" if probe_frame else usual


def from_line(rule: Rule, found: re.Match[str], line: Prefixed) -> FailureSeen:
    """Diagnose a failure that one line tells."""
    details = _details(found)
    return FailureSeen(
        rank=line.rank,
        stamp=line.stamp,
        category=rule.category,
        title=_title(rule.title, details)[:_MAX_TITLE],
        lines=(line.body[:_MAX_LINE],),
        remedy=REMEDIES[rule.category],
        fatal=rule.fatal and details.get("soft") != "True",
        details=details,
    )


def _classify(
    block: TracebackBlock, found: tuple[Rule, re.Match[str]] | None, *, ready: bool
) -> tuple[str, str, dict[str, str], bool]:
    details = {"exception": block.exception}
    if block.phase:
        details["phase"] = block.phase
    in_main_loop = "hit an exception" in block.scope or block.scope in _PROCESSES
    in_request = "ASGI" in block.scope
    if found is None:
        category = (
            "scheduler_exception" if in_main_loop else "request_exception" if in_request else "exception"
        )
        return category, _raised(block), details, (in_main_loop or not ready) and not in_request
    rule, match = found
    if rule.category == "scheduler_dead" and ready and not in_main_loop:
        # A client hung up: of a server that serves, its processes' own pipes would say it otherwise.
        return "request_exception", _raised(block), details, False
    category, title = rule.category, rule.title
    if category == "oom" and block.phase in _OOM_BY_PHASE:
        category = _OOM_BY_PHASE[block.phase]
        title = _OOM_TITLES[category]
    details |= _details(match)
    if category.startswith("oom") and (facts := _OOM_FACTS.search(block.text)):
        details |= _details(facts)
    return category, _title(title, details), details, rule.fatal and not in_request


#: Whose main loop a traceback's header may name.
_PROCESSES = frozenset({"Scheduler", "TokenizerManager", "DetokenizerManager", "DataParallelController"})


def _raised(block: TracebackBlock) -> str:
    who = f"The {block.scope.lower()}" if block.scope in _PROCESSES else "The server"
    return f"{who} raised {block.last}"


def _details(found: re.Match[str]) -> dict[str, str]:
    details = {name: value.strip() for name, value in found.groupdict().items() if value is not None}
    if "timeout_ms" in details:
        details["timeout_s"] = f"{int(details.pop('timeout_ms')) / 1000:g}"
    return details


class _Blank(dict[str, str]):
    """Leaves out what a pattern did not find."""

    def __missing__(self, key: str) -> str:
        return ""


def _title(template: str, details: dict[str, str]) -> str:
    return " ".join(template.format_map(_Blank(details)).split()).rstrip(": ")
