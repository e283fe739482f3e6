"""What was asked for against what the server runs with (CASES.md A17, A28)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from specttui.events import ArgumentAdjusted, ServerArguments
from specttui.log.adjustments import STEPS_PLUS_ONE

#: Settings whose effective value matters to a comparison of runs.
COMPARED = (
    "speculative_algorithm",
    "speculative_num_steps",
    "speculative_eagle_topk",
    "speculative_num_draft_tokens",
    "max_running_requests",
    "disable_overlap_schedule",
    "enable_mixed_chunk",
    "disable_custom_all_reduce",
    "attention_backend",
    "page_size",
    "speculative_adaptive",
)
#: NEXTN has always been rewritten to EAGLE.
_SAME_ALGORITHM = {"NEXTN": "EAGLE"}
_LATE = ("was reduced from the requested", "allreduce is disabled", "all-reduce is disabled")
_ALIASES = {"speculative_draft_model": "speculative_draft_model_path", "tp": "tp_size", "dp": "dp_size"}


@dataclass(frozen=True, slots=True)
class SettingDifference:
    """One setting that is not what was asked for; None is "not given". `reason` is the server's words."""

    name: str
    requested: str | None
    effective: str
    reason: str = ""


def argument_name(flag: str) -> str:
    """A flag ("--speculative-num-steps") as the server names the argument ("speculative_num_steps")."""
    name = flag.lstrip("-").replace("-", "_")
    return _ALIASES.get(name, name)


def algorithm_group(algorithm: str | None) -> str | None:
    """The algorithm under the name that groups it with its aliases: NEXTN is EAGLE."""
    if algorithm is None or algorithm in {"", "None"}:
        return None
    return _SAME_ALGORITHM.get(algorithm.upper(), algorithm.upper())


def effective_settings(
    requested: Mapping[str, str],
    adjusted: Iterable[ArgumentAdjusted] = (),
    arguments: ServerArguments | None = None,
) -> dict[str, str]:
    """The settings in force: the request, changed by the server's words, overruled by its own listing.

    Args:
        requested: Flags or argument names to values.
        adjusted: What the server said it changed, in order.
        arguments: Its `server_args` line, which shows most values after they were resolved.

    Returns:
        Argument names to values as text.
    """
    settings = {argument_name(name): value for name, value in requested.items()}
    changes = list(adjusted)
    for change in changes:
        settings.update(change.values)
    if arguments is not None:
        settings.update(arguments.arguments)
        settings.update(_after_the_listing(changes))
    if settings.get("speculative_num_draft_tokens") == STEPS_PLUS_ONE:
        _resolve_draft_tokens(settings)
    return settings


def differences(
    requested: Mapping[str, str],
    adjusted: Iterable[ArgumentAdjusted] = (),
    arguments: ServerArguments | None = None,
) -> tuple[SettingDifference, ...]:
    """Compare the request with what the server runs with.

    Args:
        requested: Flags or argument names to values, as on the command line.
        adjusted: What the server said it changed.
        arguments: Its `server_args` line where it was seen.

    Returns:
        One entry for each compared setting that was given and is not in force, and for each that the
        server says it set by itself.
    """
    changes = list(adjusted)
    asked = {argument_name(name): value for name, value in requested.items()}
    effective = effective_settings(requested, changes, arguments)
    reasons = {name: change.text for change in changes for name in change.values}
    return tuple(
        SettingDifference(name, asked.get(name), effective[name], reasons.get(name, ""))
        for name in COMPARED
        if name in effective
        and (name in asked or name in reasons)
        and not _same(name, asked.get(name), effective[name])
    )


def concurrency_warning(concurrency: int, found: Iterable[SettingDifference]) -> str | None:
    """Say that a load is larger than the server lets run at once, so that runs are not comparable.

    Args:
        concurrency: Requests that the load keeps open.
        found: The differences of the run.

    Returns:
        A sentence, or None if the limit is no hindrance.
    """
    for difference in found:
        if difference.name == "max_running_requests" and difference.effective.isdigit():
            limit = int(difference.effective)
            if concurrency > limit:
                return (
                    f"The load keeps {concurrency} requests open, but with speculation the server runs at "
                    f"most {limit} at once: a run without speculation is not at the same concurrency. "
                    f"Set --max-running-requests on both, or use a concurrency of at most {limit}."
                )
    return None


def _after_the_listing(changes: Iterable[ArgumentAdjusted]) -> dict[str, str]:
    """Changes that come after the listing: of the KV pool's size, and of what the GPUs can do."""
    late = [change for change in changes if any(words in change.text for words in _LATE)]
    return {name: value for change in late for name, value in change.values.items()}


def _resolve_draft_tokens(settings: dict[str, str]) -> None:
    steps = settings.get("speculative_num_steps", "")
    if steps.isdigit():
        settings["speculative_num_draft_tokens"] = str(int(steps) + 1)


def _same(name: str, requested: str | None, effective: str) -> bool:
    if name == "speculative_algorithm":
        return algorithm_group(requested) == algorithm_group(effective)
    return requested is not None and requested.casefold() == effective.casefold()
