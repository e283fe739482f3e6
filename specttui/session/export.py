"""From a recording to a report: reads the events, folds them, renders."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Literal

from specttui.errors import RecordingError
from specttui.report.collect import collect
from specttui.report.facts import ReportInput
from specttui.report.markdown import markdown
from specttui.report.spreadsheet import to_csv
from specttui.report.structured import to_json
from specttui.report.trace import to_trace
from specttui.session.folders import EVENTS_NAME, SessionFolder
from specttui.session.recording import read
from specttui.state.build import SnapshotBuilder
from specttui.state.node_states import NodeStates
from specttui.state.node_view import snapshot_of

Format = Literal["markdown", "json", "csv", "trace"]

_RENDERERS: dict[str, Callable[[ReportInput], str]] = {
    "markdown": markdown,
    "json": to_json,
    "csv": to_csv,
}


def fold(recording: Path) -> NodeStates:
    """The states at the end of a recording."""
    states = NodeStates()
    for envelope in read(recording):
        states.apply(envelope)
    return states


def render(folder: Path, format: Format = "markdown") -> str:  # noqa: A002 - the word users know
    """A session's report as text.

    Args:
        folder: The session's folder.
        format: markdown, json, csv (the runs), or trace (Chrome/Perfetto).

    Raises:
        RecordingError: The folder holds no readable recording.
    """
    recording = folder / EVENTS_NAME
    if format == "trace":
        return to_trace(read(recording))
    states = fold(recording)
    snapshot = snapshot_of(SnapshotBuilder(), states, states.offset_s)
    return _RENDERERS[format](collect(read(recording), snapshot))


def write_report(folder: Path, path: Path | None = None) -> Path:
    """Write a session's markdown report; returns where.

    Args:
        folder: The session's folder.
        path: The file; by default `report.md` in the session's folder, for its user alone (mode 0600).

    Raises:
        RecordingError: It cannot be written there.
    """
    target = (path or SessionFolder(folder).report_path).expanduser()
    text = render(folder)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        if path is None:
            target.touch(mode=0o600)
        target.write_text(text, encoding="utf-8")
    except OSError as error:
        raise RecordingError(
            f"The report cannot be written to {target}",
            cause=str(error),
            remedy="Choose another path, or make room on the disk.",
        ) from error
    return target
