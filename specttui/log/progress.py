"""Progress bars (tqdm) of start-up: weights, graph capture, kernel warm-up."""

from __future__ import annotations

import re

from specttui.events import StartupStep
from specttui.log.phases import StartupPosition

_BAR = re.compile(
    r"\d{1,3}%(?: Completed)? ?\|(?:[^|]{0,200}\|)? *(\d{1,9})/(\d{1,9})"
    r"(?: \[([\d:]{4,12}|\?)<([\d:]{4,12}|\?))?"
)


def is_bar(text: str) -> bool:
    """True if the text holds a progress bar with a count."""
    return "|" in text and "%" in text and _BAR.search(text) is not None


def progress(text: str, position: StartupPosition) -> StartupStep | None:
    """Read a progress bar.

    Args:
        text: The line without its prefix.
        position: Where the start-up is: bars carry no rank and most no phase.

    Returns:
        The step with items done, of how many, elapsed and remaining seconds; None if there is no bar in
        the text, or once the server is ready (then the bar is somebody else's).
    """
    found = _BAR.search(text) if "%" in text and not position.ready else None
    if found is None:
        return None
    label = text[: found.start()].rstrip(": ")
    return StartupStep(
        phase=_phase(label, position),
        edge="progress",
        detail=label[-200:],
        done=int(found[1]),
        total=int(found[2]),
        elapsed_s=_seconds(found[3]),
        eta_s=_seconds(found[4]),
    )


def _phase(label: str, position: StartupPosition) -> str:
    phase = position.phase() or "init"
    if "shards" in label or "weights" in label:
        return "draft_weights" if phase == "draft_weights" else "weights"
    if "Capturing" in label:
        return phase if phase.endswith("graphs") else "graphs"
    return phase


def _seconds(clock: str | None) -> float | None:
    """Seconds of tqdm's "MM:SS" or "H:MM:SS"."""
    if not clock or not all(part.isdigit() for part in clock.split(":")):
        return None
    seconds = 0
    for part in clock.split(":"):
        seconds = seconds * 60 + int(part)
    return float(seconds)
