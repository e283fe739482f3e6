"""The session as JSON, for programs. The shape is versioned and described in docs/recording.md."""

from __future__ import annotations

import dataclasses
import json
import math
from typing import Any

from pydantic import BaseModel

from specttui.report.facts import ReportInput
from specttui.report.figures import whole_shares
from specttui.report.ranking import rank
from specttui.state.snapshot import RunRow

#: What the document is, in its first key.
REPORT_FORMAT = "specttui-report"
#: Raised whenever a key is removed or changes its meaning; new keys do not raise it.
REPORT_VERSION = 1


def to_json(report: ReportInput) -> str:
    """Write a session as one JSON object.

    Units are in the keys, as in the events; null is "unknown", never zero. The same facts always give the
    same text.

    Args:
        report: The session's facts, from `collect`.
    """
    return json.dumps(_document(report), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _document(report: ReportInput) -> dict[str, Any]:
    ranking = rank(report.snapshot.runs)
    return {
        "format": REPORT_FORMAT,
        "version": REPORT_VERSION,
        "session": {
            "id": report.session_id,
            "target": report.target,
            "mode": report.mode,
            "specttui_version": report.specttui_version,
            "started_at": report.started_at,
            "duration_s": report.duration_s,
            "complete": report.complete,
            "connection_losses": report.connection_losses,
        },
        "verdict": plain(report.snapshot.verdict),
        "fastest_run_ids": [run.run_id for run in ranking.leaders],
        "runs_comparable": ranking.comparable,
        "runs": [_run(run) for run in report.snapshot.runs],
        "loads": plain(report.loads),
        "environment": {
            "server": plain(report.server),
            "gpus": plain(report.snapshot.gpus),
            "found_launch": plain(report.found_launch),
            "last_launch": plain(report.last_launch),
            "arguments": plain(report.arguments),
            "adjustments": plain(report.adjustments),
        },
        "nodes": plain(report.nodes),
        "probe": {
            "clocks": plain(report.clocks),
            "way": report.probe_way,
            "phases_missing": plain(report.phases_missing),
            "self_us": plain(report.snapshot.probe.self_us),
            "timed_share": report.snapshot.probe.timed_share,
            "dropped_cycles": report.snapshot.probe.dropped_cycles,
            "dropped_lines": report.snapshot.probe.dropped_lines,
        },
        "worker_files": [
            {**plain(worker), "restored": worker.ever_patched and worker.is_original}
            for worker in report.workers
        ],
        "commands": plain(report.commands),
        "server_starts": plain(report.start_ups),
        "notes": plain(report.notes),
        "alerts": plain(report.alerts),
        "timeline": plain(report.timeline),
    }


def _run(run: RunRow) -> dict[str, Any]:
    """A run; its shares add up to 1, `other` included, and parts of a phase are beside them."""
    shares = run.phase_share | whole_shares(run)
    return {**plain(run), "phase_share": plain(shares)}


def plain(value: Any) -> Any:  # noqa: ANN401 - any value of the snapshot, as JSON's own types
    """A value of ours as JSON's types: dataclasses and models become objects, unknown figures null."""
    if isinstance(value, BaseModel):
        return plain(value.model_dump())
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, str):
        return str(value).encode("utf-8", "replace").decode()
    return value
