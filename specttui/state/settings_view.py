"""What was asked for beside what the server runs with, from its launch and from its own words in the log."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from specttui.errors import LaunchError
from specttui.events import ArgumentAdjusted, Launch, ServerArguments, SpecSettings
from specttui.launch.argv import parse
from specttui.log.meaning.settings import SettingDifference, differences, effective_settings

#: Argument names in the words of the screen; the first four are those of its chips.
WORDS = {
    "speculative_algorithm": "algorithm",
    "speculative_num_steps": "steps",
    "speculative_eagle_topk": "topk",
    "speculative_num_draft_tokens": "draft",
    "max_running_requests": "max running requests",
    "disable_overlap_schedule": "overlap disabled",
    "enable_mixed_chunk": "mixed chunked prefill",
    "disable_custom_all_reduce": "custom all-reduce disabled",
    "attention_backend": "attention backend",
    "page_size": "page size",
    "speculative_adaptive": "adaptive",
}
#: Only these count when nobody asked for them; else a default that the server filled in is no change.
_UNASKED = {"max_running_requests", "disable_overlap_schedule"}
_OFF = {"None", "False", ""}
_COUNTS = {
    "speculative_num_steps": "num_steps",
    "speculative_eagle_topk": "eagle_topk",
    "speculative_num_draft_tokens": "num_draft_tokens",
}


@dataclass(frozen=True, slots=True)
class SettingsView:
    """`told` holds what the log says is in force; `changed` what differs from the request."""

    told: dict[str, str]
    changed: tuple[SettingDifference, ...]

    @property
    def max_running(self) -> int | None:
        """The most requests that the server runs at once, as far as its log says."""
        text = self.told.get("max_running_requests", "")
        return int(text) if text.isdecimal() else None

    @property
    def interval(self) -> int | None:
        """The decode-log-interval, as far as the log says."""
        text = self.told.get("decode_log_interval", "")
        return int(text) if text.isdecimal() and int(text) else None


def compare(
    launch: Launch | None, adjusted: Iterable[ArgumentAdjusted], arguments: Mapping[str, str]
) -> SettingsView:
    """Compare a launch with what the log says of it.

    Args:
        launch: The launch; without one nothing is known of what was asked for.
        adjusted: The server's words on settings it changed, in order.
        arguments: Its own listing; empty where the log's part that we have does not hold it.
    """
    changes = list(adjusted)
    asked = requested(launch) if launch else {}
    listing = ServerArguments(arguments=dict(arguments)) if arguments else None
    effective = effective_settings(asked, changes, listing)
    names = set(arguments) | {name for change in changes for name in change.values}
    return SettingsView(
        told={name: value for name, value in effective.items() if name in names},
        changed=tuple(
            found for found in differences(asked, changes, listing) if launch and _is_change(found)
        ),
    )


def requested(launch: Launch) -> dict[str, str]:
    """A launch's flags as the server names the arguments; a bare flag is "True"."""
    try:
        options = parse(launch.argv).options
    except LaunchError:
        return {}
    return {option.name: option.value or "True" for option in options if option.name.startswith("--")}


def known_interval(launch: Launch | None) -> int | None:
    """The decode-log-interval that a launch asks for."""
    text = requested(launch).get("--decode-log-interval", "") if launch else ""
    return int(text) if text.isdecimal() and int(text) else None


def overlaid(settings: SpecSettings, told: Mapping[str, str]) -> SpecSettings:
    """Settings as discovery saw them, overruled by what the server's log says."""
    update: dict[str, object] = {
        field: int(told[name]) for name, field in _COUNTS.items() if told.get(name, "").isdecimal()
    }
    if "speculative_algorithm" in told:
        algorithm = told["speculative_algorithm"]
        update["algorithm"] = None if algorithm in _OFF else algorithm.upper()
    if "disable_overlap_schedule" in told:
        update["overlap"] = told["disable_overlap_schedule"] in _OFF
    return settings.model_copy(update=update) if update else settings


def between(asked: SpecSettings, effective: SpecSettings) -> tuple[SettingDifference, ...]:
    """What differs where only discovery tells both; a default that the server filled in does not count."""
    pairs = {name: (getattr(asked, field), getattr(effective, field)) for name, field in _COUNTS.items()}
    return tuple(
        SettingDifference(name, str(one), str(other))
        for name, (one, other) in pairs.items()
        if None not in {one, other} and one != other
    )


def in_words(found: SettingDifference) -> str:
    """A difference for people, with the server's reason where it gave one."""
    word = WORDS.get(found.name, found.name)
    text = f"{word} {found.requested or 'not set'} -> {found.effective}"
    return f"{text}: {found.reason}" if found.reason else text


def _is_change(found: SettingDifference) -> bool:
    if found.requested is not None:
        return True
    return found.name in _UNASKED and found.effective not in _OFF and bool(found.reason)
