"""An inspection in words and as plain data, for `specttui inspect FILE [--json]`."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from specttui.events import FileState
from specttui.probe.inspection import Inspection


def to_dict(inspection: Inspection) -> dict[str, Any]:
    """The inspection as JSON-ready data; `can_patch` says whether `apply` would take the file."""
    marker = asdict(inspection.marker) if inspection.marker is not None else None
    return {
        "path": inspection.path,
        "state": inspection.state.value,
        "reason": inspection.reason,
        "can_patch": inspection.can_patch,
        "family": inspection.family,
        "worker_class": inspection.worker_class,
        "cycle_method": inspection.cycle_method,
        "cycle_module": inspection.cycle_module,
        "found": {phase: asdict(finding) for phase, finding in inspection.found.items()},
        "missing": dict(inspection.missing),
        "candidates": list(inspection.candidates),
        "marker": marker,
        "sha256": inspection.sha256,
        "size": inspection.size,
    }


def describe(inspection: Inspection) -> str:
    """The inspection for a reader, several lines, without a final newline."""
    lines = [inspection.path or "(worker file)", f"  state    {_state(inspection)}"]
    if inspection.worker_class:
        lines.append(f"  worker   {inspection.worker_class} ({inspection.family or 'family unknown'})")
    if inspection.cycle_method:
        lines.append(f"  cycle    {inspection.cycle_method}")
    if inspection.cycle_module:
        lines.append(f"  cycle    in {inspection.cycle_module}: patch that file")
    width = max([len(name) for name in (*inspection.found, *inspection.missing)], default=0)
    for phase, finding in inspection.found.items():
        lines.append(f"  found    {phase:<{width}}  {finding}")
    for phase, reason in inspection.missing.items():
        lines.append(f"  missing  {phase:<{width}}  {reason}")
    if not inspection.worker_class and inspection.state is not FileState.UNKNOWN:
        lines.append("  worker   none that the table knows")
        lines.extend(f"  seen     {candidate}" for candidate in inspection.candidates)
    return "\n".join(lines)


def _state(inspection: Inspection) -> str:
    text = inspection.state.value
    if inspection.reason:
        text += f": {inspection.reason}"
    if inspection.marker is not None:
        marker = inspection.marker
        text += f" (session {marker.session}, {marker.utc}, clock {marker.clock})"
    return text
