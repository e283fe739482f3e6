"""What goes into the worker file: pure functions of source text."""

from __future__ import annotations

from specttui.probe.control import CONTROL_VARIABLE, control_content
from specttui.probe.describe import describe, to_dict
from specttui.probe.finding import Finding
from specttui.probe.import_hook import import_hook_files
from specttui.probe.inspection import Inspection, inspect
from specttui.probe.marker import Marker
from specttui.probe.patch import apply, recover, remove
from specttui.probe.targets import TARGETS, Target, custom_target

__all__ = [
    "CONTROL_VARIABLE", "TARGETS", "Finding", "Inspection", "Marker", "Target", "apply", "control_content",
    "custom_target", "describe", "import_hook_files", "inspect", "recover", "remove", "to_dict",
]  # fmt: skip
