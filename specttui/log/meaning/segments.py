"""Adaptive speculation cuts a run into segments that must not be averaged together (CASES.md A18)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from specttui.events import AdaptiveSwitch, DecodeStats, Event


@dataclass(frozen=True, slots=True)
class Segment:
    """Decode lines under one step count; None where the log does not say it."""

    steps: int | None
    draft_tokens: int | None
    lines: tuple[DecodeStats, ...]


def segments(
    events: Iterable[Event], steps: int | None = None, draft_tokens: int | None = None
) -> tuple[Segment, ...]:
    """Split decode lines at every adaptive switch.

    Args:
        events: Events of one run, in order; all but decode lines and switches are passed over.
        steps: The step count at the start, where it is known; else the first switch tells it.
        draft_tokens: The draft tokens at the start.

    Returns:
        One segment per step count that was in force, also where it saw no line. Several ranks that
        announce one switch make one.
    """
    found: list[Segment] = []
    lines: list[DecodeStats] = []
    for event in events:
        if isinstance(event, DecodeStats):
            lines.append(event)
        elif isinstance(event, AdaptiveSwitch) and (steps is None or event.steps_after != steps):
            before = event.steps_before if steps is None else steps
            tokens = draft_tokens if draft_tokens is not None else event.draft_tokens_before
            found.append(Segment(before, tokens, tuple(lines)))
            steps, draft_tokens, lines = event.steps_after, event.draft_tokens_after, []
    found.append(Segment(steps, draft_tokens, tuple(lines)))
    return tuple(found)
